import { checkPriority } from '../job/definition.js'
import { SpillwayError } from '../job/errors.js'
import type { Job } from '../job/job.js'
import { statesAccepting } from '../job/lifecycle.js'
import { checkText, encodePayload } from '../job/payload.js'
import type { JobState } from '../job/states.js'
import type {
  Acted,
  BulkResult,
  ClonedJob,
  EditedPayload,
  JobEdit,
  JobFilter,
  PayloadVersion,
  Store,
} from '../store/store.js'
import { type ActOptions, actOf, checkJobId, isJobId } from './act.js'
import type { BulkActs } from './bulk-acts.js'
import type { BulkOptions } from './bulk-options.js'
import { checkJobFilter } from './filters.js'
import { Listing, type ListOptions } from './listing.js'
import { toRunAt, type When } from './moment.js'
import { checkEdit } from './payload-check.js'
import { type RetryOptions, toRetryRequest, withWarning } from './retry.js'
import { type Why, whyOf } from './why.js'

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
    private readonly bulk: BulkActs,
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

  /** Where the job is, what keeps it there, and what would let it run; undefined when there is none. */
  async why(id: string): Promise<Why | undefined> {
    const job = await this.get(id, { payload: false })
    if (job === undefined) return undefined
    const [queue, workers] = await Promise.all([this.store.getQueue(job.queue), this.store.listWorkers()])
    return whyOf(job, queue, workers, new Date())
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
    return withWarning(this.store, await this.store.retryJob(checkJobId(id), request, actOf(this.actor, options)))
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

  /**
   * Gives a job up that waits, or is held: it becomes a dead letter (`failed` on a queue without a dead-letter queue)
   * with `reason` as its dlq reason, else `manual`. One that runs can be cancelled instead.
   *
   * @throws `not_found`; `invalid_state` for jobs that run or have ended.
   */
  async kill(id: string, options: ActOptions = {}): Promise<Acted> {
    if (options.reason !== undefined) checkText('reason', options.reason)
    return this.store.killJob(checkJobId(id), actOf(this.actor, options))
  }

  /**
   * Gives a job that was given up, is undecodable, or waits another payload, in the state it is in. What it had before is
   * kept: see {@link payloadVersions}.
   *
   * @param payload - Anything JSON, with BigInts for integers of any size. Checked by the JSON Schema that the job's
   *   workers publish for its kind and version, where there is one.
   * @returns the number of its version, from 2 on, and whether it was checked.
   * @throws `payload_refused` with the path, `payload_too_large`; `not_found`; `invalid_state` where it runs, waits for a
   *   callback, is quarantined or has ended otherwise.
   *
   * @example
   * await spillway.jobs.editPayload('800042', { customer: 'c_1', cents: 4200 }, { reason: 'amount was in euros' })
   */
  async editPayload(id: string, payload: unknown, options: EditPayloadOptions = {}): Promise<CheckedEdit> {
    const { text } = encodePayload(payload, { maxBytes: this.maxPayloadBytes, bigint: true })
    const checked = options.unchecked === true ? false : await checkEdit(this.store, checkJobId(id), text)
    return { ...(await this.store.editPayload(checkJobId(id), text, actOf(this.actor, options))), checked }
  }

  /** Every payload the job had, oldest first, with who changed it and when; empty where nobody did. */
  async payloadVersions(id: string): Promise<readonly PayloadVersion[]> {
    return isJobId(id) ? this.store.payloadVersions(id) : []
  }

  /**
   * Gives a job that waits (scheduled, retryable, available) another priority or queue. An available one keeps its
   * position.
   *
   * @throws `not_found`; `invalid_state` for jobs of other states; `invalid_option`.
   */
  async edit(id: string, { priority, queue }: JobEdit, options: ActOptions = {}): Promise<Acted> {
    const edit: JobEdit = {
      ...(priority === undefined ? {} : { priority: checkPriority(priority) }),
      ...(queue === undefined ? {} : { queue: checkText('queue', queue) }),
    }
    if (Object.keys(edit).length === 0) {
      throw new SpillwayError('invalid_option', 'cannot edit the job: name `priority`, `queue` or both')
    }
    return this.store.editJob(checkJobId(id), edit, actOf(this.actor, options))
  }

  /**
   * Makes a new job of one that was completed or cancelled: the same kind, payload, tags, metadata and settings, with an
   * id and attempts of its own and no history. `originId` links it. It needs the unique key of the old one to be free.
   *
   * @returns the new job's id.
   * @throws `not_found`; `invalid_state` for jobs of other states; `unique_conflict`, `deadline_passed`, `invalid_option`.
   */
  async clone(id: string, options: CloneOptions = {}): Promise<ClonedJob> {
    const { overrides } = toRetryRequest(options, 'fresh', this.maxPayloadBytes)
    return this.store.cloneJob(checkJobId(id), overrides, actOf(this.actor, options))
  }

  /**
   * Deletes a job that is not live for good, wherever it lies: completed, failed, cancelled, archived, discarded or held.
   * Its payloads, history, callbacks and crashes go with it, its unique key is free, and it is counted as purged. There
   * is no way back. One statement takes it or leaves it: interrupted, all of it is there or none.
   *
   * @throws `not_found`; `invalid_state` for a job that waits or runs: cancel it first; `job_moving`.
   *
   * @example
   * await spillway.jobs.purge('800042', { reason: 'the customer asked for it' })
   */
  async purge(id: string, options: ActOptions = {}): Promise<Acted> {
    const ends = { state: 'gone', accepting: statesAccepting('purge') } as const
    return this.bulk.one('purge', id, ends, options, { anywhere: true })
  }

  /**
   * Deletes at most 1,000 named jobs for good, in one transaction, and says of each what became of it.
   *
   * @throws `selector_refused` for more of them, or none; nothing is touched.
   */
  async purgeIds(ids: readonly string[], options: PurgeOptions = {}): Promise<BulkResult> {
    return this.bulk.act('jobs.purgeIds', 'purge', ids, options, { anywhere: true })
  }
}

export type PurgeOptions = ActOptions & Pick<BulkOptions, 'idempotencyKey'>

export interface EditPayloadOptions extends ActOptions {
  /** Store it whatever the published schema says. Default: false. */
  readonly unchecked?: boolean | undefined
}

export interface CheckedEdit extends EditedPayload {
  /** Whether a published schema has checked it. False: no worker publishes one for the job's kind and version. */
  readonly checked: boolean
}

/** What the new job has otherwise than the one it is made of. */
export type CloneOptions = Omit<RetryOptions, 'budget' | 'onConflict' | 'force'>
