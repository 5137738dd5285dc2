import { SpillwayError } from '../job/errors.js'
import { isStorable } from '../job/text.js'
import type { Act } from '../store/store.js'

/** Who acts and why; stored with the effect, in the same transaction. */
export interface ActOptions {
  /** Default: the client's actor. */
  readonly actor?: string | undefined
  readonly reason?: string | undefined
  /** Ties the audit row to a request of the caller's. */
  readonly requestId?: string | undefined
}

/** What the store is told about who acts. */
export function actOf(defaultActor: string, { actor, reason, requestId }: ActOptions): Act {
  return {
    actor: said('actor', actor ?? defaultActor),
    reason: said('reason', reason),
    requestId: said('requestId', requestId),
  }
}

/** @throws `invalid_option` for what no store can keep. */
function said<T extends string | undefined>(what: string, text: T): T {
  if (text === undefined || isStorable(text)) return text
  throw new SpillwayError('invalid_option', `cannot act with this ${what}: it holds U+0000 or half a surrogate pair`)
}

const LARGEST_ID = 2n ** 63n - 1n

/** Whether `id` can be one of a job's: what cannot is found nowhere, and never reaches the database. */
export function isJobId(id: unknown): id is string {
  return typeof id === 'string' && /^\d{1,19}$/.test(id) && BigInt(id) <= LARGEST_ID
}

/** @throws `not_found` where `id` cannot be one of a job's. */
export function checkJobId(id: unknown): string {
  if (isJobId(id)) return id
  throw new SpillwayError('not_found', `no job ${JSON.stringify(String(id).slice(0, 40))}: an id is a decimal number`)
}
