import type { QueuePolicyPatch } from '../../job/policy.js'
import type { Act, Acted } from './act.js'
import type { StoredQueue } from './inspecting.js'

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
