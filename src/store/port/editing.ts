import type { Act, Acted } from './act.js'
import type { RetryOverrides } from './operating.js'

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
