import type { Selector } from '../../job/selector.js'
import type { Act } from './act.js'
import type { RetryRequest } from './operating.js'
import type { Page, PageRequest } from './page.js'

export type BulkAction = 'retry' | 'discard' | 'purge' | 'move'

/** What a bulk action is to do to every row that matches. */
export interface BulkRequest {
  readonly action: BulkAction
  readonly selector: Selector
  /** Of a purge by ids: of every job that is not live, not of dead letters only. */
  readonly anywhere?: boolean
  /** Of a retry. */
  readonly retry?: RetryRequest
  readonly dryRun: boolean
  /** Rows a second. */
  readonly rate: number | null
  /** Of its rows that wait to be claimed, before it adds more; 0 is no limit. */
  readonly maxWaiting: number
  /** So many go first, and the rest only when they did well. */
  readonly canary: number | null
  /** The share of canaries that may fail, 0 to 1. */
  readonly abortAbove: number
  readonly holdMs: number
  /** Id of a dry run: exactly the rows it saw, by its selector. */
  readonly preview: string | null
}

export type OperationState = 'running' | 'paused' | 'done' | 'cancelled' | 'failed'

/** What a dry run found. Counts by cause and refusals are of the first 20,000 rows where there are more. */
export interface OperationPreview {
  readonly lookedAt: number
  readonly samples: readonly {
    readonly id: string
    readonly kind: string
    readonly queue: string
    readonly diedAt: Date
    readonly cause: string | null
    readonly errorClass: string | null
    readonly errorMessage: string | null
  }[]
  readonly causes: readonly { readonly cause: string | null; readonly title: string | null; readonly count: number }[]
  readonly wouldRefuse: readonly { readonly code: string; readonly count: number }[]
}

/** Bulk work as a thing of its own: durable, bounded, accounted for row by row. */
export interface Operation {
  readonly id: string
  readonly action: BulkAction | 'undo'
  readonly selector: Selector
  readonly dryRun: boolean
  readonly state: OperationState
  /** Why it paused or failed. */
  readonly stateReason: string | null
  /** `counting`, `canary`, `moving`, `revisiting`, `newer` or `ended`. */
  readonly phase: string
  readonly matched: number
  readonly succeeded: number
  readonly skipped: number
  /** Of the skipped: how many it had counted and others moved before it came to them. Known when it ends. */
  readonly vanished: number
  readonly failed: number
  /** Matching deaths its snapshot did not see: they were left alone. Known when it ends. */
  readonly newerLeftAlone: number
  readonly rate: number | null
  readonly maxWaiting: number
  readonly canary: number | null
  readonly preview: OperationPreview | null
  readonly undoOf: string | null
  /** The operation that took this one back. */
  readonly undoneBy: string | null
  readonly createdBy: string
  readonly reason: string | null
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
}

/** One row an operation did not do, and why. */
export interface OperationRow {
  readonly id: string
  readonly outcome: 'skipped' | 'failed' | 'pending'
  readonly code: string
  readonly message: string
}

export interface BulkResult {
  readonly succeeded: readonly string[]
  readonly failed: readonly { readonly id: string; readonly code: string; readonly message: string }[]
  /** Already done; of a retry or discard, to undo it by. */
  readonly operation: Operation
}

export interface OperationStep {
  readonly operation: Operation
  /** How long to wait before the next step; null when there is none for this runner. */
  readonly waitMs: number | null
}

export interface Bulk {
  /** Notes the work; nothing has moved yet. Answers at once, however many rows match. */
  startOperation(request: BulkRequest, act: Act): Promise<Operation>
  /** Acts on at most 1,000 named jobs in one transaction and says of each what became of it. */
  actOnIds(ids: readonly string[], request: BulkRequest, act: Act): Promise<BulkResult>
  /**
   * Acts on one named job; refused, it leaves nothing, the operation included.
   *
   * @returns the operation, already done; `refused` says where the job is otherwise.
   */
  actOnOne(
    id: string,
    request: BulkRequest,
    act: Act,
  ): Promise<{ readonly operation: string } | { readonly refused: string }>
  /**
   * One batch: effect and accounting in one transaction. Any process may call it; of several, one at a time is at work.
   * Killed at any moment, every row is either done and counted or untouched.
   */
  stepOperation(id: string, runner: string): Promise<OperationStep>
  /** An operation that runs and that no living process is running. */
  orphanOperation(): Promise<string | undefined>
  getOperation(id: string): Promise<Operation | undefined>
  /** Newest first. */
  listOperations(page: PageRequest): Promise<Page<Operation>>
  operationRows(id: string, page: PageRequest): Promise<Page<OperationRow>>
  pauseOperation(id: string, act: Act): Promise<Operation>
  /** Going on after a canary has failed lets the rest follow. */
  resumeOperation(id: string, act: Act): Promise<Operation>
  cancelOperation(id: string, act: Act): Promise<Operation>
  /** Holds from the next batch on, over all runners. */
  setOperationRate(
    id: string,
    /** null: no rate; undefined: as it is. */
    rate: number | null | undefined,
    maxWaiting: number | null,
    act: Act,
  ): Promise<Operation>
  /** A new operation that takes back a retry (what has not started) or a discard. @throws `not_undoable` */
  undoOperation(id: string, act: Act): Promise<Operation>
}
