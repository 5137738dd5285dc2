import { hostname, userInfo } from 'node:os'
import { Client } from './client/client.js'
import { type Doctor, examine } from './client/doctor.js'
import type { DeathEvent } from './job/death.js'
import { SpillwayError } from './job/errors.js'
import { Maintenance } from './maintenance/maintenance.js'
import { Sending } from './maintenance/sending.js'
import { StandingMaintenance } from './maintenance/standing.js'
import type { Metrics, MetricsOptions } from './metrics/metrics.js'
import { MetricsServer, type MetricsServerOptions } from './metrics/server.js'
import { type PostgresStore, postgresStore } from './store/postgres/store.js'
import type { MigrationReport, SchemaStatus } from './store/store.js'
import { Worker } from './worker/worker.js'
import type { WorkerOptions } from './worker/worker-options.js'

export interface SpillwayOptions {
  /**
   * A PostgreSQL 15 or newer: `postgres://user:password@host:port/database`. Without one, the embedded database of this
   * folder is started and migrated when it is first used; with NODE_ENV=production that is refused.
   */
  readonly url?: string | undefined
  /** Default: `spillway`. */
  readonly schema?: string
  /** Who acts, stored with every operator action. Default: user and host. */
  readonly actor?: string
  /** Largest payload, in UTF-8 bytes. Default: 1 MiB. */
  readonly maxPayloadBytes?: number
  /** Connections for everything but workers, which have four of their own, two more for kinds with `onDeathTx`, and one while they pass over what they do not serve. Default: 10. */
  readonly maxConnections?: number
  /**
   * A replica of it. Lists of dead, held and finished jobs and of the audit are read there, but for what this process
   * has just changed; where the replica is away, from `url`.
   */
  readonly readUrl?: string | undefined
  /** Whether statements are prepared under names. Default: found out, because a transaction pooler may lose them. */
  readonly prepare?: boolean
  /** Whether workers listen for notices; without it they poll. Default: true. */
  readonly listen?: boolean
  /** Where callbacks can be answered over HTTP, for its workers: what `callback.url` begins with. */
  readonly callbackUrl?: string | undefined
  readonly webhooks?: {
    /**
     * Whether webhooks may lead to addresses that are not of the public internet, for this process as creator and as
     * sender. Default: false.
     */
    readonly allowPrivate?: boolean
  }
  /** Told of trouble that repairs itself, such as a connection that broke while idle. */
  readonly onError?: (error: Error) => void
}

export interface SpillwayWorkerOptions extends WorkerOptions {
  /** Whether this process also takes part in maintenance: promoting, rescuing, retention. Default: true. */
  readonly maintenance?: boolean
  /** Serves `/metrics`, `/healthz` and `/readyz` while the worker runs. Default: not. */
  readonly metrics?: MetricsServerOptions
}

/**
 * Spillway on one database: enqueue, inspect and operate; {@link Spillway.worker} makes a worker on the same store.
 * Nothing is connected before it is used.
 *
 * @example
 * const spillway = new Spillway({ url: process.env.DATABASE_URL })
 * await spillway.migrate()
 */
export class Spillway extends Client {
  private readonly postgres: PostgresStore
  private readonly releases: (() => Promise<void>)[]
  private readonly callbackUrl: string | undefined
  private readonly allowPrivate: boolean
  private readonly ownWorkers = new Set<Worker>()
  private measured: Promise<Metrics> | undefined
  private ready: Metrics | undefined

  constructor(options: SpillwayOptions = {}) {
    const {
      url,
      readUrl,
      schema,
      maxConnections,
      prepare,
      listen,
      onError,
      actor = whoAmI(),
      maxPayloadBytes,
    } = options
    const releases: (() => Promise<void>)[] = []
    const store = postgresStore({
      url: url ?? embedded(schema, releases),
      ...(schema === undefined ? {} : { schema }),
      ...(maxConnections === undefined ? {} : { maxConnections }),
      ...(readUrl === undefined ? {} : { readUrl }),
      ...(prepare === undefined ? {} : { prepare }),
      ...(listen === undefined ? {} : { listen }),
      ...(onError === undefined ? {} : { onError }),
    })
    const allowPrivate = options.webhooks?.allowPrivate ?? false
    super({ store, actor, maxPayloadBytes, webhooks: { allowPrivate, sendDue: () => sendDue(store, allowPrivate) } })
    this.postgres = store
    this.allowPrivate = allowPrivate
    this.releases = releases
    this.callbackUrl = options.callbackUrl
  }

  /** Brings the schema to this version; safe from many processes at once. @throws `schema_newer` */
  migrate(): Promise<MigrationReport> {
    return this.postgres.migrate()
  }

  /** Where the schema stands, without changing it. */
  schemaStatus(): Promise<SchemaStatus> {
    return this.postgres.schemaStatus()
  }

