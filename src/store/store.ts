import type { CallbackFailure, CallbackState } from '../job/callback.js'
import type { DeathEvent, DeathTransaction } from '../job/death.js'
import type { DutyName } from '../job/duties.js'
import type { ErrorCode } from '../job/errors.js'
import type { Job } from '../job/job.js'
import type { QueuePolicy, QueuePolicyPatch } from '../job/policy.js'
import type { Selector } from '../job/selector.js'
import type { JobState } from '../job/states.js'

/**
 * The port: what the rest of the product asks of a database, written from the caller's side.
 *
 * Every method that moves a job is one guarded, fenced transition: it happened whole or not at all, and what comes
 * back says which. Errors are `SpillwayError`s; `store_unavailable` means the database could not be reached and, where
 * a method does not say otherwise, that the outcome is unknown.
 */
export interface Store
  extends Producing,
    Running,
    Upkeep,
    Inspecting,
    Operating,
    Bulk,
    Editing,
    Reporting,
    Carrying,
    Triaging,
    Archiving,
    Overseeing,
    Answering,
    Eventing,
    Hooking,
    Serving,
    Undecodables,
    Quarantining,
    Idempotent,
    Access,
    Diagnosing {
  /** What this database can do; callers ask these instead of asking which database it is. */
  readonly capabilities: Capabilities
  /** Brings the schema to this version. Safe to call from many processes at once; one does the work. */
  migrate(): Promise<MigrationReport>
  /** The schema's version, and what {@link Store.migrate} would do. */
  schemaStatus(): Promise<SchemaStatus>
  /**
   * Hears of work, aborts and policy changes as they happen. Where the database cannot push (a transaction pooler), the
   * returned listening is not `live` and callers poll faster.
   */
  listen(onNotice: (notice: Notice) => void): Promise<Listening>
  /** Closes every connection. Safe to call twice. */
  close(): Promise<void>
}

export interface Capabilities {
  /** Whether {@link Store.listen} can push. */
  readonly listen: boolean
  /** Whether `enqueue({ tx })` can join a caller's transaction. */
  readonly transactions: boolean
}

export interface MigrationReport {
  readonly applied: readonly string[]
  readonly version: number
}

export interface SchemaStatus {
  /** 0 when there is no schema. */
  readonly version: number
  readonly latest: number
  readonly pending: readonly string[]
}

/** Something a process may want to act on at once. A lost notice costs at most one poll. */
export type Notice =
  | { readonly type: 'ready'; readonly queue: string; readonly priority: number; readonly position: string }
  | { readonly type: 'due'; readonly at: number }
  | { readonly type: 'abort'; readonly registration: string }
  | { readonly type: 'policy' }
  | { readonly type: 'operation' }
  /** Events were written that have no position yet. */
  | { readonly type: 'outbox' }
  /** The event log has grown to this position. */
  | { readonly type: 'events'; readonly position: string }
  /** The connection was re-established, so notices may have been missed. */
  | { readonly type: 'resync' }

export interface Listening {
  /** Whether notices were seen to arrive. */
  readonly live: boolean
  close(): Promise<void>
}

// ---------------------------------------------------------------------------------------------------------------------

/** A job as a producer hands it in. Everything was checked; texts are stored as they are. */
export interface NewJob {
  readonly queue: string
  readonly kind: string
  readonly version: number
  /** JSON text. */
  readonly payload: string
  readonly priority: number
  readonly maxAttempts: number
  /** null: now. The store's clock decides whether it is due. */
  readonly runAt: Date | null
  readonly deadline: Date | null
  readonly timeoutMs: number | null
  readonly uniqueKey: string | null
  /** What happens when a live or held job has the key. */
  readonly onConflict: 'fail' | 'skip' | 'replace'
  /** What happens while its fingerprint is quarantined. Default: refuse. */
  readonly onQuarantine?: 'refuse' | 'park'
  readonly tags: readonly string[] | null
  /** JSON text. */
  readonly metadata: string | null
  /** JSON text of `{completed, failed, cancelled, dlq}` in ms. */
  readonly retention: string | null
}

export interface Enqueued {
  readonly id: string
  /** False where `onConflict: 'skip'` found a holder: `id` is the holder's, and nothing was stored. */
  readonly inserted: boolean
  /** True where its fingerprint is quarantined and `onQuarantine: 'park'` has it held with the others. */
  readonly parked?: boolean
}

/** A transaction of the caller's, whatever library opened it. */
export interface Executor {
  execute(text: string, values: readonly unknown[]): Promise<readonly Record<string, unknown>[]>
}

export interface Producing {
  /**
   * Stores the jobs, all or none, in order. Durable when it resolves. A lost connection is repeated under the same
   * request, so the jobs are there exactly once.
   *
   * @throws `unique_conflict` with the holder's id, for `onConflict: 'fail'`; `fingerprint_quarantined`, unless
   *   `onQuarantine: 'park'`.
   */
  enqueue(jobs: readonly NewJob[]): Promise<readonly Enqueued[]>
  /** The same inside a transaction of the caller's: visible when it commits, gone when it rolls back. */
  enqueueIn(tx: Executor, jobs: readonly NewJob[]): Promise<readonly Enqueued[]>
}

// ---------------------------------------------------------------------------------------------------------------------

/** What a worker process says about itself. */
export interface WorkerInfo {
  readonly name: string
  readonly host: string
  readonly bootId: string
  readonly pidNamespace: string
  readonly pid: number
  /** Start time of the process, as the system tells it: tells a reused pid. */
  readonly pidStarted: string
  readonly queues: readonly string[]
  /** The (kind, version) pairs it can run. It is never given anything else. */
  readonly serves: readonly Served[]
  /** Of these, kinds whose deaths it writes together with code of its own. */
  readonly deathTxKinds?: readonly string[]
  readonly concurrency: number
  readonly version: string
  /** By kind, what its payloads are to be; only kinds whose schema library says so. */
  readonly schemas?: Readonly<Record<string, PublishedSchema>>
}

/** What a worker says the payloads of a kind are to be. */
export interface PublishedSchema {
  /** The version of the payloads it is about. */
  readonly version: number
  /** A JSON Schema, as JSON text. */
  readonly schema: string
}

export interface Served {
  readonly kind: string
  readonly version: number
}

/** A claimed job: this worker alone may run it, until it settles it or its lease is lost. */
export interface ClaimedJob {
  readonly id: string
  readonly queue: string
  readonly kind: string
  readonly version: number
  /** JSON text, as stored. */
  readonly payload: string
  readonly priority: number
  readonly attempt: number
  readonly crashAttempt: number
  readonly maxAttempts: number
  readonly chargeBase: number
  readonly runLease: number
  readonly generation: number
  readonly handbacks: number
  readonly uniqueKey: string | null
  readonly tags: readonly string[]
  /** JSON text. */
  readonly metadata: string | null
  readonly timeoutMs: number | null
  readonly createdAt: Date
  readonly runAt: Date
  /** By the store's clock at the claim; 0 or less has passed. */
  readonly deadlineInMs: number | null
  readonly leaseId: string
  /** Of the release that let it out of quarantine; null where none has. */
  readonly releaseId: string | null
  /**
   * Why its handler must not be entered: its fingerprint is quarantined; or it is suspected, and was claimed in company
   * before this worker knew.
   */
  readonly bar?: 'quarantined' | 'suspect' | undefined
}

/** How an attempt ended, ready to be written. The store takes everything else from the stored job. */
export type JobEnd =
  | { readonly event: 'complete'; readonly result: string | null }
  | { readonly event: 'retry'; readonly delayMs: number; readonly charge: 0 | 1; readonly entry: string | null }
  | {
      readonly event: 'dead'
      readonly reason: string
      readonly charge: 0 | 1
      /** History entry, JSON text. */
      readonly entry: string | null
      readonly cause: string
      readonly errorClass: string | null
      readonly errorMessage: string | null
      /** What the cause is called in lists. */
      readonly title: string
    }
  | { readonly event: 'snooze'; readonly delayMs: number }
  | { readonly event: 'revoke' }
  | { readonly event: 'handback' }
  /** It waits for a callback. `retryDelayMs`: until its next attempt, should that fail. */
  | { readonly event: 'wait'; readonly callbackId: string; readonly name: string; readonly retryDelayMs: number }
  /** Its fingerprint is quarantined, and the handler was not entered: held, uncharged. */
  | { readonly event: 'quarantine' }
  /** The payload cannot be read by this code: parked, uncharged. */
  | { readonly event: 'undecodable'; readonly reason: string; readonly entry: string }

