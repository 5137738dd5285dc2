import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Operation } from '../../api.js'
import { given } from '../../components/search-params.js'
import { keys } from '../../keys.js'
import { ask } from '../../server.js'

const PAGE = 50
const ROWS = 1_000
const MOVING_MS = 1_000

/** Bulk work, newest first. */
export function operationsQuery(cursor: string | undefined) {
  return queryOptions({
    queryKey: keys.operations('list', cursor),
    queryFn: ({ signal }) => ask('listOperations', { query: given({ cursor, limit: PAGE }) }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.items.some(isMoving) ? 2 * MOVING_MS : false),
  })
}

/** One of them; while it moves it is asked for again and again, as events are not sent for each of its batches. */
export function operationQuery(id: string) {
  return queryOptions({
    queryKey: keys.operations('one', id),
    queryFn: ({ signal }) => ask('getOperation', { params: { id } }, { signal }),
    refetchInterval: ({ state }) => (state.data !== undefined && isMoving(state.data) ? MOVING_MS : false),
  })
}

/** The rows it did not do, and why. */
export function operationRowsQuery(id: string, cursor: string | undefined) {
  return queryOptions({
    queryKey: keys.operations('rows', id, cursor),
    queryFn: ({ signal }) =>
      ask('operationRows', { params: { id }, query: given({ cursor, limit: ROWS }) }, { signal }),
    placeholderData: keepPreviousData,
  })
}

export function isMoving({ state }: Operation): boolean {
  return state === 'running'
}

/** Whether there is nothing to come: what it did is final. */
export function isOver({ state }: Operation): boolean {
  return state === 'done' || state === 'cancelled' || state === 'failed'
}
