import type { Duration } from '../job/duration.js'
import type { Job } from '../job/job.js'
import type { Selector } from '../job/selector.js'
import type { JobState } from '../job/states.js'
import type {
  Acted,
  BulkAction,
  BulkResult,
  CappedQueue,
  CauseFilter,
  Depth,
  DlqFilter,
  DlqFlow,
  DlqGroup,
  ExpiringQueue,
  GroupFilter,
  Store,
  Triage,
  UnreviewedQueue,
} from '../store/store.js'
import { type ActOptions, actOf, checkJobId, isJobId } from './act.js'
import { BulkActs } from './bulk-acts.js'
import { type BulkOptions, type BulkRetryOptions, selectableStates } from './bulk-options.js'
import { checkCauseFilter, checkDlqFilter, checkFlowFilter, checkGroupFilter, type FlowOptions } from './filters.js'
import { type ImportOptions, type ImportReport, importLines } from './import.js'
import type { GetOptions } from './jobs.js'
import { Listing, type ListOptions } from './listing.js'
import type { OperationHandle, Operations } from './operations.js'
import { type RetryOptions, toRetryRequest, withWarning } from './retry.js'
import {
  type CauseTarget,
  checkNote,
  checkTarget,
  type ExpiringOptions,
  expiringScope,
  type MarkOptions,
  type ResolveOptions,
  untilOf,
} from './triage.js'

/** The dead-letter queue: jobs that were given up, with all their evidence, and the way back. */
export class DeadLetters {
  constructor(
    private readonly store: Store,
    private readonly actor: string,
    private readonly maxPayloadBytes: number,
    private readonly operations: Operations,
    private readonly bulk = new BulkActs(store, actor, maxPayloadBytes, operations),
  ) {}

  /**
   * Dead letters that match, newest death first, without payload and history; all of them without a filter. `await`
   * gives one page, `for await` every one. A filter narrows: `beforeId` goes on after that row of the list.
   *
   * @throws `selector_refused` or `invalid_option` for what is no filter. Nothing given is ever ignored.
   *
   * @example
   * const { items, cursor } = await spillway.dlq.list({ queue: 'billing', tag: 'urgent' }, { limit: 20 })
   */
  list(filter: DlqFilter = {}, options: ListOptions = {}): Listing<Job> {
    const checked = checkDlqFilter(filter)
    return new Listing((page) => this.store.listDlq(checked, page), options)
  }

  /** One dead letter with payload and history; undefined when no dead letter has that id (any more). */
  async get(id: string, { payload = true }: GetOptions = {}): Promise<Job | undefined> {
    if (!isJobId(id)) return undefined
    const job = await this.store.getJob(id, { payload })
    return job?.state === 'archived' ? job : undefined
  }

  /**
   * How many there are by queue, kind and cause: exact, and as fast for a million as for ten.
   *
   * @throws `invalid_option` for unknown keys and empty texts.
   */
  async count(filter: CauseFilter = {}): Promise<number> {
    return this.store.countDlq(checkCauseFilter(filter))
  }

  /** How many dead letters there are, in one queue or in all. */
  async depth(queue?: string): Promise<number> {
    return (await this.store.dlqDepth(queue)).total
  }

  /** How many there are in each queue that has some (or in the one named), and since when the oldest lies there. */
  async depthByQueue(queue?: string): Promise<Depth['queues']> {
    return (await this.store.dlqDepth(queue)).queues
  }

  /**
   * Sends a dead letter back to work, by default with a fresh budget: `attempt` and `runLease` 0. Id, tags, metadata,
   * unique key and history stay; who retried it and why is added to the history.
   *
   * One statement: of several callers one wins, and the others get `already_retried`. A queue that no live worker
   * takes from is a warning in the answer, not an error.
   *
   * @param id - Of an archived job; a `failed` one, of a queue without a dead-letter queue, is taken too.
   * @returns the state it is in now, `available` or `scheduled`.
   * @throws `not_found`, `invalid_state`, `already_retried`, `deadline_passed`, `generation_cap`, `unique_conflict`,
   *   `invalid_option`; the dead letter is then as it was.
   *
   * @example
   * await spillway.dlq.retry('800042', { queue: 'billing-slow', delay: '10m', reason: 'gateway is back' })
   */
  async retry(id: string, options: RetryOptions = {}): Promise<Acted> {
    const request = toRetryRequest(options, 'fresh', this.maxPayloadBytes)
    return withWarning(this.store, await this.store.retryJob(checkJobId(id), request, actOf(this.actor, options)))
  }

