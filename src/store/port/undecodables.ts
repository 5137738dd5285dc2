import type { Act } from './act.js'
import type { Page, PageRequest } from './page.js'
import type { HeldPayload, Verdict } from './question.js'

export interface UndecodableFilter {
  readonly queue?: string
  readonly kind?: string
  readonly ids?: readonly string[]
}

/** One job to release, and with which payload: null releases whatever it is. */
export interface ReleaseOf {
  readonly id: string
  readonly fingerprint: string | null
}

/** Why a job was not released, beside what {@link Verdict} says. */
export interface NotReleased {
  readonly id: string
  readonly code: 'not_found' | 'invalid_state' | 'job_moving'
  readonly message: string
}

export interface Undecodables {
  /** Newest id first, with their payloads. */
  undecodablePayloads(filter: UndecodableFilter, page: PageRequest): Promise<Page<HeldPayload>>
  /** undecodable → available, at most 1,000, in one statement with its audit row. */
  releaseUndecodable(
    jobs: readonly ReleaseOf[],
    forced: boolean,
    act: Act,
  ): Promise<{ readonly released: readonly string[]; readonly refused: readonly NotReleased[] }>
}