export interface Settlement {
  readonly job: ClaimedJob
  readonly end: JobEnd
}

/**
 * What became of one settlement: written now; written by an earlier try of the same settlement; lost, because the lease
 * is no longer the worker's; or refused by the database. `state` is where the job went.
 */
export interface Settled {
  readonly outcome: 'applied' | 'already_applied' | 'lost' | 'refused'
  readonly state: JobState | 'gone' | null
  /** Why the database refused to write it: nothing has changed, the lease is still held, and it can be tried again. */
  readonly error?: unknown
}

/** What is done in the transaction that writes a death. */
export interface DeathAlong {
  /** Before the commit; what it throws undoes what it did, and the death is written without it. */
  inTransaction(tx: DeathTransaction, state: DeathEvent['state']): Promise<void>
  /** The history entry that says how it failed, JSON text. */
  failed(error: unknown): string
  /** How long it may take. */
  readonly patienceMs: number
}

/** What a worker learns when it looks up. */
export interface Pulse {
  /** Leases that were taken away: abort these attempts. */
  readonly aborts: readonly { readonly jobId: string; readonly leaseId: string; readonly reason: string }[]
  readonly policyVersion: string
  readonly quarantineVersion: string
  /** The store's clock, in ms since 1970. */
  readonly storeTime: number
  /** Queues of the worker that have something claimable. */
  readonly waiting: readonly string[]
  /** Queues nobody may claim from. */
  readonly paused: readonly string[]
  /** Somebody asks what only a worker knows; see {@link WorkerSession.takeQuestion}. */
  readonly hasQuestions: boolean
}

/** Which of these payloads would decode now. */
export interface Question {
  readonly id: string
  readonly kind: string
  readonly payloads: readonly HeldPayload[]
}

/** An undecodable job as much as decoding needs of it. */
export interface HeldPayload {
  readonly id: string
  readonly kind: string
  readonly version: number
  /** JSON text, as stored. */
  readonly payload: string
}

/** What code says of one payload. */
export interface Verdict {
  readonly id: string
  /** Of the kind and the payload it was asked about: a payload that is edited later has another one. */
  readonly fingerprint: string
  readonly ok: boolean
  /** Where it could not be read, and why; both empty for one that can. */
  readonly path: string
  readonly message: string
}

/** One registration of a worker process and everything it does under it. */
export interface WorkerSession {
  readonly registration: string
  /**
   * Takes at most `limit` jobs of the queue, best priority first, oldest first inside it; fewer means there are no
   * more now. One call at a time.
   *
   * @param except - Kinds that are left where they are for now.
   * @param onJobs - Told of the jobs as they come, before all of them are there; the answer holds them again.
   */
  claim(
    queue: string,
    limit: number,
    except?: ReadonlySet<string>,
    onJobs?: (jobs: readonly ClaimedJob[]) => void,
  ): Promise<readonly ClaimedJob[]>
  /** There are fingerprints that have crashed: their jobs are passed over by {@link claim}, to run one by one. */
  readonly hasSuspects: boolean
  /**
   * Takes the turn to run the queue's suspects alone, unless another worker has it, or none of them is due here. It is
   * kept until it is left, or the registration ends.
   */
  takeTurn(queue: string): Promise<'ours' | 'theirs' | 'none'>
  leaveTurn(queue: string): Promise<void>
  /** Takes one suspect of the queue, for a worker that runs nothing else. Undefined: there is none. */
  claimSuspect(queue: string): Promise<ClaimedJob | undefined>
  /** Whether a suspect has to stay alone until it ends, because one more crash convicts its fingerprint. */
  isAloneToTheEnd(job: ClaimedJob): boolean
  /** Tells of jobs below what the session has already passed. */
  heard(notice: Notice & { type: 'ready' }): void
  /** Writes how attempts ended, each alone fenced; the answers stand in the same order. Repeats lost connections. */
  settle(settlements: readonly Settlement[]): Promise<readonly Settled[]>
  /** Writes one death, and what goes along with it, in one transaction. Repeats lost connections. */
  settleDeath(settlement: Settlement, along: DeathAlong): Promise<Settled>
  /** Looks from the beginning: new work, aborts, policy. */
  pulse(): Promise<Pulse>
  /**
   * Says the process is alive, and hands back leases of this registration that the worker does not hold (an answer
   * that was lost). False: the registration was ended; abort everything and register anew.
   */
  beat(held: readonly ClaimedJob[]): Promise<boolean>
  /** Stores what the handler reports. False: the lease is lost. */
  progress(job: ClaimedJob, value: string): Promise<boolean>
  /**
   * The job's callback of that name in this generation, made where there is none, or where the last one failed and was
   * charged. Also this token answers it from now on. Undefined: the lease is lost.
   */
  openCallback(job: ClaimedJob, request: CallbackRequest): Promise<OpenCallback | undefined>
  /** What has become of a callback. A failure is charged to this attempt from now on. Undefined: the lease is lost. */
  callbackAnswer(job: ClaimedJob, callbackId: string): Promise<CallbackAnswer | undefined>
  /**
   * The name of the callback that the job has waited for in vain, where the sweep left it to this worker to give the job
   * up. That is charged to this attempt from now on. Undefined: there is none, or the lease is lost.
   */
  lateCallback(job: ClaimedJob): Promise<string | undefined>
  /** A question that this worker can answer, for nobody else to take; undefined when there is none. */
  takeQuestion(): Promise<Question | undefined>
  answerQuestion(id: string, verdicts: readonly Verdict[]): Promise<void>
  /** Says that the handler of a job that was cancelled while it ran has ended. */
  handlerEnded(job: ClaimedJob): Promise<void>
  /** Marks the process as stopping: what it still holds is returned uncharged once the process is gone. */
  stopping(): Promise<void>
  /** Ends the registration, handing back uncharged whatever it still has. */
  end(): Promise<void>
  /** Closes the session's connections without a word to the database. */
  close(): Promise<void>
}

export interface CallbackRequest {
  readonly name: string
  /** Hex digits of its SHA-256. */
  readonly tokenHash: string
  /** From when it is first made; null: no limit. */
  readonly timeoutMs: number | null
}

export interface CallbackAnswer {
  readonly state: CallbackState
  /** JSON text: what it was completed with, or a {@link CallbackFailure}; null while it is open and when it timed out. */
  readonly answer: string | null
}

export interface OpenCallback extends CallbackAnswer {
  readonly id: string
  readonly waitsUntil: Date | null
}

export interface Running {
  register(info: WorkerInfo): Promise<WorkerSession>
  /**
   * Says that the process behind an ended registration lives: it was cut off, not dead. The crashes charged for it are
   * taken off its jobs and their fingerprints; what only these had convicted is let go.
   */
  survived(registration: string): Promise<void>
}

// ---------------------------------------------------------------------------------------------------------------------