  /**
   * Sends everything that matches back to work, as an operation: it answers at once, and goes on in this process when
   * `done()` is awaited, in a worker otherwise. Bound to the deaths of this moment; what dies later is left alone.
   *
   * @throws `selector_refused` where the selector names nothing; nothing is touched.
   *
   * @example
   * const redrive = await spillway.dlq.retryMany({ queue: 'billing' }, { canary: 3, rate: 50, reason: 'gateway is back' })
   * const { state, succeeded } = await redrive.done()
   */
  retryMany(selector: Selector, options: BulkRetryOptions = {}): Promise<OperationHandle> {
    return this.start('retry', selector, options)
  }

  /** Sends at most 1,000 named jobs back at once, and says of each what became of it. */
  retryIds(ids: readonly string[], options: BulkRetryOptions = {}): Promise<BulkResult> {
    return this.act('retry', ids, options)
  }

  /**
   * Puts a dead letter into the bin, where it lies for 7 days; `undo` brings it back byte for byte. A held job
   * (quarantined, undecodable) is taken too, and frees its unique key.
   */
  discard(id: string, options: ActOptions = {}): Promise<Acted> {
    return this.one('discard', id, 'discarded', options)
  }

  discardIds(ids: readonly string[], options: BulkOptions = {}): Promise<BulkResult> {
    return this.act('discard', ids, options)
  }

  /**
   * Puts every dead letter that matches into the bin. With `state: 'quarantined'` or `'undecodable'` it takes held jobs
   * instead (they have no cause and no error to select by), and among `ids` both.
   *
   * @throws as {@link retryMany}
   */
  discardMany(selector: Selector, options: BulkOptions = {}): Promise<OperationHandle> {
    return this.start('discard', selector, options)
  }

  /** Deletes a dead letter for good, with everything that is kept about it. There is no way back. */
  purge(id: string, options: ActOptions = {}): Promise<Acted> {
    return this.one('purge', id, 'gone', options)
  }

  purgeIds(ids: readonly string[], options: BulkOptions = {}): Promise<BulkResult> {
    return this.act('purge', ids, options)
  }

  /** Deletes everything that matches for good. @throws as {@link retryMany} */
  purgeMany(selector: Selector, options: BulkOptions = {}): Promise<OperationHandle> {
    return this.start('purge', selector, options)
  }

  /** Brings a failed job of a queue without a dead-letter queue into it; `reason` becomes its dlq reason. */
  move(id: string, options: ActOptions = {}): Promise<Acted> {
    return this.one('move', id, 'archived', options)
  }

  moveIds(ids: readonly string[], options: BulkOptions = {}): Promise<BulkResult> {
    return this.act('move', ids, options)
  }

  /** Brings every failed job that matches into it. @throws as {@link retryMany} */
  moveMany(selector: Selector, options: BulkOptions = {}): Promise<OperationHandle> {
    return this.start('move', selector, options)
  }

  /**
   * Dead letters by cause, the largest group first: how many, since when, the error, one of them, and how many came in
   * each of the last 24 hours. `await` gives one page, `for await` all of them. Costs the same however many lie there.
   *
   * @throws `invalid_option`
   *
   * @example
   * for await (const { title, count, sampleId } of spillway.dlq.groups({ queue: 'billing' })) console.log(count, title, sampleId)
   */
  groups(filter: GroupFilter = {}, options: ListOptions = {}): Listing<DlqGroup> {
    const checked = checkGroupFilter(filter)
    return new Listing((page) => this.store.dlqGroups(checked, page), options)
  }

  /**
   * What came into and left the dead-letter queue, by minute or hour, oldest first; those without either are left out.
   * Default: the last 24 hours, by hour. Reaches back 90 days.
   *
   * @throws `invalid_option`
   */
  async history(options: FlowOptions = {}): Promise<readonly DlqFlow[]> {
    return this.store.dlqHistory(checkFlowFilter(options, new Date()))
  }

  /**
   * Dead letters that match, whole, each as one line of JSON without the line break: NDJSON. Payloads stand in it as they
   * are stored, to the last digit. Reads page by page, so what dies or leaves meanwhile may or may not be there.
   *
   * @throws as {@link list}
   *
   * @example
   * for await (const line of spillway.dlq.export({ queue: 'billing' })) file.write(`${line}\n`)
   */
  export(filter: DlqFilter = {}): AsyncIterable<string> {
    const checked = checkDlqFilter(filter)
    return new Listing((page) => this.store.exportDlq(checked, page), { limit: EXPORT_PAGE })
  }

