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
