import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { given } from '../../components/search-params.js'
import { keys } from '../../keys.js'
import { ask } from '../../server.js'
import type { JobFilter } from './search.js'

const PAGE = 100

/** How many there are in each state; a state without jobs is left out. */
export const countsQuery = queryOptions({
  queryKey: keys.jobs('counts'),
  queryFn: ({ signal }) => ask('countJobs', {}, { signal }),
})

/** A page of them, newest first. */
export function jobsQuery(filter: JobFilter, cursor: string | undefined) {
  return queryOptions({
    queryKey: keys.jobs('list', filter, cursor),
    queryFn: ({ signal }) => ask('listJobs', { query: given({ ...filter, cursor, limit: PAGE }) }, { signal }),
    placeholderData: keepPreviousData,
  })
}

/** One job with its history, without its payload. */
export function jobQuery(id: string) {
  return queryOptions({
    queryKey: keys.jobs('one', id),
    queryFn: ({ signal }) => ask('getJob', { params: { id }, query: {} }, { signal }),
  })
}

/** What keeps a job where it is. */
export function whyQuery(id: string) {
  return queryOptions({
    queryKey: keys.jobs('why', id),
    queryFn: ({ signal }) => ask('jobWhy', { params: { id } }, { signal }),
  })
}

/** A job with its payload. Each look is noted in the audit log, so that nothing asks for it by itself. */
export function payloadQuery(id: string) {
  return queryOptions({
    queryKey: keys.jobs('payload', id),
    queryFn: ({ signal }) => ask('getJob', { params: { id }, query: { include_payload: 'true' } }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    meta: { live: false },
  })
}
