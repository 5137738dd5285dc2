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
