import type { Duration } from '../job/duration.js'
import { checkText } from '../job/payload.js'
import { checkPolicyPatch, type QueuePolicyPatch, type Retention } from '../job/policy.js'
import type { RemovedJobs, Store, StoredQueue, UnservedKind } from '../store/store.js'
import { type ActOptions, actOf } from './act.js'
import { checkSpan, type SpanOptions } from './filters.js'

/** What {@link Queues.set} takes: any part of a policy, with durations in ms or as `'30d'`, and null for no limit. */
export interface PolicyInput extends Omit<QueuePolicyPatch, 'retention' | 'crashWindowMs' | 'noHandlerAfterMs'> {
  readonly retention?: { readonly [K in keyof Retention]?: Duration | null }
  readonly crashWindowMs?: Duration
  readonly noHandlerAfterMs?: Duration
  /** For `retention.dlq`, and, all at once, for `completed`, `failed`, `cancelled` and `dlq`. */
  readonly dlqRetention?: Duration | null
  readonly retentionMs?: Duration | null
  /** For `coldArchive` and `retention.archive`. */
  readonly archive?: boolean
  readonly archiveRetention?: Duration | null
}

/** Queues and their policy. A queue needs no making: it is there from its first job or setting on. */
export class Queues {
  constructor(
    private readonly store: Pick<
      Store,
      'getQueue' | 'listQueues' | 'setQueue' | 'pauseQueue' | 'resumeQueue' | 'unservedKinds' | 'removedJobs'
    >,
    private readonly actor: string,
  ) {}

  /** The policy of a queue, defaults included, also for one that nobody has set anything on. */
  async get(queue: string): Promise<StoredQueue> {
    return this.store.getQueue(checkText('queue', queue))
  }

  /** Every queue that has jobs or a policy, by name. */
  async list(): Promise<readonly StoredQueue[]> {
    return this.store.listQueues()
  }

  /**
   * Kinds and versions that have available jobs in a queue which live workers take, and which none of these serves; the
   * longest first. Looked for every 30 s. After `limitMs` their jobs are given up with reason `no_handler`.
   */
  async unserved(): Promise<readonly UnservedKind[]> {
    return this.store.unservedKinds()
  }

  /**
   * How many jobs have left for good, by queue, by how (retention, a cap, a month of the archive, a purge) and by the state
   * or the reason of death they were kept under. Default: in the last 24 hours. Reaches back 90 days.
   *
   * @returns nothing for a queue that nothing left. What went to the cold archive had expired.
   * @throws `invalid_option`
   *
   * @example
   * for (const { why, reason, count } of await spillway.queues.removed({ queue: 'billing', since: '7d' })) console.log(why, reason, count)
   */
  async removed(options: SpanOptions = {}): Promise<readonly RemovedJobs[]> {
    return this.store.removedJobs(checkSpan(options, new Date()))
  }

  /**
   * Changes what `patch` names of a queue's policy; the rest stays. Every process follows within a second. Jobs that
   * have died already stay where they are.
   *
   * @param patch - At least one setting. Durations in ms or as `'30d'`; null is no limit. A config file's keys are read
   *   too: `retention_ms` for every end, `dlq_retention`, `archive`, `archive_retention`.
   * @returns the queue as it is now.
   * @throws `invalid_option` for an unknown setting, a value out of range or an empty patch.
   *
   * @example
   * await spillway.queues.set('billing', { dlqEnabled: true, retention: { dlq: '90d' } })
   */
  async set(queue: string, patch: PolicyInput, options: ActOptions = {}): Promise<StoredQueue> {
    return this.store.setQueue(checkText('queue', queue), checkPolicyPatch(patch), actOf(this.actor, options))
  }

  /**
   * Stops new claims from a queue, within a second in every process. What runs goes on; enqueueing goes on. Pausing
   * a paused queue changes nothing.
   */
  async pause(queue: string, options: ActOptions = {}): Promise<StoredQueue> {
    return this.store.pauseQueue(checkText('queue', queue), actOf(this.actor, options))
  }

  /** Lets workers claim from the queue again. Resuming a queue that is not paused changes nothing. */
  async resume(queue: string, options: ActOptions = {}): Promise<StoredQueue> {
    return this.store.resumeQueue(checkText('queue', queue), actOf(this.actor, options))
  }
}
