import type { EnqueueableJob } from '../job/definition.js'
import type { Job } from '../job/job.js'
import { MAX_PAYLOAD_BYTES } from '../job/payload.js'
import type { Selector } from '../job/selector.js'
import type {
  Acted,
  Depth,
  DlqFilter,
  Enqueued,
  IdempotentRequest,
  NewJob,
  Store,
  StoredAnswer,
} from '../store/store.js'
import type { ActOptions } from './act.js'
import { Archive } from './archive.js'
import { Audit } from './audit.js'
import { BulkActs } from './bulk-acts.js'
import type { BulkOptions, BulkRetryOptions } from './bulk-options.js'
import { Callbacks } from './callbacks.js'
import { Coalescer } from './coalescer.js'
import { DeadLetters } from './dead-letters.js'
import { Duties } from './duties.js'
import { Events } from './events.js'
import { type GetOptions, Jobs } from './jobs.js'
import type { Listing, ListOptions } from './listing.js'
import { Masking } from './masking.js'
import { type JobSettings, type Prepared, prepare } from './new-job.js'
import { type OperationHandle, Operations } from './operations.js'
import { Quarantine } from './quarantine.js'
import { Queues } from './queues.js'
import type { RetryOptions } from './retry.js'
import { Rings } from './rings.js'
import { Sessions } from './sessions.js'
import { Tokens } from './tokens.js'
import { toExecutor } from './transaction.js'
import { Undecodable } from './undecodable.js'
import { Webhooks, type WebhooksOptions } from './webhooks.js'
import { WorkersList } from './workers-list.js'

export interface ClientOptions {
  readonly store: Store
  /** Who acts, where a call does not say: stored with every operator action. Default: `sdk`. */
  readonly actor?: string | undefined
  /** Largest payload, in UTF-8 bytes. Default: 1 MiB. */
  readonly maxPayloadBytes?: number | undefined
  readonly webhooks?: WebhooksOptions | undefined
}

export interface TransactionOption {
  /**
   * An open transaction of node-postgres, postgres.js, Drizzle, Kysely, Knex, TypeORM or Prisma, or anything with
   * `execute(text, values)`: the job is there if and only if it commits.
   */
  readonly tx?: unknown
}

export interface EnqueueOptions extends JobSettings, TransactionOption {}

/** One job of {@link Client.enqueueMany}: its payload, and what it sets. */
export interface EnqueueEntry<Input = unknown> extends JobSettings {
  readonly payload: Input
}

/** The same with its own kind, for jobs of several kinds in one call. */
export interface MixedEntry extends EnqueueEntry {
  /** A definition, or the name of a kind whose definition lives elsewhere. */
  readonly job: EnqueueableJob | string
}

/** What applications and operators do with a store. Every action is written with who did it. */
export class Client {
  readonly jobs: Jobs
  readonly dlq: DeadLetters
  readonly operations: Operations
  readonly quarantine: Quarantine
  readonly queues: Queues
  readonly workers: WorkersList
  readonly audit: Audit
  readonly callbacks: Callbacks
  readonly events: Events
  readonly webhooks: Webhooks
  readonly undecodable: Undecodable
  readonly archive: Archive
  readonly duties: Duties
  readonly rings: Rings
  readonly tokens: Tokens
  readonly sessions: Sessions
  readonly masking: Masking
  protected readonly store: Store
  private readonly coalescer: Coalescer
  private readonly maxPayloadBytes: number
  private readonly webhooksOptions: WebhooksOptions

