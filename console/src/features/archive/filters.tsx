import { useQuery } from '@tanstack/react-query'
import { type Filter, FilterChips } from '../../components/filter-chips.js'
import { given } from '../../components/search-params.js'
import { absolute } from '../../words.js'
import { queuesQuery } from '../queues/queries.js'
import type { ArchiveFilter } from './search.js'

type Key = keyof ArchiveFilter

interface ArchiveFiltersProps {
  readonly filter: ArchiveFilter
  readonly onChange: (filter: ArchiveFilter) => void
}

/** What the archive is searched by. */
export function ArchiveFilters({ filter, onChange }: ArchiveFiltersProps) {
  const queues = useQuery(queuesQuery)
  const moment = { placeholder: '2030-01-31T12:00:00Z', show: (at: string) => absolute(new Date(at)) }
  const filters: readonly Filter<Key>[] = [
    { key: 'error', label: 'Error has', placeholder: 'text of the error' },
    { key: 'queue', label: 'Queue', options: queues.data?.map((it) => it.queue).sort() },
    { key: 'kind', label: 'Kind' },
    { key: 'tag', label: 'Tag' },
    { key: 'reason', label: 'Reason' },
    { key: 'cause', label: 'Cause' },
    { key: 'since', label: 'Archived since', ...moment },
    { key: 'until', label: 'Archived before', ...moment },
  ]
  return (
    <FilterChips
      filters={filters}
      values={filter}
      onChange={(key, value) => onChange(given({ ...filter, [key]: value }))}
      onClear={() => onChange({})}
    />
  )
}
