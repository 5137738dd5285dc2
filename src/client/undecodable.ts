import { type ErrorCode, SpillwayError, shown } from '../job/errors.js'
import type { Job } from '../job/job.js'
import type { HeldPayload, ReleaseOf, Store, UndecodableFilter } from '../store/store.js'
import { type ActOptions, actOf, isJobId } from './act.js'
import { type Decoding, type DecodingOptions, decoding } from './decoding.js'
import type { GetOptions } from './jobs.js'
import { Listing, type ListOptions } from './listing.js'

/** Which undecodable jobs a check or a release is about. What is named narrows. */
export interface UndecodableSelector extends UndecodableFilter {
  /** Every one; beside a filter it widens nothing. */
  readonly all?: boolean | undefined
}

/** What code says of the undecodable jobs of one kind and version. */
export interface UndecodableGroup {
  readonly kind: string
  readonly version: number
  readonly total: number
  /** How many would decode now. Null: unknown, because nobody who has the code could be asked. */
  readonly wouldDecode: number | null
  readonly refused: number
  readonly unknown: number
  /** Some that would not, and why. */
  readonly samples: readonly { readonly id: string; readonly path: string; readonly message: string }[]
}

export interface UndecodableCheck {
  readonly total: number
  /** Null: unknown for every one of them, and there are some. */
  readonly wouldDecode: number | null
  readonly refused: number
  readonly unknown: number
  /** Largest first. */
  readonly groups: readonly UndecodableGroup[]
}

export interface ReleaseOptions extends DecodingOptions, ActOptions {
  /** Also those that do not decode now, or that nobody could be asked about. Default: false. */
  readonly force?: boolean | undefined
}

export interface NotReleasedJob {
  readonly id: string
  readonly code: ErrorCode
  /** Where the payload could not be read. */
  readonly path?: string
  readonly message: string
}

export interface Release {
  readonly succeeded: readonly string[]
  readonly failed: readonly NotReleasedJob[]
}

/** So many payloads of up to a megabyte each are held in memory at a time. */
const PAGE = 100
const SAMPLES = 5
const MAX_IDS = 1_000

/** Jobs whose payload no code could read: held as they are until code can, or somebody repairs the payload. */
export class Undecodable {
  constructor(
    private readonly store: Store,
    private readonly actor: string,
  ) {}

  /** Undecodable jobs, newest id first, without payload; `reason` says why. `await` gives one page, `for await` all. */
  list(filter: Pick<UndecodableFilter, 'queue' | 'kind'> = {}, options: ListOptions = {}): Listing<Job> {
    const { queue, kind } = checked(filter)
    const named = { ...(queue === undefined ? {} : { queue }), ...(kind === undefined ? {} : { kind }) }
    return new Listing((page) => this.store.listJobs({ state: 'undecodable', ...named }, page), options)
  }

  /** One undecodable job with its payload as it is stored, and its history; undefined when it is not undecodable. */
  async get(id: string, { payload = true }: GetOptions = {}): Promise<Job | undefined> {
    const job = isJobId(id) ? await this.store.getJob(id, { payload }) : undefined
    return job?.state === 'undecodable' ? job : undefined
  }

  /**
   * How many would decode now, by kind and version, with samples of what would not. Changes nothing. The answer is that
   * of the code: of `jobs` here, or else of a worker that serves the kind and version; where there is none it is unknown.
   *
   * @example
   * const { groups } = await spillway.undecodable.check({ kind: 'charge_card' }, { jobs: [chargeCard] })
   */
  async check(selector: UndecodableSelector = {}, options: DecodingOptions = {}): Promise<UndecodableCheck> {
    const asked = decoding(this.store, options)
    const groups = new Map<string, Counting>()
    for await (const held of this.pages(checked(selector))) {
      const verdicts = await asked.ask(held)
      for (const { id, kind, version } of held) {
        const key = `${kind}@${version}`
        const group = groups.get(key) ?? { kind, version, total: 0, decoding: 0, refused: 0, unknown: 0, samples: [] }
        groups.set(key, group)
        const verdict = verdicts.get(id)
        group.total++
        if (verdict === undefined) group.unknown++
        else if (verdict.ok) group.decoding++
        else {
          group.refused++
          const { path, message } = verdict
          if (group.samples.length < SAMPLES) group.samples.push({ id, path, message })
        }
      }
    }
    const told = [...groups.values()].map(({ decoding, ...group }) => ({
      ...group,
      wouldDecode: known(group, decoding),
    }))
    const sum = (of: (group: UndecodableGroup) => number) => told.reduce((total, group) => total + of(group), 0)
    const all = { total: sum((it) => it.total), unknown: sum((it) => it.unknown) }
    return {
      ...all,
      wouldDecode: known(
        all,
        sum((it) => it.wouldDecode ?? 0),
      ),
      refused: sum((it) => it.refused),
      groups: told.sort((a, b) => b.total - a.total),
    }
  }

