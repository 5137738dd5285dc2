import type { WaitedFor } from './callback.js'
import type { HistoryEntry } from './history.js'
import type { JobState } from './states.js'

/** Why the runtime gave a job up. An operator's own text may stand in its place. */
export type RuntimeDlqReason =
  | 'attempts_exhausted'
  | 'skipped'
  | 'deadline_exceeded'
  | 'callback_timeout'
  | 'no_handler'

/** What the dead-letter queue adds to a job's snapshot. */
export interface DlqPart {
  /** A {@link RuntimeDlqReason}, or the text an operator gave. */
  readonly reason: string
  readonly dlqAt: Date
  /** `runLease` at the moment the job gave up. */
  readonly originalRunLease: number
  /** What it is grouped by: hash of kind, error class, normalised message and own frames. */
  readonly cause: string
  readonly errorClass: string | null
  /** At most 500 characters, masked. */
  readonly errorMessage: string | null
}

/** A job as every inspection surface shows it. Times are the store's clock. */
export interface Job<P = unknown> {
  /** 64-bit, as a decimal string; never changes, through every retry, death and redrive. */
  readonly id: string
  readonly state: JobState
  readonly queue: string
  readonly kind: string
  /** Version of the payload's shape. */
  readonly version: number
  /** 0…100, lower runs first. */
  readonly priority: number
  /** Returned failures since it was last set to 0. */
  readonly attempt: number
  /** Attempts lost because the worker died. */
  readonly crashAttempt: number
  readonly maxAttempts: number
  /** Claims in this generation. */
  readonly runLease: number
  /** How often the job was redriven. */
  readonly generation: number
  /** Times in a row it was handed back without being run to an end. */
  readonly handbacks: number
  readonly createdAt: Date
  /** When it is (or was) due. */
  readonly runAt: Date
  readonly deadline: Date | null
  /** Limit of one attempt, in ms; null is none. */
  readonly timeoutMs: number | null
  readonly uniqueKey: string | null
  readonly tags: readonly string[]
  readonly metadata: unknown
  /** Absent in lists, and where it was not asked for. */
  readonly payload?: P
  /** The payload as it is stored, beside {@link Job.payload}: JSON.parse rounds integers above 2^53, this does not. */
  readonly payloadText?: string
  /** Oldest first. Absent in lists. */
  readonly history?: readonly HistoryEntry[]
  /** What the handler returned; `{ spillway_result_omitted: why }` where that could not be kept. */
  readonly result?: unknown
  /** What the handler last reported. */
  readonly progress?: unknown
  /** The job it was cloned from. Absent in lists, and where it was not. */
  readonly originId?: string
  /**
   * What keeps a job that waits from running, or has one held: its fingerprint, which killed workers. `suspected` jobs
   * run when a worker has nothing else to do. Absent in lists, and where there is nothing of the kind.
   */
  readonly blocked?: {
    readonly fingerprint: string
    readonly since: Date | null
    readonly because: 'quarantined' | 'suspected'
  }
  /** When the current or last attempt was claimed. */
  readonly startedAt: Date | null
  readonly finalizedAt: Date | null
  /** Token of the current or last claim. */
  readonly leaseId: string | null
  /** For failed and cancelled jobs: why. */
  readonly reason: string | null
  readonly dlq: DlqPart | null
  /** What a waiting job waits for; absent in every other state. */
  readonly callback?: WaitedFor
}
