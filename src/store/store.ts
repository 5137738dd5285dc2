import type { Access } from './port/access.js'
import type { Answering } from './port/answering.js'
import type { Archiving } from './port/archiving.js'
import type { Bulk } from './port/bulk.js'
import type { Carrying } from './port/carrying.js'
import type { Diagnosing } from './port/diagnosing.js'
import type { Editing } from './port/editing.js'
import type { Eventing } from './port/eventing.js'
import type { Hooking } from './port/hooking.js'
import type { Idempotent } from './port/idempotent.js'
import type { Inspecting } from './port/inspecting.js'
import type { Listening, Notice } from './port/listening.js'
import type { Operating } from './port/operating.js'
import type { Overseeing } from './port/overseeing.js'
import type { Producing } from './port/producing.js'
import type { Quarantining } from './port/quarantining.js'
import type { Reporting } from './port/reporting.js'
import type { Running } from './port/running.js'
import type { MigrationReport, SchemaStatus } from './port/schema.js'
import type { Serving } from './port/serving.js'
import type { Triaging } from './port/triaging.js'
import type { Undecodables } from './port/undecodables.js'
import type { Upkeep } from './port/upkeep.js'

export type * from './port/access.js'
export type * from './port/act.js'
export type * from './port/answering.js'
export type * from './port/archiving.js'
export type * from './port/bulk.js'
export type * from './port/carrying.js'
export type * from './port/claimed-job.js'
export type * from './port/diagnosing.js'
export type * from './port/editing.js'
export type * from './port/eventing.js'
export type * from './port/hooking.js'
export type * from './port/idempotent.js'
export type * from './port/inspecting.js'
export type * from './port/listening.js'
export type * from './port/measures.js'
export type * from './port/operating.js'
export type * from './port/overseeing.js'
export type * from './port/page.js'
export type * from './port/producing.js'
export type * from './port/quarantining.js'
export type * from './port/question.js'
export type * from './port/reporting.js'
export type * from './port/running.js'
export type * from './port/schema.js'
export type * from './port/serving.js'
export type * from './port/settlement.js'
export type * from './port/triaging.js'
export type * from './port/undecodables.js'
export type * from './port/upkeep.js'
export type * from './port/worker-session.js'

/**
 * The port: what the rest of the product asks of a database, written from the caller's side.
 *
 * Every method that moves a job is one guarded, fenced transition: it happened whole or not at all, and what comes
 * back says which. Errors are `SpillwayError`s; `store_unavailable` means the database could not be reached and, where
 * a method does not say otherwise, that the outcome is unknown.
 */
export interface Store
  extends Producing,
    Running,
    Upkeep,
    Inspecting,
    Operating,
    Bulk,
    Editing,
    Reporting,
    Carrying,
    Triaging,
    Archiving,
    Overseeing,
    Answering,
    Eventing,
    Hooking,
    Serving,
    Undecodables,
    Quarantining,
    Idempotent,
    Access,
    Diagnosing {
  /** What this database can do; callers ask these instead of asking which database it is. */
  readonly capabilities: Capabilities
  /** Brings the schema to this version. Safe to call from many processes at once; one does the work. */
  migrate(): Promise<MigrationReport>
  /** The schema's version, and what {@link Store.migrate} would do. */
  schemaStatus(): Promise<SchemaStatus>
  /**
   * Hears of work, aborts and policy changes as they happen. Where the database cannot push (a transaction pooler), the
   * returned listening is not `live` and callers poll faster.
   */
  listen(onNotice: (notice: Notice) => void): Promise<Listening>
  /** Closes every connection. Safe to call twice. */
  close(): Promise<void>
}

export interface Capabilities {
  /** Whether {@link Store.listen} can push. */
  readonly listen: boolean
  /** Whether `enqueue({ tx })` can join a caller's transaction. */
  readonly transactions: boolean
}