/** Work of the maintenance leader. Every method is one bounded pass of short transactions, safe beside any other. */
export interface Upkeep {
  /**
   * Takes or keeps the lease called `name` for `ttlMs`; who has it also learns what there is to do, and leaves word of
   * how its duties fare.
   */
  lead(name: string, holder: string, ttlMs: number, passes?: Passes): Promise<Lead>
  resign(name: string, holder: string): Promise<void>
  /** deferred → available, what is due, at most `limit`. `nextInMs`: until the next is due, null when none waits. */
  promote(limit: number): Promise<{ readonly moved: number; readonly nextInMs: number | null }>
  /** Ends registrations that were silent for `staleMs` and takes their jobs back, charging crashes. */
  rescue(staleMs: number, crashLimit: number): Promise<Rescued>
  /** Ends registrations of the same host, boot and pid namespace whose process is gone. */
  endGone(self: WorkerInfo, isAlive: (pid: number, pidStarted: string) => boolean): Promise<number>
  /**
   * Jobs whose deadline passed while they waited: → archived, at most `limit`. Kinds whose deaths a worker of the queue
   * writes together with code of its own are left to it: → available, for it to give them up.
   *
   * @param onDeaths - Told of the deaths, once they are durable.
   */
  expireDeadlines(limit: number, onDeaths?: (deaths: readonly DeathEvent[]) => void): Promise<number>
  /**
   * Jobs whose callback was not answered in time: → retryable, or archived with `callback_timeout` where no attempt is
   * left; at most `limit`. Deaths that a worker of the queue writes together with code of its own are left to it: →
   * available. `nextInMs`: until the next times out, null when none does.
   *
   * @param onDeaths - Told of the deaths, once they are durable.
   */
  timeOutCallbacks(
    limit: number,
    onDeaths?: (deaths: readonly DeathEvent[]) => void,
  ): Promise<{ readonly timedOut: number; readonly nextInMs: number | null }>
  /**
   * Jobs that were set aside come back where somebody serves them again; what no live worker of its queue has served for
   * the queue's `noHandlerAfterMs`, while there were some, is given up: → archived. At most `limit` of each.
   *
   * @param staleMs - A worker that was silent for longer is not live.
   * @param onDeaths - Told of the deaths, once they are durable.
   */
  judgeUnserved(staleMs: number, limit: number, onDeaths?: (deaths: readonly DeathEvent[]) => void): Promise<Judged>
  /** Where new rows go from now on, where a slot is full or old; carries stragglers forward; truncates drained slots. */
  turnRings(): Promise<Turned>
  /** Makes partitions ahead. */
  preparePartitions(): Promise<number>
  /**
   * Deletes what outlived its retention, at most `limit` rows of each kind (of each queue, for dead letters), of all
   * parts or of one. Each statement is a transaction of its own; what it deletes is counted by reason.
   */
  retain(limit: number, part?: RetainPart): Promise<Readonly<Record<string, number>>>
  /** Folds append-only deltas into their totals. */
  fold(limit: number): Promise<number>
  /** Records that a duty succeeded, or how it failed, and how often since the last report. */
  reportDuty(duty: string, error: string | null, failures?: number): Promise<void>
}

/** What retention is about; each part is swept on a schedule of its own. */
export type RetainPart = 'finished' | 'dead' | 'parked' | 'evict' | 'bookkeeping'

/** How duties fare in the process that leads: ms, by duty. */
export interface Passes {
  /** Since each last succeeded, of those that have since they were last told of. */
  readonly succeeded: Readonly<Record<string, number>>
  /** Since the pass under way began, where one is. */
  readonly underWay: Readonly<Record<string, number>>
}

/** Who leads, and, for the leader, a cheap look at what waits for it. */
export interface Lead {
  readonly leading: boolean
  /** Until the lease of whoever leads runs out. */
  readonly expiresInMs: number
  /** Until the next deferred job is due; 0 or less when one is. null: none waits. */
  readonly nextDueInMs: number | null
  /** Until the next callback times out; 0 or less when one has. null: none does. */
  readonly nextTimeoutInMs: number | null
  /** A job that waits has passed its deadline. */
  readonly hasExpired: boolean
  /** There are deltas to fold. */
  readonly hasDeltas: boolean
  /** An operation runs, and no living process is running it. */
  readonly hasOrphans: boolean
  /** There are events without a position. */
  readonly hasEvents: boolean
  /** A webhook has something to send. */
  readonly hasDeliveries: boolean
  /** Changes when jobs enter or are claimed. */
  readonly activity: string
  /** Duties somebody has stopped. */
  readonly pausedDuties: readonly string[]
  /** Changes with every policy, pause and limit. */
  readonly policyVersion: string
}

export interface Turned {
  readonly rotated: number
  readonly truncated: number
  readonly carried: number
  /** Rows came or went since the last look of this process, so another look soon is worth it. */
  readonly moving: boolean
}

export interface Judged {
  readonly returned: number
  readonly died: number
  /** Until some kind has waited for long enough, were it unserved all the time; null when none waits. */
  readonly nextInMs: number | null
}

export interface Rescued {
  readonly retried: number
  readonly quarantined: number
  readonly handedBack: number
}

// ---------------------------------------------------------------------------------------------------------------------

export interface Page<T> {
  readonly items: readonly T[]
  /** Hand it back for the next page; null at the end. */
  readonly cursor: string | null
  /** The search stopped after a bounded number of rows: there may be fewer items than asked for, and more behind it. */
  readonly partial?: boolean
}

export interface JobFilter {
  readonly state?: JobState
  readonly queue?: string
  /** Any of these. */
  readonly queues?: readonly string[]
  readonly kind?: string
}

export interface DlqFilter extends Omit<Selector, 'all'> {
  /** After that row in the list's order. */
  readonly beforeId?: string
  readonly beforeDlqAt?: Date
}

/** What can be counted without reading rows. */
export interface CauseFilter {
  readonly queue?: string | undefined
  readonly queues?: readonly string[] | undefined
  readonly kind?: string | undefined
  readonly cause?: string | undefined
}

export interface PageRequest {
  readonly limit: number
  readonly cursor?: string
}

export interface Depth {
  readonly total: number
  readonly queues: readonly { readonly queue: string; readonly depth: number; readonly oldestAt: Date | null }[]
}

export interface StoredQueue {
  readonly queue: string
  readonly policy: QueuePolicy
  readonly pausedAt: Date | null
  readonly pausedBy: string | null
  readonly pausedReason: string | null
  readonly updatedAt: Date | null
  /** Jobs per state, where cheap to say. */
  readonly counts?: Readonly<Partial<Record<JobState, number>>>
}

export interface Inspecting {
  /** The job wherever it is; undefined when it is nowhere. */
  getJob(id: string, options?: { payload?: boolean }): Promise<Job | undefined>
  /** Newest id first; without payload and history. */
  listJobs(filter: JobFilter, page: PageRequest): Promise<Page<Job>>
  countJobs(): Promise<Readonly<Record<JobState, number>>>
  /** (dlq_at, id) descending; without payload and history. */
  listDlq(filter: DlqFilter, page: PageRequest): Promise<Page<Job>>
  dlqDepth(queue?: string): Promise<Depth>
  /** How many dead letters there are by what their causes tell: exact, however many lie there, without reading them. */
  countDlq(filter: CauseFilter): Promise<number>
  getQueue(queue: string): Promise<StoredQueue>
  listQueues(): Promise<readonly StoredQueue[]>
  listWorkers(): Promise<readonly RegisteredWorker[]>
}

export interface RegisteredWorker {
  readonly registration: string
  readonly name: string
  readonly host: string
  readonly pid: number
  readonly state: 'running' | 'stopping'
  readonly queues: readonly string[]
  readonly kinds: readonly string[]
  readonly concurrency: number
  readonly running: number
  readonly startedAt: Date
  readonly heartbeatAt: Date
}

// ---------------------------------------------------------------------------------------------------------------------

/** Who acts, and why: stored with the effect. */
export interface Act {
  readonly actor: string
  readonly reason?: string | undefined
  readonly requestId?: string | undefined
}

export interface RetryOverrides {
  readonly queue?: string
  readonly priority?: number
  readonly runAt?: Date
  readonly maxAttempts?: number
  readonly deadline?: Date
  /** JSON text. */
  readonly payload?: string
}

export type RetryBudget = 'fresh' | 'keep' | { readonly extra: number }

export interface RetryRequest {
  readonly budget: RetryBudget
  readonly overrides: RetryOverrides
  readonly onConflict: 'fail' | 'skip' | 'replace'
  /** Past the cap on generations. */
  readonly force: boolean
}

/** What an action by id did: the job's state after it, or why nothing moved. */
export interface Acted {
  readonly id: string
  readonly state: JobState | 'gone'
  /** False: it was already so (a repeated cancel). */
  readonly changed: boolean
  /** Of a retry or discard: the operation, already done, to undo it by. */
  readonly operation?: string
  /** For a retry into a queue that no live worker serves, and the like. */
  readonly warnings?: readonly string[]
}

