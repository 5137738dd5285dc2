import type { Access } from './access.js'
import type { Answering } from './answering.js'
import type { Archiving } from './archiving.js'
import type { Bulk } from './bulk.js'
import type { Carrying } from './carrying.js'
import type { Editing } from './editing.js'
import type { Eventing } from './eventing.js'
import type { Hooking } from './hooking.js'
import type { Inspecting } from './inspecting.js'
import type { Operating } from './operating.js'
import type { Overseeing } from './overseeing.js'
import type { Producing } from './producing.js'
import type { Quarantining } from './quarantining.js'
import type { Serving } from './serving.js'
import type { Triaging } from './triaging.js'
import type { Undecodables } from './undecodables.js'

/** A request that may be sent again: the same key and the same body get the same answer. */
export interface IdempotentRequest {
  readonly actor: string
  readonly method: string
  readonly path: string
  readonly key: string
  /** Hash of what the request asks for. */
  readonly requestHash: string
}

export interface StoredAnswer {
  readonly status: number
  /** JSON text, repeated byte for byte. */
  readonly answer: string
}

/** The store inside one transaction: what is done through it is done when, and only when, that commits. */
export type StoreInTransaction = Operating &
  Answering &
  Editing &
  Bulk &
  Carrying &
  Triaging &
  Archiving &
  Overseeing &
  Undecodables &
  Quarantining &
  Access &
  Serving &
  Hooking &
  Pick<Eventing, 'eventHead' | 'setEventRetention'> &
  Pick<Producing, 'enqueue'> &
  Inspecting

export interface Idempotent {
  /**
   * Runs `work` once for the request: its effects and its answer are one transaction. The same request again, within
   * 24 h, gets that answer. A `work` that throws leaves nothing, the key included.
   *
   * @throws `idempotency_key_reused` where the key came with another body; `idempotency_in_progress` where the first is
   *   still running after 2 s.
   */
  idempotent(
    request: IdempotentRequest,
    work: (store: StoreInTransaction) => Promise<StoredAnswer>,
  ): Promise<StoredAnswer & { readonly replayed: boolean }>
}
