import type { Call } from '../call.js'

/** Larger pages are no console's, and would be kept for nobody. */
const MOST_SHARED = 100

interface Paging {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/**
 * A page of a list. The first one, in its usual size, is asked once for all who look at the same: ten open consoles cost
 * what one costs. Later pages are everybody's own.
 */
export function sharedPage<T>(
  call: Call,
  list: string,
  filter: object,
  { limit, cursor }: Paging,
  ask: () => PromiseLike<T>,
): Promise<T> {
  if (cursor !== undefined || (limit ?? 0) > MOST_SHARED) return Promise.resolve(ask())
  return call.once(JSON.stringify([list, filter, limit]), async () => ask())
}