  /** @throws `schema_missing`, `schema_newer` where this program and the schema do not fit. */
  requireSchema(): Promise<void> {
    return this.postgres.requireSchema()
  }

  /** A worker on this store. It takes jobs from {@link Worker.start} to {@link Worker.stop}. */
  worker(options: SpillwayWorkerOptions): Worker {
    const { maintenance = true, metrics, callbackUrl = this.callbackUrl, ...rest } = options
    const own = { ...rest, callbackUrl }
    const worker: Worker = new Worker(this.postgres, own, [
      ...(metrics === undefined
        ? []
        : [
            new MetricsServer(
              metrics,
              () => worker,
              () => this.metrics(),
            ),
          ]),
      ...(maintenance ? [this.maintenanceOf(() => worker, own)] : []),
    ])
    this.ownWorkers.add(worker)
    worker.on('stopped', () => this.ownWorkers.delete(worker))
    if (metrics !== undefined) void this.metrics()
    this.ready?.observe(worker)
    return worker
  }

  /**
   * The metrics of the store and of this client's workers, as Prometheus text, a prom-client registry and OpenTelemetry
   * instruments. Counting begins with the first call; options of later calls are ignored.
   *
   * @example
   * const metrics = await spillway.metrics()
   * response.setHeader('content-type', metrics.contentType).end(await metrics.text())
   */
  metrics(options: MetricsOptions = {}): Promise<Metrics> {
    this.measured ??= import('./metrics/metrics.js').then((loaded) => {
      const metrics = new loaded.Metrics(this.postgres, options)
      for (const worker of this.ownWorkers) metrics.observe(worker)
      this.ready = metrics
      return metrics
    })
    return this.measured
  }

  /**
   * Looks for what is wrong with the database, the way to it and the store, and says of each what fixes it. Changes
   * nothing.
   *
   * @throws `store_unavailable` where the database cannot be reached.
   */
  doctor(): Promise<Doctor> {
    return examine(this.postgres)
  }

  /**
   * The maintenance duties alone, for a process that runs no jobs, such as a server: it also goes on with operations that
   * nobody is running. Started and stopped by the caller.
   */
  maintenance(): StandingMaintenance {
    return new StandingMaintenance(
      this.postgres,
      new Maintenance(this.postgres, { webhooks: { allowPrivate: this.allowPrivate } }),
    )
  }

  override async close(): Promise<void> {
    await super.close()
    for (const release of this.releases.splice(0)) await release()
  }

  private maintenanceOf(worker: () => Worker, { onDeath = [] }: WorkerOptions): Maintenance {
    return new Maintenance(this.postgres, {
      staleMs: () => worker().staleMs,
      // Sweeps answer with whole jobs only where somebody wants to hear of them.
      ...(onDeath.length > 0 && { onDeaths: (deaths: readonly DeathEvent[]) => worker().hearOfDeaths(deaths) }),
      onRescued: (rescued) => this.ready?.rescued(rescued),
      webhooks: { allowPrivate: this.allowPrivate },
    })
  }
}

/** Some rounds, for what somebody waits for; what is left then is the workers'. */
async function sendDue(store: PostgresStore, allowPrivate: boolean): Promise<void> {
  const sending = new Sending(store, { allowPrivate })
  for (let round = 0; round < 10 && (await sending.pass()) > 0; round++) await sending.idle()
}

function embedded(schema: string | undefined, releases: (() => Promise<void>)[]): () => Promise<string> {
  if (process.env.NODE_ENV === 'production') {
    throw new SpillwayError(
      'invalid_option',
      'no `url` was given, and the embedded database is not for production: set DATABASE_URL and pass it as `url`',
    )
  }
  let found: Promise<string> | undefined
  return () => {
    found ??= (async () => {
      const { startEmbedded } = await import('./embedded/index.js')
      const database = await startEmbedded()
      releases.push(() => database.release())
      const store = postgresStore({ url: database.url, ...(schema === undefined ? {} : { schema }), maxConnections: 1 })
      await store.migrate()
      await store.close()
      return database.url
    })()
    return found
  }
}

function whoAmI(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    // A container may run under a uid that has no name.
    return `uid ${process.getuid?.() ?? '?'}@${hostname()}`
  }
}

