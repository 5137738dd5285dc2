import { useQuery } from '@tanstack/react-query'
import { type Filter, FilterChips } from '../../components/filter-chips.js'
import { given } from '../../components/search-params.js'
import { absolute, relative } from '../../words.js'
import { queuesQuery } from '../queues/queries.js'
import type { DlqFilter } from './search.js'

type Key = keyof DlqFilter

const HOURS = { '1 hour': 1, '6 hours': 6, '24 hours': 24, '7 days': 168 } as const

const LABELS: Readonly<Record<Key, string>> = {
  queue: 'Queue',
  kind: 'Kind',
  tag: 'Tag',
  reason: 'Reason',
  cause: 'Cause',
  error: 'Error has',
  since: 'Died in the last',
  until: 'Died before',
}

interface DlqFiltersProps {
  readonly filter: DlqFilter
  readonly onChange: (filter: DlqFilter) => void
}

/** The filter grammar of dead letters, as chips. */
export function DlqFilters({ filter, onChange }: DlqFiltersProps) {
  const queues = useQuery(queuesQuery)
  const filters: readonly Filter<Key>[] = [
    { key: 'queue', label: LABELS.queue, options: queues.data?.map((it) => it.queue).sort() },
    { key: 'kind', label: LABELS.kind },
    { key: 'error', label: LABELS.error, placeholder: 'text of the error' },
    { key: 'tag', label: LABELS.tag },
    { key: 'reason', label: LABELS.reason },
    { key: 'cause', label: LABELS.cause, show: (cause) => cause.slice(0, 12) },
    {
      key: 'since',
      label: LABELS.since,
      options: Object.keys(HOURS),
      show: (since) => relative(new Date(since), Date.now()),
    },
    {
      key: 'until',
      label: LABELS.until,
      placeholder: '2030-01-31T12:00:00Z',
      show: (until) => absolute(new Date(until)),
    },
  ]
  const set = (key: Key, value: string | undefined) => {
    const hours = key === 'since' && value !== undefined ? HOURS[value as keyof typeof HOURS] : undefined
    // A moment, not a length of time: an address that is sent to somebody shows them the same rows.
    const moment = hours === undefined ? value : new Date(Date.now() - hours * 3_600_000).toISOString()
    onChange(given({ ...filter, [key]: moment }))
  }
  return <FilterChips filters={filters} values={filter} onChange={set} onClear={() => onChange({})} />
}

/** What a filter says, in words; undefined where it says nothing. */
export function filterText(filter: DlqFilter): string | undefined {
  const parts = Object.entries(filter).map(([key, value]) => {
    if (key === 'since') return `died since ${absolute(new Date(value))}`
    if (key === 'until') return `died before ${absolute(new Date(value))}`
    return `${LABELS[key as Key].toLowerCase()} ${value}`
  })
  return parts.length === 0 ? undefined : parts.join(', ')
}