  /**
   * Stores lines of an export as dead letters, under their ids, with `imported` in their history. Lines are decided one
   * by one: one that is no dead letter, or whose id a job has anywhere, is refused and named; the others are stored, in
   * batches of one transaction each. Retention counts from now.
   *
   * @param lines - Without line breaks; empty ones are passed over.
   */
  import(lines: AsyncIterable<string> | Iterable<string>, options: ImportOptions = {}): Promise<ImportReport> {
    return importLines(this.store, lines, actOf(this.actor, options), this.maxPayloadBytes, options)
  }

  /**
   * Says that somebody has looked: at one dead letter, or at a cause in a queue, which counts for its dead letters so far.
   * A queue that keeps unreviewed ones lets them go then. `clear` takes it back.
   *
   * @param target - The id of a dead letter, or `{ queue, cause }`.
   * @throws `not_found`, `invalid_state`; nothing was written.
   *
   * @example
   * await spillway.dlq.ack({ queue: 'billing', cause: '3f2a91c0d4e5b6a7' })
   */
  async ack(target: string | CauseTarget, options: MarkOptions = {}): Promise<Triage> {
    const { clear = false } = options
    return this.store.triage(checkTarget(target), { action: 'ack', clear }, actOf(this.actor, options))
  }

  /** Writes what somebody found out, at most 4,000 characters; null takes it away. @throws as {@link ack}, `invalid_option` */
  async note(target: string | CauseTarget, text: string | null, options: ActOptions = {}): Promise<Triage> {
    return this.store.triage(checkTarget(target), { action: 'note', text: checkNote(text) }, actOf(this.actor, options))
  }

  /**
   * Marks it as known noise until a time, or for a duration from now, so that lists can leave it out; null ends it. It
   * changes nothing about the jobs. @throws as {@link ack}, `invalid_option`
   */
  async mute(target: string | CauseTarget, until: Date | Duration | null, options: ActOptions = {}): Promise<Triage> {
    const change = { action: 'mute', until: untilOf(until, new Date()) } as const
    return this.store.triage(checkTarget(target), change, actOf(this.actor, options))
  }

  /**
   * Says that it is fixed, and where. A cause that is resolved and fails again shows as `regressed`, with the time of
   * that death. `clear` takes it back. @throws as {@link ack}, `invalid_option`
   */
  async resolve(target: string | CauseTarget, options: ResolveOptions = {}): Promise<Triage> {
    const { clear = false, link } = options
    const change = { action: 'resolve', clear, link: link === undefined ? null : checkNote(link, 'link') } as const
    return this.store.triage(checkTarget(target), change, actOf(this.actor, options))
  }

  /** What was said about one dead letter by itself; undefined when nothing was, or there is none. */
  async triageOf(id: string): Promise<Triage | undefined> {
    return isJobId(id) ? this.store.triageOf(id) : undefined
  }

  /** How many dead letters nobody has looked at, in each queue that has some (or in the one named). */
  async unreviewed(queue?: string): Promise<readonly UnreviewedQueue[]> {
    return this.store.unreviewed(queue)
  }

  /**
   * How many dead letters leave within a duration because their retention lapses, in each queue that has some, and when
   * the first does. Those a queue keeps until somebody has looked at them are not among them.
   *
   * @throws `invalid_option`
   *
   * @example
   * for (const { queue, count, firstAt } of await spillway.dlq.expiring({ within: '3d' })) console.log(queue, count, firstAt)
   */
  async expiring(options: ExpiringOptions = {}): Promise<readonly ExpiringQueue[]> {
    return this.store.expiring(...expiringScope(options))
  }

  /** Queues whose dead letters are capped, how many they have, and whether that is 80 % of the cap or more. */
  async capped(): Promise<readonly CappedQueue[]> {
    return this.store.cappedQueues()
  }

  /** The same as `operations.undo`. */
  undo(operation: string, options: ActOptions = {}): Promise<OperationHandle> {
    return this.operations.undo(operation, options)
  }

  private start(action: BulkAction, selector: Selector, options: BulkRetryOptions): Promise<OperationHandle> {
    return this.bulk.start(`dlq.${action}Many`, action, selector, options)
  }

  private act(action: BulkAction, ids: readonly string[], options: BulkRetryOptions): Promise<BulkResult> {
    return this.bulk.act(`dlq.${action}Ids`, action, ids, options)
  }

  private one(action: BulkAction, id: string, state: JobState | 'gone', options: ActOptions): Promise<Acted> {
    return this.bulk.one(action, id, { state, accepting: selectableStates(action) }, options)
  }
}

/** With a payload of a mebibyte each, as much as a process can hold beside its work. */
const EXPORT_PAGE = 50
