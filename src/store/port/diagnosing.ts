import type { StoredQueue } from './inspecting.js'
import type { Measures } from './measures.js'
import type { SchemaStatus } from './schema.js'

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
