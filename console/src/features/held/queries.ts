import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { given } from '../../components/search-params.js'
import { keys } from '../../keys.js'
import { ask } from '../../server.js'

const PAGE = 50

/** Fingerprints that are held, newest first. */
export function quarantineQuery(cursor: string | undefined) {
  return queryOptions({
    queryKey: keys.held('quarantine', cursor),
    queryFn: ({ signal }) => ask('listQuarantine', { query: given({ cursor, limit: PAGE }) }, { signal }),
    placeholderData: keepPreviousData,
  })
}

/** One fingerprint with its crashes and its jobs; without the payload they share. */
export function quarantinedQuery(fingerprint: string) {
  return queryOptions({
    queryKey: keys.held('fingerprint', fingerprint),
    queryFn: ({ signal }) => ask('getQuarantined', { params: { fingerprint }, query: {} }, { signal }),
  })
}

/** The payload of its jobs. Each look is noted in the audit log. */
export function sampleQuery(fingerprint: string) {
  return queryOptions({
    queryKey: keys.held('sample', fingerprint),
    queryFn: ({ signal }) =>
      ask('getQuarantined', { params: { fingerprint }, query: { include_payload: 'true' } }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    meta: { live: false },
  })
}

/** By kind and version, how many would decode now. Workers are asked, which may take seconds: only when somebody wants it. */
export const undecodableQuery = queryOptions({
  queryKey: keys.held('undecodable', 'check'),
  queryFn: ({ signal }) => ask('checkUndecodable', { body: { all: true } }, { signal }),
  staleTime: 60_000,
  meta: { live: false },
})

/** The newest of them. */
export const undecodableListQuery = queryOptions({
  queryKey: keys.held('undecodable', 'list'),
  queryFn: ({ signal }) => ask('listUndecodable', { query: { limit: PAGE } }, { signal }),
})
