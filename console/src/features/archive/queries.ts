import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { given } from '../../components/search-params.js'
import { keys } from '../../keys.js'
import { ask } from '../../server.js'
import type { ArchiveFilter } from './search.js'

const PAGE = 100

/** A page of archived jobs, newest first. Searches stop after a while and say so. */
export function archiveQuery(filter: ArchiveFilter, cursor: string | undefined) {
  return queryOptions({
    queryKey: keys.archive('list', filter, cursor),
    queryFn: ({ signal }) => ask('listArchive', { query: given({ ...filter, cursor, limit: PAGE }) }, { signal }),
    placeholderData: keepPreviousData,
  })
}

/** One archived job with its history. */
export function archivedQuery(id: string) {
  return queryOptions({
    queryKey: keys.archive('one', id),
    queryFn: ({ signal }) => ask('getArchived', { params: { id }, query: {} }, { signal }),
  })
}

/** The months of the archive, oldest first. */
export const monthsQuery = queryOptions({
  queryKey: keys.archive('months'),
  queryFn: async ({ signal }) => (await ask('archiveMonths', {}, { signal })).items,
})
