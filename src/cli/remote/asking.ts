import { isSpillwayError } from '../../job/errors.js'
import type { Act } from '../../store/store.js'

/** Undefined where it is not there. */
export async function orNothing<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (isSpillwayError(error) && (error.code === 'not_found' || error.code === 'operation_not_found')) return undefined
    throw error
  }
}

/** Who acts is decided by the server, from the token. */
export function why({ reason }: Act): { reason?: string } {
  return reason === undefined ? {} : { reason }
}
