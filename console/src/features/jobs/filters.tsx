import { useQuery } from '@tanstack/react-query'
import { type Filter, FilterChips } from '../../components/filter-chips.js'
import { given } from '../../components/search-params.js'
import { queuesQuery } from '../queues/queries.js'
import type { JobFilter } from './search.js'

type Key = Exclude<keyof JobFilter, 'state'>

const LABELS: Readonly<Record<Key, string>> = {
  ...{ queue: 'Queue', kind: 'Kind', tag: 'Tag', reason: 'Reason', cause: 'Cause', q: 'Error has' },
}
/** The API looks for these among dead letters only. */
const OF_DEAD: readonly Key[] = ['tag', 'reason', 'cause', 'q']

interface JobFiltersProps {
  readonly filter: JobFilter
  readonly onChange: (filter: JobFilter) => void
}

/** What the list is narrowed to besides its state. */
export function JobFilters({ filter, onChange }: JobFiltersProps) {
  const queues = useQuery(queuesQuery)
  const filters: readonly Filter<Key>[] = [
    { key: 'queue', label: LABELS.queue, options: queues.data?.map((it) => it.queue).sort() },
    { key: 'kind', label: LABELS.kind },
    ...OF_DEAD.map((key) => ({ key, label: LABELS[key] })),
  ]
  const set = (key: Key, value: string | undefined) => {
    const next = given({ ...filter, [key]: value })
    const isOfDead = value !== undefined && OF_DEAD.includes(key)
    onChange(isOfDead ? { ...next, state: 'archived' } : next)
  }
  return (
    <FilterChips
      filters={filters}
      values={filter}
      onChange={set}
      onClear={() => onChange(given({ state: filter.state }))}
    />
  )
}

/** What a filter says, in words; undefined where it says nothing. */
export function filterText({ state, ...others }: JobFilter): string | undefined {
  const parts = Object.entries(others).map(([key, value]) => `${LABELS[key as Key].toLowerCase()} ${value}`)
  if (state !== undefined) parts.unshift(`state ${state}`)
  return parts.length === 0 ? undefined : parts.join(', ')
}
