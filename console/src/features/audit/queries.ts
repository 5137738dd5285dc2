import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { given } from '../../components/search-params.js'
import { keys } from '../../keys.js'
import { ask } from '../../server.js'
import type { AuditFilter } from './search.js'

const PAGE = 100

/** Who did what, newest first. */
export function auditQuery(filter: AuditFilter, cursor: string | undefined) {
  return queryOptions({
    queryKey: keys.audit('list', filter, cursor),
    queryFn: ({ signal }) => ask('listAudit', { query: given({ ...filter, cursor, limit: PAGE }) }, { signal }),
    placeholderData: keepPreviousData,
  })
}
