import type { Job } from '../job/job.js'
import type { Acted, Depth, DlqFilter, Store } from '../store/store.js'
import { actOf, checkJobId, isJobId } from './act.js'
import { checkDlqFilter } from './filters.js'
import type { GetOptions } from './jobs.js'
import { Listing, type ListOptions } from './listing.js'
import { type RetryOptions, toRetryRequest } from './retry.js'

/** The dead-letter queue: jobs that were given up, with all their evidence, and the way back. */
export class DeadLetters {
  constructor(
    private readonly store: Store,
    private readonly actor: string,
    private readonly maxPayloadBytes: number,
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
    return this.store.retryJob(checkJobId(id), request, actOf(this.actor, options))
  }
}