  /**
   * undecodable → available, for what decodes now (or with `force`); the rest stays, each with the reason. In batches of
   * one statement each, with an audit row; killed in between, what was released stays so. A payload that is edited while
   * it is checked is not released. Attempts are not touched, and the handler gets the payload as the code reads it.
   *
   * @param selector - An id, or a filter; `{ all: true }` for every one.
   * @throws `selector_refused` where nothing is named; nothing is touched.
   *
   * @example
   * const { succeeded, failed } = await spillway.undecodable.release({ kind: 'charge_card' }, { reason: 'v2 is deployed' })
   */
  async release(selector: string | UndecodableSelector, options: ReleaseOptions = {}): Promise<Release> {
    const filter = checked(typeof selector === 'string' ? { ids: [selector] } : selector)
    if (Object.values(filter).every((value) => value === undefined)) {
      throw new SpillwayError(
        'selector_refused',
        'cannot release jobs: nothing is named; name queue, kind or ids (all: true for everything)',
      )
    }
    const asked = options.force === true ? undefined : decoding(this.store, options)
    const succeeded: string[] = []
    const failed: NotReleasedJob[] = []
    const seen = new Set<string>()
    for await (const held of this.pages(filter)) {
      for (const { id } of held) seen.add(id)
      const done = await this.releaseSome(held, asked, options)
      succeeded.push(...done.succeeded)
      failed.push(...done.failed)
    }
    const missing = (filter.ids ?? []).filter((id) => !seen.has(id))
    if (missing.length > 0) {
      // Nothing has this fingerprint: only to be told where they are.
      const nowhere = missing.map((id) => ({ id, fingerprint: '' }))
      failed.push(...(await this.store.releaseUndecodable(nowhere, false, actOf(this.actor, options))).refused)
    }
    return { succeeded, failed }
  }

  private async releaseSome(
    held: readonly HeldPayload[],
    asked: Decoding | undefined,
    options: ReleaseOptions,
  ): Promise<Release> {
    const verdicts = await asked?.ask(held)
    const failed: NotReleasedJob[] = []
    const jobs = held.flatMap(({ id, kind, version }): ReleaseOf[] => {
      const verdict = verdicts?.get(id)
      if (verdicts === undefined) return [{ id, fingerprint: null }]
      if (verdict?.ok) return [{ id, fingerprint: verdict.fingerprint }]
      failed.push(
        verdict === undefined ? notChecked(id, kind, version) : stillUndecodable(id, verdict.path, verdict.message),
      )
      return []
    })
    if (jobs.length === 0) return { succeeded: [], failed }
    const { released, refused } = await this.store.releaseUndecodable(
      jobs,
      verdicts === undefined,
      actOf(this.actor, options),
    )
    return { succeeded: released, failed: [...failed, ...refused] }
  }

  private async *pages(filter: UndecodableFilter): AsyncGenerator<readonly HeldPayload[]> {
    let cursor: string | null = null
    do {
      const page = await this.store.undecodablePayloads(filter, { limit: PAGE, ...(cursor === null ? {} : { cursor }) })
      if (page.items.length > 0) yield page.items
      cursor = page.cursor
    } while (cursor !== null)
  }
}

interface Counting {
  readonly kind: string
  readonly version: number
  total: number
  decoding: number
  refused: number
  unknown: number
  readonly samples: { id: string; path: string; message: string }[]
}

/** Unknown is never 0. */
function known({ total, unknown }: { total: number; unknown: number }, decoding: number): number | null {
  return total > 0 && unknown === total ? null : decoding
}

/** The filter, and `all` where it was said; nothing given is ever ignored. @throws `selector_refused` */
function checked(selector: UndecodableSelector): UndecodableFilter & { all?: true } {
  const filter: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(selector) as [string, unknown][]) {
    if (value === undefined || value === false) continue
    if ((key === 'queue' || key === 'kind') && typeof value === 'string' && value.trim() !== '') filter[key] = value
    else if (key === 'all' && value === true) filter[key] = value
    else if (key === 'ids' && isIdList(value)) filter[key] = [...new Set(value)]
    else throw refused(key, value)
  }
  return filter
}

function isIdList(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MAX_IDS &&
    value.every((id) => typeof id === 'string' && id !== '')
  )
}

function refused(key: string, value: unknown): SpillwayError {
  return new SpillwayError(
    'selector_refused',
    `cannot select undecodable jobs by ${JSON.stringify(key.slice(0, 60))}: it is ${shown(value)}; queue and kind as texts, 1 to ${MAX_IDS} ids, or all: true are accepted`,
  )
}

function notChecked(id: string, kind: string, version: number): NotReleasedJob {
  return {
    id,
    code: 'not_checked',
    message: `cannot tell whether job ${id} would decode: no live worker that serves ${kind} version ${version} has answered; start one, name the module with the code, or force it`,
  }
}

function stillUndecodable(id: string, path: string, problem: string): NotReleasedJob {
  return {
    id,
    code: 'undecodable',
    path,
    message: `cannot release job ${id}: ${path === '' ? '' : `${path}: `}${problem}; repair the payload, deploy code that reads it, or force it`,
  }
}
