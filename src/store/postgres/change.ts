import type { OperationState } from '../store.js'

/** Rows of one step, where nothing says fewer. */
export const BATCH = 1_000
/** Before every row. */
export const START = { at: '-infinity', id: '0' } as const

/** What a step changes in its operation's row. */
export interface Change {
  readonly phase?: string
  readonly cursor?: { readonly at: string; readonly id: string }
  readonly matched?: number
  readonly succeeded?: number
  readonly skipped?: number
  readonly failed?: number
  readonly newer?: number
  readonly paceMs?: number
  readonly state?: OperationState
  readonly stateReason?: string
  readonly preview?: string
  readonly waitMs?: number
}
