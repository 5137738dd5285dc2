import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { given } from '../../components/search-params.js'
import { keys } from '../../keys.js'
import { ask } from '../../server.js'
import type { DlqFilter } from './search.js'

const PAGE = 100
const HOUR_MS = 3_600_000

/** How many there are, by queue, and since when the oldest lies there. */
export const depthQuery = queryOptions({
  queryKey: keys.deadLetters('depth'),
  queryFn: ({ signal }) => ask('dlqDepth', {}, { signal }),
})

/** By cause, the largest first. The API narrows causes by queue and kind. */
export function groupsQuery({ queue, kind }: Pick<DlqFilter, 'queue' | 'kind'>, limit: number) {
  return queryOptions({
    queryKey: keys.deadLetters('groups', queue, kind, limit),
    queryFn: ({ signal }) => ask('dlqGroups', { query: given({ queue, kind, limit }) }, { signal }),
    placeholderData: keepPreviousData,
  })
}

export type FlowRange = '1h' | '24h'

/** What came and went, by minute of the last hour, or by hour of the last day. */
export function flowQuery(range: FlowRange) {
  return queryOptions({
    queryKey: keys.deadLetters('flow', range),
    queryFn: ({ signal }) => {
      const since = new Date(Date.now() - (range === '1h' ? HOUR_MS : 24 * HOUR_MS)).toISOString()
      return ask('dlqHistory', { query: { since, by: range === '1h' ? 'minute' : 'hour' } }, { signal })
    },
    placeholderData: keepPreviousData,
  })
}

/** A page of them, newest death first. News alone does not ask again: rows would move under whoever reads them. */
export function deadLettersQuery(filter: DlqFilter, cursor: string | undefined) {
  return queryOptions({
    queryKey: keys.deadLetters('list', filter, cursor),
    queryFn: ({ signal }) => ask('listDlq', { query: given({ ...filter, cursor, limit: PAGE }) as never }, { signal }),
    placeholderData: keepPreviousData,
    meta: { live: false },
  })
}

/** The newest of them and how many there are: what tells that a page is old. */
export function newestQuery(filter: DlqFilter) {
  return queryOptions({
    queryKey: keys.deadLetters('newest', filter),
    queryFn: ({ signal }) => ask('listDlq', { query: given({ ...filter, limit: 1 }) as never }, { signal }),
  })
}
