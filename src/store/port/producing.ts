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
