import { SpillwayError, shown } from '../job/errors.js'
import { isMoment } from '../job/moment.js'
import { isJobState, JOB_STATES } from '../job/states.js'
import type { Acted, Archiving, ColdFilter, ColdJob, ColdMonth, Pruned, Store } from '../store/store.js'
import { type ActOptions, actOf, checkJobId, isJobId } from './act.js'
import { SEED_REASONS } from './filters.js'
import { Listing, type ListOptions } from './listing.js'
import { toWire } from './wire.js'

const EXPORT_PAGE = 50
const TEXTS: ReadonlySet<string> = new Set(['queue', 'kind', 'state', 'tag', 'cause', 'reason', 'error'])
const TIMES: ReadonlySet<string> = new Set(['since', 'until'])

/**
 * The cold archive: whole snapshots of jobs that outlived their retention, of queues with `coldArchive`. For audits: no
 * list or lookup of jobs shows them, and no worker gets them, but for a dead one that is restored.
 */
export class Archive {
  constructor(
    private readonly store: Pick<Store, keyof Archiving>,
    private readonly actor: string,
  ) {}

  /**
   * Archived jobs that match, newest first, without payload and history. `await` gives one page, `for await` all of
   * them. `since` and `until` are about when a job went to the archive.
   *
   * @throws `invalid_option` for an unknown key, an unknown state or an empty text.
   */
  list(filter: ColdFilter = {}, options: ListOptions = {}): Listing<ColdJob> {
    const checked = checkColdFilter(filter)
    return new Listing((page) => this.store.listCold(checked, page), options)
  }

  /**
   * The same by what an error said: `text` is looked for in class and message. A page looks at 10,000 rows at most; it
   * may then be short, says `partial`, and its cursor goes on.
   */
  search(text: string, filter: Omit<ColdFilter, 'error'> = {}, options: ListOptions = {}): Listing<ColdJob> {
    return this.list({ ...filter, error: text }, options)
  }

  /** One archived job, whole; undefined when the archive does not have it. */
  async get(id: string): Promise<ColdJob | undefined> {
    return isJobId(id) ? this.store.getCold(id) : undefined
  }

  /** Archived jobs that match, whole, each as one line of JSON without the line break: NDJSON. @throws as {@link list} */
  async *export(filter: ColdFilter = {}): AsyncGenerator<string, void, undefined> {
    const checked = checkColdFilter(filter)
    const rows = new Listing((page) => this.store.exportCold(checked, page), { limit: EXPORT_PAGE })
    for await (const job of rows) yield lineOf(job)
  }

  /** The months there are, oldest first: how many rows, until when the last is kept, and whether it may be pruned. */
  async months(): Promise<readonly ColdMonth[]> {
    return this.store.coldMonths()
  }

  /**
   * Brings a job that was dead back as a dead letter, equal to what it was, with `restored` in its history. It is not
   * run; its retention counts from now, and its attempts and generation are as they were.
   *
   * @throws `not_found`; `invalid_state` where it was not dead (completed, cancelled, held), or a job has its id.
   */
  async restore(id: string, options: ActOptions = {}): Promise<Acted> {
    return this.store.restoreCold(checkJobId(id), actOf(this.actor, options))
  }

  /**
   * Removes a month that is over for good, if every row in it has outlived its own archive retention.
   *
   * @param month - `2026-01`
   * @throws `archive_kept` with how many rows are kept and until when: nothing was removed. `not_found`,
   *   `invalid_option`.
   */
  async prune(month: string, options: ActOptions = {}): Promise<Pruned> {
    if (typeof month !== 'string' || !/^\d{4}-(0[1-9]|1[0-2])$/.test(month))
      throw new SpillwayError('invalid_option', `cannot prune ${shown(month)}: a month as 2026-01 is accepted`)
    return this.store.pruneCold(month, actOf(this.actor, options))
  }
}

/** The stored text of the payload stands in the line, so that no number is rounded. */
function lineOf(job: ColdJob): string {
  const { payloadText, ...rest } = job
  const line = JSON.stringify(toWire({ ...rest, payload: undefined }))
  return payloadText === undefined ? line : `${line.slice(0, -1)},"payload":${payloadText.replace(/[\r\n]+/g, ' ')}}`
}

function checkColdFilter(filter: ColdFilter): ColdFilter {
  const named = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as ColdFilter
  for (const [key, value] of Object.entries(named)) {
    if (TEXTS.has(key) && typeof value === 'string' && value !== '') continue
    if (TIMES.has(key) && isMoment(value)) continue
    const known = [...TEXTS, ...TIMES].join(', ')
    throw new SpillwayError('invalid_option', `cannot list the archive by ${key} ${shown(value)}: known are ${known}`)
  }
  if (named.state !== undefined && !isJobState(named.state)) {
    throw new SpillwayError(
      'invalid_option',
      `cannot list the archive by state ${shown(named.state)}: known are ${JOB_STATES.join(', ')}`,
    )
  }
  const { reason } = named
  return reason === undefined ? named : { ...named, reason: SEED_REASONS[reason] ?? reason }
}
