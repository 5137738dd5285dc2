import type { JobState } from '../../job/states.js'

/** Who acts, and why: stored with the effect. */
export interface Act {
  readonly actor: string
  readonly reason?: string | undefined
  readonly requestId?: string | undefined
}

/** What an action by id did: the job's state after it, or why nothing moved. */
export interface Acted {
  readonly id: string
  readonly state: JobState | 'gone'
  /** False: it was already so (a repeated cancel). */
  readonly changed: boolean
  /** Of a retry or discard: the operation, already done, to undo it by. */
  readonly operation?: string
  /** For a retry into a queue that no live worker serves, and the like. */
  readonly warnings?: readonly string[]
}
