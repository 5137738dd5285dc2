import type { WorkerSession } from './worker-session.js'

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

export interface Running {
  register(info: WorkerInfo): Promise<WorkerSession>
  /**
   * Says that the process behind an ended registration lives: it was cut off, not dead. The crashes charged for it are
   * taken off its jobs and their fingerprints; what only these had convicted is let go.
   */
  survived(registration: string): Promise<void>
}
