import { SpillwayError, shown } from '../job/errors.js'
import type { Quarantined, QuarantinedDetail, Released, Store } from '../store/store.js'
import { type ActOptions, actOf, isJobId } from './act.js'
import { Listing, type ListOptions } from './listing.js'

export interface QuarantineGetOptions {
  /** Whether the payload comes along, as it is stored. Default: false. */
  readonly payload?: boolean | undefined
}

export interface QuarantineReleaseOptions extends ActOptions {
  /** Lets one job go first, alone in its worker; the rest follows when it succeeds, and only then. Default: false. */
  readonly canary?: boolean | undefined
}

/** What became of jobs that were to be released. */
export interface ReleasedIds {
  readonly releaseId: string
  readonly succeeded: readonly string[]
  readonly failed: readonly { readonly id: string; readonly code: string; readonly message: string }[]
}

/** Jobs that kill their workers: held by fingerprint, which is the same for jobs of one kind and payload. */
export class Quarantine {
  constructor(
    private readonly store: Store,
    private readonly actor: string,
  ) {}

  /**
   * Fingerprints of which something is held, newest first. `await` gives one page, `for await` all of them.
   *
   * @example
   * for await (const { fingerprint, kind, held } of spillway.quarantine.list()) console.log(fingerprint, kind, held)
   */
  list(options: ListOptions = {}): Listing<Quarantined> {
    return new Listing((page) => this.store.listQuarantine(page), options)
  }

  /**
   * One fingerprint: its crashes with worker, host and whether anything else ran there, the jobs that are held, and those
   * that wait and will be.
   *
   * @returns undefined where nothing of it is held.
   */
  async get(fingerprint: string, options: QuarantineGetOptions = {}): Promise<QuarantinedDetail | undefined> {
    return isFingerprint(fingerprint)
      ? this.store.getQuarantined(fingerprint, { payload: options.payload ?? false })
      : undefined
  }

  /**
   * Lets a fingerprint go: its jobs are available again, with no crash counted, and new ones are accepted. With `canary`
   * only the oldest of them, alone in its worker; when it succeeds the rest follows, and when it does not they stay.
   *
   * What is interrupted on the way is finished by the maintenance; called again, it goes on. Jobs that wait and were
   * blocked just run.
   *
   * @throws `not_found` where nothing of it is held; with `canary` `invalid_state` where one is out already.
   *
   * @example
   * await spillway.quarantine.release('9c0ff1…', { canary: true, reason: 'parser fixed in 2.4.1' })
   */
  async release(fingerprint: string, { canary = false, ...options }: QuarantineReleaseOptions = {}): Promise<Released> {
    if (!isFingerprint(fingerprint)) {
      throw new SpillwayError(
        'not_found',
        `no fingerprint ${shown(fingerprint)}: one has 32 hex digits; \`spillway quarantine list\` shows them`,
      )
    }
    const act = actOf(this.actor, options)
    return canary ? this.store.releaseCanary(fingerprint, act) : this.store.releaseFingerprint(fingerprint, act)
  }

  /**
   * Lets single jobs go, at most 1,000. Where their fingerprint is convicted it stays so: each of these runs alone in its
   * worker, and one that kills it is held again at once.
   *
   * @throws `selector_refused` for no ids, or too many.
   */
  async releaseIds(ids: readonly string[], options: ActOptions = {}): Promise<ReleasedIds> {
    if (ids.length === 0 || ids.length > MAX_AT_ONCE) {
      throw new SpillwayError(
        'selector_refused',
        `cannot release ${ids.length} jobs by id: 1 to ${MAX_AT_ONCE} are accepted; a fingerprint releases all of it`,
      )
    }
    const act = actOf(this.actor, options)
    const { releaseId, ids: succeeded = [] } = await this.store.releaseJobs(ids, act)
    const done = new Set(succeeded)
    const failed = await Promise.all([...new Set(ids)].filter((id) => !done.has(id)).map((id) => this.refusal(id)))
    return { releaseId, succeeded, failed }
  }

  private async refusal(id: string): Promise<ReleasedIds['failed'][number]> {
    const job = isJobId(id) ? await this.store.getJob(id) : undefined
    if (!job) return { id, code: 'not_found', message: `no job ${shown(id)}: it was never there, or is gone` }
    return {
      id,
      code: 'invalid_state',
      message: `cannot release job ${id}: it is ${job.state}, and only quarantined jobs can`,
    }
  }
}

/** Jobs that are released by id before the call answers. */
const MAX_AT_ONCE = 1_000

function isFingerprint(text: unknown): text is string {
  return typeof text === 'string' && /^[0-9a-f]{32}$/.test(text)
}