export interface Operating {
  /** archived, failed → available or scheduled. @throws not_found, invalid_state, already_retried, … */
  retryJob(id: string, request: RetryRequest, act: Act): Promise<Acted>
  /** live, held → cancelled. A running one is aborted within a second. */
  cancelJob(id: string, act: Act): Promise<Acted>
  /** scheduled, retryable → available. */
  promoteJob(id: string, act: Act): Promise<Acted>
  /** scheduled, retryable, available → scheduled (or available when due), keeping everything else. */
  rescheduleJob(id: string, runAt: Date, act: Act): Promise<Acted>
  /** Changes the policy of a queue; every process follows within a second. */
  setQueue(queue: string, patch: QueuePolicyPatch, act: Act): Promise<StoredQueue>
  pauseQueue(queue: string, act: Act): Promise<StoredQueue>
  resumeQueue(queue: string, act: Act): Promise<StoredQueue>
}

// ---------------------------------------------------------------------------------------------------------------------

export type BulkAction = 'retry' | 'discard' | 'purge' | 'move'

/** What a bulk action is to do to every row that matches. */
export interface BulkRequest {
  readonly action: BulkAction
  readonly selector: Selector
  /** Of a purge by ids: of every job that is not live, not of dead letters only. */
  readonly anywhere?: boolean
  /** Of a retry. */
  readonly retry?: RetryRequest
  readonly dryRun: boolean
  /** Rows a second. */
  readonly rate: number | null
  /** Of its rows that wait to be claimed, before it adds more; 0 is no limit. */
  readonly maxWaiting: number
  /** So many go first, and the rest only when they did well. */
  readonly canary: number | null
  /** The share of canaries that may fail, 0 to 1. */
  readonly abortAbove: number
  readonly holdMs: number
  /** Id of a dry run: exactly the rows it saw, by its selector. */
  readonly preview: string | null
}

export type OperationState = 'running' | 'paused' | 'done' | 'cancelled' | 'failed'

/** What a dry run found. Counts by cause and refusals are of the first 20,000 rows where there are more. */
export interface OperationPreview {
  readonly lookedAt: number
  readonly samples: readonly {
    readonly id: string
    readonly kind: string
    readonly queue: string
    readonly diedAt: Date
    readonly cause: string | null
    readonly errorClass: string | null
    readonly errorMessage: string | null
  }[]
  readonly causes: readonly { readonly cause: string | null; readonly title: string | null; readonly count: number }[]
  readonly wouldRefuse: readonly { readonly code: string; readonly count: number }[]
}

/** Bulk work as a thing of its own: durable, bounded, accounted for row by row. */
export interface Operation {
  readonly id: string
  readonly action: BulkAction | 'undo'
  readonly selector: Selector
  readonly dryRun: boolean
  readonly state: OperationState
  /** Why it paused or failed. */
  readonly stateReason: string | null
  /** `counting`, `canary`, `moving`, `revisiting`, `newer` or `ended`. */
  readonly phase: string
  readonly matched: number
  readonly succeeded: number
  readonly skipped: number
  /** Of the skipped: how many it had counted and others moved before it came to them. Known when it ends. */
  readonly vanished: number
  readonly failed: number
  /** Matching deaths its snapshot did not see: they were left alone. Known when it ends. */
  readonly newerLeftAlone: number
  readonly rate: number | null
  readonly maxWaiting: number
  readonly canary: number | null
  readonly preview: OperationPreview | null
  readonly undoOf: string | null
  /** The operation that took this one back. */
  readonly undoneBy: string | null
  readonly createdBy: string
  readonly reason: string | null
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
}

/** One row an operation did not do, and why. */
export interface OperationRow {
  readonly id: string
  readonly outcome: 'skipped' | 'failed' | 'pending'
  readonly code: string
  readonly message: string
}

export interface BulkResult {
  readonly succeeded: readonly string[]
  readonly failed: readonly { readonly id: string; readonly code: string; readonly message: string }[]
  /** Already done; of a retry or discard, to undo it by. */
  readonly operation: Operation
}

export interface OperationStep {
  readonly operation: Operation
  /** How long to wait before the next step; null when there is none for this runner. */
  readonly waitMs: number | null
}

export interface Bulk {
  /** Notes the work; nothing has moved yet. Answers at once, however many rows match. */
  startOperation(request: BulkRequest, act: Act): Promise<Operation>
  /** Acts on at most 1,000 named jobs in one transaction and says of each what became of it. */
  actOnIds(ids: readonly string[], request: BulkRequest, act: Act): Promise<BulkResult>
  /**
   * Acts on one named job; refused, it leaves nothing, the operation included.
   *
   * @returns the operation, already done; `refused` says where the job is otherwise.
   */
  actOnOne(
    id: string,
    request: BulkRequest,
    act: Act,
  ): Promise<{ readonly operation: string } | { readonly refused: string }>
  /**
   * One batch: effect and accounting in one transaction. Any process may call it; of several, one at a time is at work.
   * Killed at any moment, every row is either done and counted or untouched.
   */
  stepOperation(id: string, runner: string): Promise<OperationStep>
  /** An operation that runs and that no living process is running. */
  orphanOperation(): Promise<string | undefined>
  getOperation(id: string): Promise<Operation | undefined>
  /** Newest first. */
  listOperations(page: PageRequest): Promise<Page<Operation>>
  operationRows(id: string, page: PageRequest): Promise<Page<OperationRow>>
  pauseOperation(id: string, act: Act): Promise<Operation>
  /** Going on after a canary has failed lets the rest follow. */
  resumeOperation(id: string, act: Act): Promise<Operation>
  cancelOperation(id: string, act: Act): Promise<Operation>
  /** Holds from the next batch on, over all runners. */
  setOperationRate(
    id: string,
    /** null: no rate; undefined: as it is. */
    rate: number | null | undefined,
    maxWaiting: number | null,
    act: Act,
  ): Promise<Operation>
  /** A new operation that takes back a retry (what has not started) or a discard. @throws `not_undoable` */
  undoOperation(id: string, act: Act): Promise<Operation>
}

// ---------------------------------------------------------------------------------------------------------------------

/** What an edit of a job that waits changes besides its payload. */
export interface JobEdit {
  readonly priority?: number
  readonly queue?: string
}

export interface EditedPayload extends Acted {
  /** The version the payload is now; the one before it is kept. */
  readonly version: number
}

export interface ClonedJob extends Acted {
  /** The job it is a copy of; `id` is the new one's. */
  readonly originId: string
}

/** A payload a job had or has. */
export interface PayloadVersion {
  /** From 1, the payload it was enqueued with. */
  readonly version: number
  /** JSON text, as stored. */
  readonly payload: string
  readonly editedAt: Date
  /** `enqueued` for the first; `retried` for one that a retry brought along. */
  readonly editedBy: string
  readonly reason: string | null
}

export interface Editing {
  /** any live but running, held → archived (failed on queues without a dead-letter queue). `act.reason` is its reason. */
  killJob(id: string, act: Act): Promise<Acted>
  /** In the same state, versioned. @param payload - JSON text, checked. @throws not_found, invalid_state, job_moving */
  editPayload(id: string, payload: string, act: Act): Promise<EditedPayload>
  /** scheduled, retryable, available: the same state with another priority or queue; an available job keeps its position. */
  editJob(id: string, edit: JobEdit, act: Act): Promise<Acted>
  /** completed, cancelled → a new job beside it. @throws not_found, invalid_state, deadline_passed, unique_conflict */
  cloneJob(id: string, overrides: RetryOverrides, act: Act): Promise<ClonedJob>
  /** Oldest first; empty for a job whose payload was never edited. */
  payloadVersions(id: string): Promise<readonly PayloadVersion[]>
}

// ---------------------------------------------------------------------------------------------------------------------

export interface GroupFilter {
  readonly queue?: string
  readonly kind?: string
  /** How people left the cause; `unmuted` is all but muted ones, `unreviewed` has deaths nobody has looked at. */
  readonly triage?: TriageStatus | 'unmuted' | 'unreviewed'
}

