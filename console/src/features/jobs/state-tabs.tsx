import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { count, shortCount } from '../../words.js'
import { countsQuery } from './queries.js'
import { type JobFilter, STATES } from './search.js'
import { stateWord } from './state-mark.js'
import './state-tabs.css'

/** The states, each with its number of jobs; one of them narrows the list. */
export function StateTabs({ filter }: { filter: JobFilter }) {
  const { data } = useQuery(countsQuery)
  const { state: chosen, ...others } = filter
  const all = data && Object.values(data).reduce((sum, it) => sum + (it ?? 0), 0)
  return (
    <nav className="state-tabs" aria-label="States">
      <Tab search={others} isChosen={chosen === undefined} label="All" number={all} />
      {STATES.map((state) => (
        <Tab
          key={state}
          search={{ ...others, state }}
          isChosen={chosen === state}
          label={stateWord(state)}
          number={data && (data[state] ?? 0)}
        />
      ))}
    </nav>
  )
}

interface TabProps {
  readonly search: JobFilter
  readonly isChosen: boolean
  readonly label: string
  readonly number: number | undefined
}

function Tab({ search, isChosen, label, number }: TabProps) {
  return (
    <Link
      to="/jobs"
      search={search}
      className="state-tab"
      activeOptions={{ exact: true, includeSearch: true }}
      aria-current={isChosen ? 'page' : undefined}
      data-chosen={isChosen || undefined}
      data-empty={number === 0 || undefined}
    >
      {label}
      <span className="state-tab-number" title={number === undefined ? undefined : `${count(number)} in all queues`}>
        {number === undefined ? '…' : shortCount(number)}
      </span>
    </Link>
  )
}
