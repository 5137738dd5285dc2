import type { Job } from './job.js'

/** What is told of a death. */
export interface DeathEvent {
  /** The job as it gave up, with its payload. */
  readonly job: Job
  /** Why: a `RuntimeDlqReason`. */
  readonly reason: string
  /** What went wrong last, at most 500 characters, masked. */
  readonly error: string | null
  readonly errorClass: string | null
  readonly cause: string
  readonly generation: number
  /** `archived`; on a queue without a dead-letter queue `failed`, or `gone` where that keeps none. */
  readonly state: 'archived' | 'failed' | 'gone'
}

/** Called after a death was written. */
export type DeathHandler = (event: DeathEvent) => unknown

/** The open transaction that writes a death. What is done through it is there if and only if the death is. */
export interface DeathTransaction {
  /** One statement; resolves to its rows, with values as node-postgres gives them. */
  query(text: string, values?: readonly unknown[]): Promise<{ readonly rows: Record<string, unknown>[] }>
  /** The same, resolving to the rows themselves. */
  execute(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
}

/**
 * Called inside the transaction that writes a death, before its commit; `enqueue(…, { tx })` is part of it too. It has
 * 5 seconds. Where it throws or takes longer, the death is written without it, and the history says `death_tx_failed`.
 * A commit whose answer was lost calls it again; its effects in the database are there once.
 */
export type DeathTxHandler = (tx: DeathTransaction, event: DeathEvent) => unknown