  constructor({ store, actor = 'sdk', maxPayloadBytes = MAX_PAYLOAD_BYTES, webhooks = NOBODY_SENDS }: ClientOptions) {
    this.store = store
    this.maxPayloadBytes = maxPayloadBytes
    this.webhooksOptions = webhooks
    this.coalescer = new Coalescer(store)
    this.operations = new Operations(store, actor)
    const bulk = new BulkActs(store, actor, maxPayloadBytes, this.operations)
    this.jobs = new Jobs(store, actor, maxPayloadBytes, bulk)
    this.dlq = new DeadLetters(store, actor, maxPayloadBytes, this.operations, bulk)
    this.quarantine = new Quarantine(store, actor)
    this.queues = new Queues(store, actor)
    this.workers = new WorkersList(store)
    this.audit = new Audit(store, actor)
    this.callbacks = new Callbacks(store)
    this.events = new Events(store, actor)
    this.webhooks = new Webhooks(store, actor, webhooks)
    this.undecodable = new Undecodable(store, actor)
    this.archive = new Archive(store, actor)
    this.duties = new Duties(store, actor)
    this.rings = new Rings(store, actor)
    this.tokens = new Tokens(store, actor)
    this.sessions = new Sessions(store)
    this.masking = new Masking(store, actor)
  }

  /**
   * Stores one job. When it resolves the job is on disk; with `tx` it is there when that transaction commits.
   *
   * Calls that run at the same time share statements, so many callers cost little more than one; each promise still
   * settles after the commit of its own job, and one that is refused rejects alone.
   *
   * @param job - A definition, whose schema the payload is checked with, or the name of a kind defined elsewhere.
   * @returns the job's id; `inserted` is false where `unique` was taken and the id is the holder's.
   * @throws `payload_refused` with the path, `payload_too_large`, `invalid_option`, `unique_conflict`,
   *   `fingerprint_quarantined`: nothing was stored. `store_unavailable`: the database could not be reached, and the outcome may be unknown.
   *
   * @example
   * const { id } = await spillway.enqueue(chargeCard, { customer: 'c_1', cents: 4200 }, { delay: '5m' })
   */
  enqueue<Input>(
    job: EnqueueableJob<Input> | string,
    payload: NoInfer<Input>,
    options?: EnqueueOptions,
  ): Promise<Enqueued> {
    // Written without async: every promise in between would cost as much as the rest of the call.
    try {
      const prepared = prepare(job, payload, options, this.maxPayloadBytes)
      if (prepared instanceof Promise) return prepared.then((it) => this.send(it, options))
      return this.send(prepared, options)
    } catch (error) {
      return Promise.reject(error as Error)
    }
  }

  /**
   * Stores many jobs, all or none, in order. Same guarantees as {@link enqueue}; they are not mixed with other calls.
   *
   * @returns one answer per entry, in the same order; ids ascend.
   * @throws as {@link enqueue}, for the first entry that is refused: then none was stored.
   *
   * @example
   * await spillway.enqueueMany(sendMail, [{ payload: { to: 'ada' } }, { payload: { to: 'grace' }, priority: 10 }])
   */
  enqueueMany<Input>(
    job: EnqueueableJob<Input> | string,
    entries: readonly EnqueueEntry<NoInfer<Input>>[],
    options?: TransactionOption,
  ): Promise<readonly Enqueued[]>
  enqueueMany(entries: readonly MixedEntry[], options?: TransactionOption): Promise<readonly Enqueued[]>
  async enqueueMany(
    first: EnqueueableJob | string | readonly MixedEntry[],
    second?: readonly EnqueueEntry[] | TransactionOption,
    third?: TransactionOption,
  ): Promise<readonly Enqueued[]> {
    const isMixed = isEntries(first)
    const entries = (isMixed ? first : second) as readonly EnqueueEntry[]
    const options = (isMixed ? second : third) as TransactionOption | undefined
    const jobs: NewJob[] = []
    for (const entry of entries) {
      const kind = isMixed ? (entry as MixedEntry).job : first
      const prepared = prepare(kind as EnqueueableJob | string, entry.payload, entry, this.maxPayloadBytes)
      jobs.push((prepared instanceof Promise ? await prepared : prepared).job)
    }
    if (jobs.length === 0) return []
    if (options?.tx !== undefined) return this.store.enqueueIn(toExecutor(options.tx), jobs)
    return this.store.enqueue(jobs)
  }