/** Dead letters of one cause in one queue. */
export interface DlqGroup {
  readonly queue: string
  readonly cause: string
  readonly kind: string
  /** Of the death that began the group. */
  readonly reason: string
  readonly errorClass: string | null
  readonly title: string | null
  /** How many lie there now. */
  readonly count: number
  /** The first and the last death, whether or not they still lie there. */
  readonly firstAt: Date
  readonly lastAt: Date
  /** One that lies there now. */
  readonly sampleId: string | null
  /** Arrivals in each of the last 24 hours, the current one last. */
  readonly trend: readonly number[]
  readonly status: TriageStatus
  /** What people said about the cause; null: nothing. */
  readonly triage: Triage | null
  /** The first death after the cause was resolved; null: it holds, or was never resolved. */
  readonly regressedAt: Date | null
  /** Dead letters nobody has looked at. Of a cause that somebody has: those among the next 2,000 that died of it since. */
  readonly unreviewed: number
}

export interface FlowFilter {
  readonly queue?: string
  readonly since: Date
  readonly by: 'minute' | 'hour'
}

/** What came into and left the dead-letter queue in one minute or hour; those without either are left out. */
export interface DlqFlow {
  readonly at: Date
  readonly arrived: number
  readonly departed: number
  /** By dlq reason, and `undone`, `imported`, `restored`. */
  readonly arrivedBy: Readonly<Record<string, number>>
  /** `retried`, `discarded`, `purged`, `expired`, `evicted`. */
  readonly departedBy: Readonly<Record<string, number>>
}

export interface AuditFilter {
  readonly action?: string
  readonly actor?: string
  readonly since?: Date
}

/** What somebody did: written in the transaction that did it. */
export interface AuditEntry {
  readonly id: string
  readonly at: Date
  readonly actor: string
  readonly action: string
  /** What it was done to, with snake_case keys. */
  readonly target: unknown
  readonly reason: string | null
  readonly result: unknown
  readonly requestId: string | null
}

export interface Reporting {
  /** Largest first. Reads no dead letter but one sample each. */
  dlqGroups(filter: GroupFilter, page: PageRequest): Promise<Page<DlqGroup>>
  /** Oldest first. */
  dlqHistory(filter: FlowFilter): Promise<readonly DlqFlow[]>
  /** Newest first. */
  listAudit(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>>
}

// ---------------------------------------------------------------------------------------------------------------------

/** A dead letter that comes from elsewhere, checked; JSON texts are stored as they are. */
export interface IncomingDeath {
  /** null: a new one is given out. */
  readonly id: string | null
  /** Columns of the dead letter by their names, but for those below; times as ISO text. */
  readonly columns: Readonly<Record<string, string | number | null>>
  readonly tags: readonly string[] | null
  /** JSON texts. */
  readonly payload: string
  readonly metadata: string | null
  readonly retention: string | null
  readonly progress: string | null
  /** JSON text of a list. */
  readonly history: string
  readonly title: string
}

/** What became of one incoming dead letter, in the order given: the id it has here, or why it was refused. */
export type Landed =
  | { readonly imported: true; readonly id: string }
  | { readonly imported: false; readonly code: ErrorCode; readonly message: string }

export interface Carrying {
  /** Dead letters as one line of JSON each, newest death first; payloads stand in them as they are stored. */
  exportDlq(filter: DlqFilter, page: PageRequest): Promise<Page<string>>
  /** – → archived, in one transaction. One whose id is anywhere is refused alone. */
  importDlq(deaths: readonly IncomingDeath[], act: Act): Promise<readonly Landed[]>
}

// ---------------------------------------------------------------------------------------------------------------------

/** What became of an answer. */
export interface Answered {
  readonly callbackId: string
  /** The callback's name. */
  readonly name: string
  readonly jobId: string
  /** Where the job is now; `gone` for one that died where none are kept. */
  readonly jobState: JobState | 'gone'
}

/**
 * Answering callbacks. Who has the token may. Each is one guarded transition: of many answers, a time-out, a cancel and
 * a deadline exactly one comes first. A lost connection is repeated, and the caller's own answer is recognised.
 *
 * All throw `callback_not_found`; `callback_settled` where there is an answer, or it timed out; `callback_gone` where the
 * job has ended, was cancelled or given up. Then nothing was changed.
 */
export interface Answering {
  /** waiting → available. Where the job does not wait for it yet, the answer is kept. @param answer - JSON text. */
  completeCallback(tokenHash: string, answer: string): Promise<Answered>
  /**
   * waiting → retryable, or archived (`attempts_exhausted`) where no attempt is left. Where the job does not wait for it
   * yet, the failure is kept for it.
   */
  failCallback(tokenHash: string, failure: CallbackFailure): Promise<Answered>
  /**
   * Moves the time-out to `timeoutMs` from now, if that is later; null: the time it was made with. One without a time-out
   * stays so.
   */
  extendCallback(tokenHash: string, timeoutMs: number | null): Promise<Answered & { readonly waitsUntil: Date | null }>
}

// ---------------------------------------------------------------------------------------------------------------------

/** Something that happened to a job, as whoever wants to be told of it sees it. Never a payload. */
export interface LoggedEvent {
  /** Of the transition: the same wherever the event is told of. */
  readonly id: string
  /** Its place in the log, from 1, without gaps; what a reader goes on from. */
  readonly position: string
  /** When it happened. */
  readonly at: Date
  /** One of `EVENT_TYPES`; a newer version may write others. */
  readonly type: string
  readonly jobId: string
  readonly queue: string
  readonly kind: string
  readonly generation: number
  readonly reason: string | null
  readonly cause: string | null
  /** At most 500 characters, masked. */
  readonly message: string | null
}

export interface EventFilter {
  readonly types?: readonly string[]
  readonly queue?: string
  readonly kind?: string
}

export interface EventBatch {
  readonly events: readonly LoggedEvent[]
  /** Everything up to here was looked at. */
  readonly position: string
  /** There is nothing behind it now. */
  readonly isEnd: boolean
}

export interface Eventing {
  /**
   * Gives positions to events that were committed, at most `limit`, so that they can be read. One at a time is at it,
   * however many call. A reader that has passed a position never misses one below it.
   */
  sequenceEvents(limit: number): Promise<number>
  /** Events behind a position, in order; looks at a bounded part of the log. */
  readEvents(filter: EventFilter, after: string, limit: number): Promise<EventBatch>
  /** The newest position, and how long events are kept. */
  eventHead(): Promise<{ readonly position: string; readonly retentionMs: number }>
  setEventRetention(ms: number, act: Act): Promise<number>
}

// ---------------------------------------------------------------------------------------------------------------------

/** Which events a webhook is told of, and how. Null is all of them. */
export interface WebhookSettings {
  readonly url: string
  readonly description: string | null
  readonly types: readonly string[] | null
  readonly queues: readonly string[] | null
  readonly kinds: readonly string[] | null
  readonly reasons: readonly string[] | null
  /** One request for all events of so many ms; null: one for each event. */
  readonly digestMs: number | null
  /** How many events a digest shows beside its counts. */
  readonly digestEvents: number
}

export interface StoredWebhook extends WebhookSettings {
  readonly id: string
  readonly state: 'active' | 'paused'
  /** Why it is paused. */
  readonly stateReason: string | null
  /** Up to which position of the event log deliveries were made. */
  readonly position: string
  /** Tries in a row that failed. */
  readonly failures: number
  readonly lastError: string | null
  /** Deliveries that are still to be sent, and those that were given up. */
  readonly pending: number
  readonly dead: number
  readonly secrets: readonly WebhookSecret[]
  readonly createdBy: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface WebhookSecret {
  readonly secret: string
  /** Until when requests are signed with it; null: for good. */
  readonly until: Date | null
}

export interface WebhookPatch extends Partial<WebhookSettings> {
  readonly paused?: boolean
  /** A new secret; the one before is signed with for so long. */
  readonly rotate?: { readonly secret: string; readonly keepMs: number }
}

/** One message to a webhook, whatever became of it. */
export interface Delivery {
  readonly id: string
  readonly webhookId: string
  /** The same at every try: the receiver's key against doing things twice. */
  readonly messageId: string
  readonly type: 'event' | 'digest' | 'test'
  readonly state: 'pending' | 'delivered' | 'dead'
  readonly attempts: number
  readonly nextAt: Date | null
  readonly lastStatus: number | null
  readonly lastError: string | null
  readonly createdAt: Date
  readonly endedAt: Date | null
}

export interface DeliveryFilter {
  readonly webhookId?: string
  readonly state?: Delivery['state']
}

/** A delivery somebody has taken to send now. */
export interface DueDelivery {
  readonly id: string
  readonly webhookId: string
  readonly messageId: string
  readonly type: Delivery['type']
  /** Of this try, from 1. */
  readonly attempt: number
  /** Failures of the webhook in a row when it was taken. */
  readonly failures: number
  readonly url: string
  readonly secrets: readonly string[]
  /** JSON text; null: its events are not in the log any more. */
  readonly body: string | null
}

export type SendOutcome =
  | { readonly ok: true; readonly status: number }
  | {
      readonly ok: false
      readonly status: number | null
      readonly error: string
      /** The receiver is not there any more, for good. */
      readonly isGone: boolean
      /** There is nothing to send any more: not the receiver's fault. */
      readonly isLost: boolean
    }

/** How failures are dealt with. */
export interface SendTerms {
  readonly retryInMs: number
  readonly maxAttempts: number
  /** Failures in a row after which the webhook is paused. */
  readonly pauseAfter: number
}

export interface Hooking {
  createWebhook(settings: WebhookSettings, secret: string, act: Act): Promise<StoredWebhook>
  listWebhooks(): Promise<readonly StoredWebhook[]>
  getWebhook(id: string): Promise<StoredWebhook | undefined>
  /** @throws `not_found` */
  updateWebhook(id: string, patch: WebhookPatch, act: Act): Promise<StoredWebhook>
  /** With its deliveries. @throws `not_found` */
  deleteWebhook(id: string, act: Act): Promise<void>
  /** A message about nothing, sent also while the webhook is paused. @throws `not_found` */
  testWebhook(id: string, act: Act): Promise<Delivery>
  /** Newest first. */
  listDeliveries(filter: DeliveryFilter, page: PageRequest): Promise<Page<Delivery>>
  getDelivery(id: string): Promise<Delivery | undefined>
  /** Any delivery, to be sent once more under the same message id. @throws `not_found` */
  redeliver(id: string, act: Act): Promise<Delivery>