export type { Archive } from './client/archive.js'
export type { Audit } from './client/audit.js'
export type { BulkOptions, BulkRetryOptions } from './client/bulk-options.js'
export type { Callbacks, Extended, HeartbeatOptions } from './client/callbacks.js'
export {
  Client,
  type EnqueueEntry,
  type EnqueueOptions,
  type MixedEntry,
  type TransactionOption,
} from './client/client.js'
export type { DeadLetters } from './client/dead-letters.js'
export type { DecodingOptions } from './client/decoding.js'
export type { Doctor, Finding } from './client/doctor.js'
export type { Duties } from './client/duties.js'
export type { EventOptions, Events, ListEventsOptions, SubscribeOptions } from './client/events.js'
export type { FlowOptions, SpanOptions } from './client/filters.js'
export type { ImportedLine, ImportOptions, ImportReport } from './client/import.js'
export type { CheckedEdit, CloneOptions, EditPayloadOptions, Jobs, PurgeOptions } from './client/jobs.js'
export type { Listing, ListOptions } from './client/listing.js'
export type { Masking } from './client/masking.js'
export type { JobSettings, UniqueKey } from './client/new-job.js'
export type { Quarantine, QuarantineGetOptions, QuarantineReleaseOptions, ReleasedIds } from './client/quarantine.js'
export type { Queues } from './client/queues.js'
export type { RetryOptions } from './client/retry.js'
export type { RingInput, Rings } from './client/rings.js'
export type { MadeToken, TokenOptions, Tokens } from './client/tokens.js'
export type { CauseTarget, ExpiringOptions, MarkOptions, ResolveOptions } from './client/triage.js'
export type {
  NotReleasedJob,
  Release,
  ReleaseOptions,
  Undecodable,
  UndecodableCheck,
  UndecodableGroup,
  UndecodableSelector,
} from './client/undecodable.js'
export type { WebhookOptions } from './client/webhook-options.js'
export type { Webhook, WebhookChanges, Webhooks, WebhookWithSecret } from './client/webhooks.js'
export type { Why } from './client/why.js'
export type { Backoff } from './job/backoff.js'
export {
  type Callback,
  CallbackFailed,
  type CallbackFailure,
  CallbackGoneError,
  type CallbackOptions,
  CallbackSettledError,
  type CallbackState,
  type WaitedFor,
} from './job/callback.js'
export type { DeathEvent, DeathHandler, DeathTransaction, DeathTxHandler } from './job/death.js'
export {
  defineJob,
  type Handler,
  type HandlerContext,
  type JobDefinition,
  type JobHandler,
  type JobOptions,
} from './job/definition.js'
export type { Duration } from './job/duration.js'
export type { DutyName } from './job/duties.js'
export {
  AlreadyRetriedError,
  type ErrorCode,
  FingerprintQuarantinedError,
  InvalidStateError,
  isSpillwayError,
  PayloadRefusedError,
  PayloadTooLargeError,
  SpillwayError,
  UniqueConflictError,
} from './job/errors.js'
export { EVENT_TYPES, type EventType } from './job/event-types.js'
export type { HistoryEntry } from './job/history.js'
export type { DlqPart, Job, RuntimeDlqReason } from './job/job.js'
export type { QueuePolicy, QueuePolicyPatch, Retention } from './job/policy.js'
export type { Right, Role } from './job/rights.js'
export { type HandlerSignal, rateLimited, retryAfter, revoke, skip, snooze } from './job/signals.js'
export { JOB_STATES, type JobState } from './job/states.js'
export { verifyWebhook, type WebhookHeaders } from './job/webhook-signature.js'
export type { StandingMaintenance } from './maintenance/standing.js'
export { METRICS, type MetricDefinition, type MetricName, type Sample, type Samples } from './metrics/definitions.js'
export type { Metrics, MetricsOptions } from './metrics/metrics.js'
export type { MetricsServerOptions } from './metrics/server.js'
export type {
  Acted,
  Answered,
  ApiToken,
  AuditEntry,
  AuditFilter,
  CappedQueue,
  ClaimedJob,
  ClonedJob,
  ColdFilter,
  ColdJob,
  ColdMonth,
  Crash,
  Delivery,
  DeliveryFilter,
  Depth,
  DlqFilter,
  DlqFlow,
  DlqGroup,
  EditedPayload,
  Enqueued,
  ExpiringQueue,
  GroupFilter,
  JobEdit,
  JobFilter,
  LoggedEvent,
  MaskedPath,
  MigrationReport,
  Page,
  PayloadVersion,
  Pruned,
  Quarantined,
  QuarantinedDetail,
  QueueActivity,
  RegisteredWorker,
  Released,
  RemovedJobs,
  SchemaStatus,
  StoredDuty,
  StoredQueue,
  StoredRing,
  Triage,
  TriageStatus,
  UnreviewedQueue,
  UnservedKind,
} from './store/store.js'
export { type AbortCause, AttemptAborted } from './worker/attempt.js'
export { CallbackPending } from './worker/callbacks.js'
export type { WorkerEvents } from './worker/events.js'
export type { QueueUsage, WorkerHealth } from './worker/health.js'
export { Worker } from './worker/worker.js'
export type { StopOptions, WorkerOptions } from './worker/worker-options.js'
