import { type Filter, FilterChips } from '../../components/filter-chips.js'
import { given } from '../../components/search-params.js'
import { relative } from '../../words.js'
import type { AuditFilter } from './search.js'

type Key = keyof AuditFilter

const HOURS = { '1 hour': 1, '24 hours': 24, '7 days': 168, '30 days': 720 } as const

const FILTERS: readonly Filter<Key>[] = [
  { key: 'actor', label: 'Actor', placeholder: 'whole name' },
  { key: 'action', label: 'Action', placeholder: 'as retry or set_queue' },
  {
    ...{ key: 'since', label: 'In the last', options: Object.keys(HOURS) },
    show: (since) => relative(new Date(since), Date.now()),
  },
]

interface AuditFiltersProps {
  readonly filter: AuditFilter
  readonly onChange: (filter: AuditFilter) => void
}

/** What the API narrows the audit log by. */
export function AuditFilters({ filter, onChange }: AuditFiltersProps) {
  const set = (key: Key, value: string | undefined) => {
    const hours = key === 'since' && value !== undefined ? HOURS[value as keyof typeof HOURS] : undefined
    const moment = hours === undefined ? value : new Date(Date.now() - hours * 3_600_000).toISOString()
    onChange(given({ ...filter, [key]: moment }))
  }
  return <FilterChips filters={FILTERS} values={filter} onChange={set} onClear={() => onChange({})} />
}