  /** Makes deliveries of new events for one webhook that is behind; false when none is. */
  planDeliveries(): Promise<boolean>
  /** Takes what is due, each for a minute: whoever dies meanwhile has it sent again by another. */
  claimDeliveries(limit: number, perWebhook: number, except: readonly string[]): Promise<readonly DueDelivery[]>
  /** What became of a try. One that was taken again meanwhile is not touched. */
  recordSend(delivery: DueDelivery, outcome: SendOutcome, terms: SendTerms): Promise<void>
  /** The try did not take place: it is due again. */
  releaseDelivery(delivery: DueDelivery): Promise<void>
}

// ---------------------------------------------------------------------------------------------------------------------

/** A kind and version that has jobs in a queue which live workers take, and which none of these serves. */
export interface UnservedKind {
  readonly queue: string
  readonly kind: string
  readonly version: number
  /** So far; time in which nobody took from the queue does not count. */
  readonly waitedMs: number
  /** After so many its jobs are given up. */
  readonly limitMs: number
}

export interface Serving {
  /** What the newest registered worker publishes for the kind. Undefined: nobody serves it, or its schema cannot say. */
  publishedSchema(kind: string): Promise<PublishedSchema | undefined>
  /** Longest first. */
  unservedKinds(): Promise<readonly UnservedKind[]>
  /** Asks the workers of a kind and version; the answer is {@link workersAnswer}'s. @returns the question's id. */
  askWorkers(kind: string, version: number, ids: readonly string[]): Promise<string>
  /** Undefined: nobody has answered yet. */
  workersAnswer(question: string): Promise<readonly Verdict[] | undefined>
  withdrawQuestion(question: string): Promise<void>
}

export interface UndecodableFilter {
  readonly queue?: string
  readonly kind?: string
  readonly ids?: readonly string[]
}

/** One job to release, and with which payload: null releases whatever it is. */
export interface ReleaseOf {
  readonly id: string
  readonly fingerprint: string | null
}

/** Why a job was not released, beside what {@link Verdict} says. */
export interface NotReleased {
  readonly id: string
  readonly code: 'not_found' | 'invalid_state' | 'job_moving'
  readonly message: string
}

export interface Undecodables {
  /** Newest id first, with their payloads. */
  undecodablePayloads(filter: UndecodableFilter, page: PageRequest): Promise<Page<HeldPayload>>
  /** undecodable → available, at most 1,000, in one statement with its audit row. */
  releaseUndecodable(
    jobs: readonly ReleaseOf[],
    forced: boolean,
    act: Act,
  ): Promise<{ readonly released: readonly string[]; readonly refused: readonly NotReleased[] }>
}

// ---------------------------------------------------------------------------------------------------------------------

/** A fingerprint (kind and payload) of which something is held because it killed workers, or was handed back too often. */
export interface Quarantined {
  readonly fingerprint: string
  readonly kind: string
  readonly queue: string
  readonly heldAt: Date
  /** Every job of the fingerprint is held. False: only single jobs are, which used up their starts by themselves. */
  readonly convicted: boolean
  /** Its jobs are on their way back. */
  readonly releasing: boolean
  /** The job that was released ahead, on whose success the rest follows. */
  readonly canaryId: string | null
  /** Jobs that are held. */
  readonly held: number
  /** Crashes that were counted. */
  readonly crashes: number
  readonly lastCrashAt: Date | null
}

/** One worker process that died with a job of the fingerprint. */
export interface Crash {
  readonly at: Date
  readonly worker: string | null
  readonly host: string | null
  readonly jobId: string
  /** Nothing else ran in the process: only such a crash convicts. */
  readonly alone: boolean
  /** False: another trace of a crash that is counted already. */
  readonly counted: boolean
  /** Why it is no longer held against the fingerprint: `success`, `release` or `disconnected`; null while it is. */
  readonly closedBy: string | null
}

export interface QuarantinedDetail extends Quarantined {
  /** Newest first, at most 200. */
  readonly crashLog: readonly Crash[]
  /** Names of the workers that died. */
  readonly workers: readonly string[]
  /** The first 100 that are held, and the first 100 that wait and are blocked. */
  readonly jobs: readonly {
    readonly id: string
    readonly queue: string
    readonly state: JobState
    /** Why it is held; null for one that waits. */
    readonly reason: string | null
    readonly at: Date
  }[]
  /** Jobs that wait and will be held when they are claimed or due. */
  readonly blocked: number
  /** There are more jobs of the kind than were looked at. */
  readonly blockedIsPartial: boolean
  /** A payload as it is stored; only where it was asked for. */
  readonly payloadText?: string
}

export interface Released {
  readonly releaseId: string
  /** Jobs that are available again. */
  readonly released: number
  /** Of these, where only some were released. */
  readonly ids?: readonly string[]
}

export interface Quarantining {
  /** Newest first. */
  listQuarantine(page: PageRequest): Promise<Page<Quarantined>>
  getQuarantined(fingerprint: string, options?: { payload?: boolean }): Promise<QuarantinedDetail | undefined>
  /**
   * quarantined → available, all of a fingerprint, which is accepted and run again. What is interrupted on the way is
   * finished by the maintenance. Repeated, it goes on. @throws `not_found`
   */
  releaseFingerprint(fingerprint: string, act: Act): Promise<Released>
  /** quarantined → available, the oldest job alone. @throws `not_found`, `invalid_state` where one is out. */
  releaseCanary(fingerprint: string, act: Act): Promise<Released>
  /** quarantined → available, those of the jobs that are held. */
  releaseJobs(ids: readonly string[], act: Act): Promise<Released>
  /** Lets go what releases and canaries have begun to; how many jobs moved. */
  finishReleases(): Promise<number>
}

// ---------------------------------------------------------------------------------------------------------------------

/** How people left a cause: `muted` before the others, `regressed` is resolved and has failed since. */
export type TriageStatus = 'new' | 'acknowledged' | 'muted' | 'resolved' | 'regressed'

/** What people said about a dead letter or a cause. All of it counts as having looked at it. */
export interface Triage {
  readonly acknowledgedAt: Date | null
  readonly acknowledgedBy: string | null
  readonly note: string | null
  readonly notedAt: Date | null
  readonly notedBy: string | null
  readonly mutedUntil: Date | null
  readonly mutedAt: Date | null
  readonly mutedBy: string | null
  readonly resolvedAt: Date | null
  readonly resolvedBy: string | null
  /** Where the fix is. */
  readonly link: string | null
  /** Of a dead letter: it died again after it was resolved. Of a cause: its first death since. */
  readonly regressedAt: Date | null
}

/** One dead letter, or all of a cause in a queue, also those to come. */
export type TriageTarget = { readonly id: string } | { readonly queue: string; readonly cause: string }

/** What is said; `clear` and null take it back. */
export type TriageChange =
  | { readonly action: 'ack'; readonly clear: boolean }
  | { readonly action: 'note'; readonly text: string | null }
  | { readonly action: 'mute'; readonly until: Date | null }
  | { readonly action: 'resolve'; readonly link: string | null; readonly clear: boolean }

export interface UnreviewedQueue {
  readonly queue: string
  /** Dead letters nobody has looked at. Of a cause that somebody has: those among the next 10,000 that died of it since. */
  readonly unreviewed: number
}

/** Dead letters of one queue that leave soon. */
export interface ExpiringQueue {
  readonly queue: string
  /** 10,000 is that many or more. */
  readonly count: number
  readonly firstAt: Date
}

/** A queue whose dead letters are capped. */
export interface CappedQueue {
  readonly queue: string
  readonly depth: number
  readonly maxRows: number
  /** At 80 % of the cap or above. */
  readonly isNearlyFull: boolean
}

export interface Triaging {
  /** Says it, and writes the audit row, in one statement. @throws not_found, invalid_state */
  triage(target: TriageTarget, change: TriageChange, act: Act): Promise<Triage>
  /** What was said about a dead letter itself; undefined: nothing, or there is none. */
  triageOf(id: string): Promise<Triage | undefined>
  /** Queues with dead letters nobody has looked at, by name. */
  unreviewed(queue?: string): Promise<readonly UnreviewedQueue[]>
  /** Queues with dead letters whose retention lapses within `withinMs`, by name. */
  expiring(withinMs: number, queue?: string): Promise<readonly ExpiringQueue[]>
  /** Queues with a cap on their dead letters, by name. */
  cappedQueues(): Promise<readonly CappedQueue[]>
}

// ---------------------------------------------------------------------------------------------------------------------

/** A job as it was when retention removed it. */
export interface ColdJob extends Job {
  /** `evicted`: its queue's cap on dead letters was reached. */
  readonly why: 'expired' | 'evicted'
  readonly archivedAt: Date
  /** Its own archive retention; null: for good. */
  readonly keepUntil: Date | null
}

export interface ColdFilter {
  readonly queue?: string
  readonly kind?: string
  /** Which it was in. */
  readonly state?: JobState
  readonly tag?: string
  readonly cause?: string
  readonly reason?: string
  /** In its error class or message. */
  readonly error?: string
  /** When it went to the archive: from, and before. */
  readonly since?: Date
  readonly until?: Date
}

/** One month of the archive. */
export interface ColdMonth {
  /** `2026-01` */
  readonly month: string
  readonly rows: number
  /** The last row's archive retention; null where one is kept for good, or there is none. */
  readonly keepUntil: Date | null
  /** It is over, and every row has outlived its own archive retention. */
  readonly isPrunable: boolean
}

export interface Pruned {
  readonly month: string
  readonly rows: number
}

export interface Archiving {
  /** Newest first, without payload and history. `partial`: the search looked at a bounded number of rows. */
  listCold(filter: ColdFilter, page: PageRequest): Promise<Page<ColdJob>>
  /** The same, whole. */
  exportCold(filter: ColdFilter, page: PageRequest): Promise<Page<ColdJob>>
  /** Whole; the newest where the archive has the id twice. */
  getCold(id: string): Promise<ColdJob | undefined>
  /** Oldest first. Reads every month's index. */
  coldMonths(): Promise<readonly ColdMonth[]>
  /**
   * cold → archived: equal to what it was, with `restored` in its history; retention counts from now.
   *
   * @throws `not_found`; `invalid_state` where it was not dead, or a job has its id.
   */
  restoreCold(id: string, act: Act): Promise<Acted>
  /** Drops a month for good. @param month - `2026-01`. @throws `not_found`, `archive_kept` */
  pruneCold(month: string, act: Act): Promise<Pruned>
}

// ---------------------------------------------------------------------------------------------------------------------

/** How a duty fares. When it last succeeded is known to about five seconds while some process leads. */
export interface StoredDuty {
  readonly duty: DutyName
  readonly lastSuccessAt: Date | null
  readonly lastError: string | null
  readonly lastErrorAt: Date | null
  /** Passes that failed, ever. */
  readonly failures: number
  readonly pausedAt: Date | null
  readonly pausedBy: string | null
  readonly pausedReason: string | null
}

/** When the slots of a ring are left for the next one. */
export interface StoredRing {
  readonly ring: 'ready' | 'leases'
  readonly head: number
  readonly rotatedAt: Date
  readonly rotateRows: number
  readonly rotateMs: number
}

export interface RingPatch {
  readonly rotateRows?: number
  readonly rotateMs?: number
}

export interface Overseeing {
  /** All there are, also those that never ran. */
  duties(): Promise<readonly StoredDuty[]>
  /** No process begins another pass of it, within a second; one under way ends. */
  pauseDuty(duty: DutyName, act: Act): Promise<StoredDuty>
  resumeDuty(duty: DutyName, act: Act): Promise<StoredDuty>
  rings(): Promise<readonly StoredRing[]>
  /** Holds from the next turn on, in every process. */
  setRing(ring: 'ready' | 'leases', patch: RingPatch, act: Act): Promise<StoredRing>
}

// ---------------------------------------------------------------------------------------------------------------------

/** A token of the HTTP API as it is shown: its secret is stored nowhere. */
export interface ApiToken {
  readonly id: string
  readonly name: string
  readonly rights: readonly string[]
  /** The only queues it reaches; null: all. */
  readonly queues: readonly string[] | null
  readonly createdAt: Date
  readonly createdBy: string
  readonly reason: string | null
  readonly expiresAt: Date
  readonly revokedAt: Date | null
  readonly revokedBy: string | null
  /** To the minute. */
  readonly lastUsedAt: Date | null
}

export interface NewToken {
  readonly name: string
  /** SHA-256 of the secret. */
  readonly hash: Buffer
  readonly rights: readonly string[]
  readonly queues: readonly string[] | null
  readonly ttlMs: number
}

/** Of a browser that has signed in. */
export interface NewSession {
  /** SHA-256 of its secret. */
  readonly hash: Buffer
  /** The token it was opened with, or what a JWT said, and until when it holds. */
  readonly of: { readonly token: string } | (SessionClaims & { readonly until: Date })
  readonly ttlMs: number
}

interface SessionClaims {
  readonly actor: string
  readonly rights: readonly string[]
  /** The only queues it reaches; null: all. */
  readonly queues: readonly string[] | null
}

/** Somebody who has signed in. */
export interface ApiSession extends SessionClaims {
  readonly expiresAt: Date
}

/** A place in payloads, metadata, results and progress whose value is shown to nobody. */
export interface MaskedPath {
  readonly path: string
  readonly createdAt: Date
  readonly createdBy: string
}

/** Who may come in, and what nobody is shown. */
export interface Access {
  createToken(token: NewToken, act: Act): Promise<ApiToken>
  /** Newest first, those that are over too. */
  listTokens(page: PageRequest): Promise<Page<ApiToken>>
  /** Holds from the next request on. One that was revoked before stays as it is. @throws `token_not_found` */
  revokeToken(id: string, act: Act): Promise<ApiToken>
  /** What a secret is compared with; undefined where the token is not there, was revoked, or has expired. */
  validToken(id: string): Promise<{ readonly hash: Buffer; readonly token: ApiToken } | undefined>
  tokenUsed(id: string): Promise<void>
  /** @returns until when it holds; undefined where its token is not valid. */
  openSession(session: NewSession): Promise<Date | undefined>
  /** Undefined where there is none, it is over, or its token is. */
  validSession(hash: Buffer): Promise<ApiSession | undefined>
  endSession(hash: Buffer): Promise<void>
  /** Writes an audit row for what moved nothing, such as showing a payload. `target` has snake_case keys. */
  note(action: string, target: unknown, act: Act): Promise<void>
  maskedPaths(): Promise<readonly MaskedPath[]>
  /** False: it was masked before. */
  maskPath(path: string, act: Act): Promise<boolean>
  /** False: it was not masked. */
  unmaskPath(path: string, act: Act): Promise<boolean>
}

// ---------------------------------------------------------------------------------------------------------------------

/** A request that may be sent again: the same key and the same body get the same answer. */
export interface IdempotentRequest {
  readonly actor: string
  readonly method: string
  readonly path: string
  readonly key: string
  /** Hash of what the request asks for. */
  readonly requestHash: string
}

export interface StoredAnswer {
  readonly status: number
  /** JSON text, repeated byte for byte. */
  readonly answer: string
}

/** The store inside one transaction: what is done through it is done when, and only when, that commits. */
export type StoreInTransaction = Operating &
  Answering &
  Editing &
  Bulk &
  Carrying &
  Triaging &
  Archiving &
  Overseeing &
  Undecodables &
  Quarantining &
  Access &
  Serving &
  Hooking &
  Pick<Eventing, 'eventHead' | 'setEventRetention'> &
  Pick<Producing, 'enqueue'> &
  Inspecting

export interface Idempotent {
  /**
   * Runs `work` once for the request: its effects and its answer are one transaction. The same request again, within
   * 24 h, gets that answer. A `work` that throws leaves nothing, the key included.
   *
   * @throws `idempotency_key_reused` where the key came with another body; `idempotency_in_progress` where the first is
   *   still running after 2 s.
   */
  idempotent(
    request: IdempotentRequest,
    work: (store: StoreInTransaction) => Promise<StoredAnswer>,
  ): Promise<StoredAnswer & { readonly replayed: boolean }>
}

// ---------------------------------------------------------------------------------------------------------------------

/** One look at everything worth watching, by the store's clock. Times that have not happened are null. */
export interface Measures {
  readonly schemaVersion: number
  /** What was ever counted, and never goes back: `arrived`, `departed`, `gone`, `expired`, by reason. */
  readonly totals: readonly {
    readonly queue: string
    readonly kind: string
    readonly reason: string
    readonly what: string
    readonly n: number
  }[]
  /** Jobs by queue and state; `unserved` are available ones that no worker could run. Counting stops at 100,000 a slot. */
  readonly jobs: readonly { readonly queue: string; readonly state: string; readonly n: number }[]
  /** Kinds with jobs of some version that no worker of their queue serves, and for how long this has been so. */
  readonly unserved: readonly { readonly queue: string; readonly kind: string; readonly seconds: number }[]
  /** How long the oldest job that can be claimed has been waiting, by queue. */
  readonly lag: readonly { readonly queue: string; readonly seconds: number }[]
  readonly dlq: readonly {
    readonly queue: string
    readonly depth: number
    readonly unreviewed: number
    readonly oldestSeconds: number
  }[]
  readonly workers: readonly { readonly queue: string; readonly n: number }[]
  readonly pausedQueues: readonly string[]
  /** How late the promotion of the job that was due first is; 0 when none is due. */
  readonly dueLagSeconds: number
  readonly duties: readonly {
    readonly duty: string
    readonly lastSuccessAt: Date | null
    readonly lastErrorAt: Date | null
    readonly lastError: string | null
    readonly pausedAt: Date | null
    readonly pausedBy: string | null
    readonly pausedReason: string | null
    /** For how long the pass under way has been running; null where none is, or nobody leads. */
    readonly underWaySeconds: number | null
  }[]
  /** Whether some process leads the maintenance. */
  readonly isLed: boolean
  readonly rings: readonly { readonly ring: string; readonly usedSlots: number; readonly bytes: number }[]
  /** Leases of workers that are gone or silent, not taken back yet. */
  readonly expiredLeases: number
  readonly openOperations: number
  /** Dead letters that retention deletes within 3 days, by queue; at most 10,000 of each are looked at. */
  readonly expiring: readonly { readonly queue: string; readonly n: number; readonly firstAt: Date }[]
  readonly horizon: readonly HorizonHolder[]
}

/** Something that keeps PostgreSQL from removing dead rows, oldest first. */
export interface HorizonHolder {
  readonly holder: 'session' | 'replication slot' | 'prepared transaction'
  /** Of the slot or the prepared transaction. */
  readonly name: string | null
  readonly pid: number | null
  readonly application: string | null
  readonly role: string | null
  /** How many transactions ago it began to hold. */
  readonly transactions: number
  /** Since its transaction began; null where the server does not say, as of a slot. */
  readonly seconds: number | null
  readonly queryStartedAt: Date | null
}

/** What {@link Diagnosing.diagnose} found; whether it is right is the caller's to say. */
export interface Diagnosis {
  readonly server: {
    readonly version: string
    readonly versionNumber: number
    readonly database: string
    readonly role: string
    readonly isReplica: boolean
    readonly connections: number
    readonly maxConnections: number
    /** `fsync`, `synchronous_commit`, `full_page_writes`, `autovacuum`. */
    readonly settings: Readonly<Record<string, string>>
  }
  /** The store's clock less this process's; half the round trip is how exact it is. */
  readonly clock: { readonly skewMs: number; readonly roundTripMs: number }
  readonly connection: {
    /** Whether something stands between that gives connections of its own: a pooler. */
    readonly isPooled: boolean
    /** Whether statements prepared under a name are found again. */
    readonly keepsNames: boolean
    /** Whether a notice of our own was heard. */
    readonly hearsNotices: boolean
  }
  readonly schema: SchemaStatus
  /** null where the schema is missing or newer than this program: then nothing more is known. */
  readonly tables: TableDiagnosis | null
}

export interface TableDiagnosis {
  /** What the role may not do: `insert on dlq_entries`, `execute reclaim_slot`. */
  readonly lacking: readonly string[]
  readonly measures: Measures
  readonly queues: readonly StoredQueue[]
  /** Available jobs by what they need. */
  readonly waiting: readonly {
    readonly queue: string
    readonly kind: string
    readonly version: number
    readonly n: number
    readonly oldestSeconds: number
    /** A living worker takes jobs of the queue. */
    readonly hasWorker: boolean
    /** One of them can run this kind and version. */
    readonly isServed: boolean
  }[]
  /** Dead letters by queue: arrivals and departures of the last hour, arrivals of the 24 before it. */
  readonly flows: readonly {
    readonly queue: string
    readonly arrived: number
    readonly departed: number
    readonly arrivedBefore: number
  }[]
  /** Jobs that have been held for 30 days, at most 10,000 looked at. */
  readonly held: readonly {
    readonly queue: string
    readonly state: 'quarantined' | 'undecodable'
    readonly n: number
    readonly firstAt: Date
  }[]
  /** Tables with more dead rows than living ones, and more than 10,000. */
  readonly bloat: readonly {
    readonly table: string
    readonly deadRows: number
    readonly liveRows: number
    readonly vacuumedAt: Date | null
  }[]
}

export interface Diagnosing {
  /** For metrics. Reads the live planes, so it is not for every request: see how long it takes. */
  measure(): Promise<Measures>
  /** Looks at the server, the way to it and the store. @throws `store_unavailable` */
  diagnose(): Promise<Diagnosis>
}
