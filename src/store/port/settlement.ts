import type { DeathEvent, DeathTransaction } from '../../job/death.js'
import type { JobState } from '../../job/states.js'
import type { ClaimedJob } from './claimed-job.js'

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