  /**
   * Does `work` once for a request that may come again: its effects and its answer are one transaction, and the same
   * request within 24 h gets that answer. What `work` does through the client it is given belongs to the transaction;
   * where it throws, nothing of it is left, the key included.
   *
   * @throws `idempotency_key_reused` where the key came with another request; `idempotency_in_progress` where the first is
   *   still running after 2 s; whatever `work` throws.
   */
  idempotently(
    request: IdempotentRequest,
    work: (client: Client) => Promise<StoredAnswer>,
  ): Promise<StoredAnswer & { readonly replayed: boolean }> {
    const { actor } = request
    return this.store.idempotent(request, (inside) =>
      // What a transaction does not offer is not called inside one: it would stand outside of it.
      work(
        new Client({
          ...{ store: inside as Store, actor, maxPayloadBytes: this.maxPayloadBytes },
          // Nothing is sent before it is committed; workers send it then.
          webhooks: { ...this.webhooksOptions, sendDue: () => Promise.resolve() },
        }),
      ),
    )
  }

  /** Resolves when every enqueue called so far has settled. */
  flush(): Promise<void> {
    return this.coalescer.flush()
  }

  /** Refuses further enqueues, waits for those under way, and closes the store's connections. May be called twice. */
  async close(): Promise<void> {
    await this.coalescer.close()
    await this.store.close()
  }

  /** The same as `dlq.list`. */
  listDlq(filter?: DlqFilter, options?: ListOptions): Listing<Job> {
    return this.dlq.list(filter, options)
  }

  /** The same as `dlq.get`. */
  getDlqJob(id: string, options?: GetOptions): Promise<Job | undefined> {
    return this.dlq.get(id, options)
  }

  /** The same as `dlq.depth`. */
  dlqDepth(queue?: string): Promise<number> {
    return this.dlq.depth(queue)
  }

  /** The same as `dlq.depthByQueue`. */
  dlqDepthByQueue(queue?: string): Promise<Depth['queues']> {
    return this.dlq.depthByQueue(queue)
  }

  /** The same as `dlq.retry`. */
  retryFromDlq(id: string, options?: RetryOptions): Promise<Acted> {
    return this.dlq.retry(id, options)
  }

  /** The same as `dlq.retryMany`. */
  bulkRetryFromDlq(selector: Selector, options?: BulkRetryOptions): Promise<OperationHandle> {
    return this.dlq.retryMany(selector, options)
  }

  /** The same as `dlq.move`. */
  moveFailedToDlq(id: string, options?: ActOptions): Promise<Acted> {
    return this.dlq.move(id, options)
  }

  /** The same as `dlq.move`. */
  failToDlq(id: string, options?: ActOptions): Promise<Acted> {
    return this.dlq.move(id, options)
  }

  /** The same as `dlq.moveMany`. */
  bulkMoveFailedToDlq(selector: Selector, options?: BulkOptions): Promise<OperationHandle> {
    return this.dlq.moveMany(selector, options)
  }

  /** The same as `dlq.purgeMany`. */
  purgeDlq(selector: Selector, options?: BulkOptions): Promise<OperationHandle> {
    return this.dlq.purgeMany(selector, options)
  }

  /** The same as `dlq.purge`. */
  purgeDlqJob(id: string, options?: ActOptions): Promise<Acted> {
    return this.dlq.purge(id, options)
  }

  private send({ job, bytes }: Prepared, options: EnqueueOptions | undefined): Promise<Enqueued> {
    if (options?.tx !== undefined) return this.storeIn(options.tx, job)
    // Keys make statements wait for each other, so one with a key goes alone.
    if (job.uniqueKey !== null) return this.storeAlone(job)
    return this.coalescer.enqueue(job, bytes)
  }

  private async storeIn(tx: unknown, job: NewJob): Promise<Enqueued> {
    return (await this.store.enqueueIn(toExecutor(tx), [job]))[0]!
  }

  private async storeAlone(job: NewJob): Promise<Enqueued> {
    return (await this.store.enqueue([job]))[0]!
  }
}

function isEntries(first: unknown): first is readonly MixedEntry[] {
  return Array.isArray(first)
}

/** Where nobody has joined a sender to it, workers send. */
const NOBODY_SENDS: WebhooksOptions = { allowPrivate: false, sendDue: () => Promise.resolve() }
