import type { Selector } from '../../../job/selector.js'
import type { Statement } from '../sql.js'
import type { WindowRequest } from './selection.js'

/** What one batch is about: a window of a selector, or rows named by id. */
export type BatchScope =
  | { readonly type: 'window'; readonly window: WindowRequest }
  | {
      readonly type: 'ids'
      readonly ids: readonly string[]
      readonly selector: Selector
      /** Deaths it does not see are left alone; null: none are. */
      readonly snapshot: string | null
      readonly wait: boolean
    }

/** Who does it, why, and in which operation. */
export interface BatchAct {
  readonly operation: string
  readonly actor: string
  readonly reason: string | null
  readonly channel: string
}

export interface RetryTerms {
  readonly budget: 'fresh' | 'keep' | 'extra'
  readonly extra: number
  readonly force: boolean
  readonly queue: string | null
  readonly priority: number | null
  readonly runAtMs: number | null
  readonly maxAttempts: number | null
  readonly deadlineMs: number | null
  readonly payload: string | null
}

/**
 * What a batch did: ids that moved; rows that did not, as `[id, code, key]`; ids that somebody else had locked or has
 * changed; the key of the last row read.
 */
export type BatchRow = [
  done: string | null,
  refused: string | null,
  locked: string | null,
  at: string | null,
  id: string | null,
  /** The scan has come to its end. */
  ended: 't' | 'f',
]

/** A statement that is written for what it is asked, and its values. */
export type Asked<Row> = readonly [Statement<unknown[], Row>, unknown[]]
