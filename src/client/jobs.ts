import type { Job } from '../job/job.js'
import type { JobState } from '../job/states.js'
import type { Acted, JobFilter, Store } from '../store/store.js'
import { type ActOptions, actOf, checkJobId, isJobId } from './act.js'
import { checkJobFilter } from './filters.js'
import { Listing, type ListOptions } from './listing.js'
import { toRunAt, type When } from './moment.js'
import { type RetryOptions, toRetryRequest } from './retry.js'

export interface GetOptions {
  /** Whether the payload comes along. Default: true. */
  readonly payload?: boolean | undefined
}

/** Jobs by id, in every state: looking at them, and steering those that wait, run or were given up. */
export class Jobs {
  constructor(
    private readonly store: Store,
    private readonly actor: string,
    private readonly maxPayloadBytes: number,
  ) {}

  /**
   * The job wherever it is, with its history.
   *
   * @returns undefined when there is none: it was never there, was revoked, purged, or its retention lapsed.
   */
  async get(id: string, { payload = true }: GetOptions = {}): Promise<Job | undefined> {
    return isJobId(id) ? this.store.getJob(id, { payload }) : undefined
  }

  /**
   * Jobs that match, newest id first, without payload and history. `await` gives one page, `for await` all of them.
   *
   * @throws `invalid_option` for an unknown state, an empty text or a limit out of range.
   *
   * @example
   * for await (const job of spillway.jobs.list({ state: 'retryable' })) console.log(job.id, job.runAt)
   */
  list(filter: JobFilter = {}, options: ListOptions = {}): Listing<Job> {
    const checked = checkJobFilter(filter)
    return new Listing((page) => this.store.listJobs(checked, page), options)
  }

  /** How many jobs there are in each state. */
  async counts(): Promise<Readonly<Record<JobState, number>>> {
    return this.store.countJobs()
  }

  /**
   * Sends a given-up job (archived or failed) back to work, by default with the budget `keep`: its counters stay, and
   * one that has no attempt left gets exactly one more run. `spillway.dlq.retry` differs in nothing but that default.
   *
   * One statement: of several callers one wins, and the others get `already_retried`.
   *
   * @throws `not_found`, `invalid_state`, `already_retried`, `deadline_passed`, `generation_cap`, `unique_conflict`,
   *   `invalid_option`; the job is then as it was.
   */
  async retry(id: string, options: RetryOptions = {}): Promise<Acted> {
    const request = toRetryRequest(options, 'keep', this.maxPayloadBytes)
    return this.store.retryJob(checkJobId(id), request, actOf(this.actor, options))
  }

  /**
   * Ends a job that has not ended: `cancelled`, and it never runs again. One that runs is cancelled at once too; its
   * handler's signal aborts within a second, and what it still reports is refused. Cancelling twice changes nothing.
   *
   * @throws `not_found`; `invalid_state` where it has already ended or was given up.
   */
  async cancel(id: string, options: ActOptions = {}): Promise<Acted> {
    return this.store.cancelJob(checkJobId(id), actOf(this.actor, options))
  }

  /**
   * Makes a scheduled or retryable job available now, at the end of its priority. Uses no attempt.
   *
   * @throws `not_found`; `invalid_state` for jobs of other states.
   */
  async promote(id: string, options: ActOptions = {}): Promise<Acted> {
    return this.store.promoteJob(checkJobId(id), actOf(this.actor, options))
  }

  /**
   * Gives a job that waits (scheduled, retryable, available) another due time; in the past it is now. Everything else
   * of it stays.
   *
   * @param when - A `Date`, or `{ runAt }`, or `{ delay: '5m' }`.
   * @throws `not_found`; `invalid_state` for jobs of other states; `invalid_option`.
   */
  async reschedule(id: string, when: Date | When, options: ActOptions = {}): Promise<Acted> {
    const runAt = toRunAt(when instanceof Date ? { runAt: when } : when) ?? new Date()
    return this.store.rescheduleJob(checkJobId(id), runAt, actOf(this.actor, options))
  }
}
