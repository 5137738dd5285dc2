import { Link, useNavigate } from '@tanstack/react-router'
import type { CauseGroup } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Mark, type Tone } from '../../components/mark.js'
import { Moment } from '../../components/moment.js'
import { Sparkline } from '../../components/sparkline.js'
import { Empty } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { count, counted, spoken } from '../../words.js'
import './causes.css'

interface CausesProps {
  readonly groups: readonly CauseGroup[]
  /** Of the table; of two on a screen each has its own. */
  readonly label?: string
}

/** What things died of, the most frequent first. Each leads to its dead letters. */
export function Causes({ groups, label = 'Causes of death' }: CausesProps) {
  const navigate = useNavigate()
  if (groups.length === 0)
    return <Empty title="Nothing is dead">No job was given up on, or all of them were dealt with.</Empty>
  return (
    <DataList
      label={label}
      rows={groups}
      rowId={({ queue, cause }) => `${queue} ${cause}`}
      columns={COLUMNS}
      hasKeys={false}
      onOpen={({ queue, cause }) => void navigate({ to: '/dlq', search: { queue, cause } })}
    />
  )
}

const COLUMNS: readonly Column<CauseGroup>[] = [
  { id: 'cause', header: 'Cause', onPhone: 'title', cell: (group) => <CauseCell group={group} /> },
  { id: 'status', header: 'Status', width: '120px', cell: (group) => <StatusMark group={group} /> },
  { id: 'count', header: 'Dead', width: '84px', align: 'end', cell: (group) => count(group.count) },
  {
    id: 'trend',
    header: 'Last 24 h',
    width: '120px',
    cell: ({ trend }) => <Trend trend={trend} />,
  },
  { id: 'first', header: 'First', width: '104px', onPhone: 'hidden', cell: ({ firstAt }) => <Moment at={firstAt} /> },
  { id: 'last', header: 'Last', width: '104px', cell: ({ lastAt }) => <Moment at={lastAt} /> },
]

function CauseCell({ group: { queue, cause, kind, reason, errorClass, title } }: { group: CauseGroup }) {
  return (
    <div className="cause">
      <Link to="/dlq" search={{ queue, cause }} className="cause-title">
        <UserText>{title ?? errorClass ?? spoken(reason)}</UserText>
      </Link>
      <div className="cause-where">
        <UserText>{kind}</UserText> in <UserText>{queue}</UserText>
        {errorClass !== null && title?.startsWith(errorClass) === false && (
          <>
            {' · '}
            <UserText>{errorClass}</UserText>
          </>
        )}
        {reason !== 'attempts_exhausted' && ` · ${spoken(reason)}`}
      </div>
    </div>
  )
}

const TONES: Readonly<Record<CauseGroup['status'], Tone>> = {
  new: 'bad',
  regressed: 'bad',
  acknowledged: 'busy',
  muted: 'quiet',
  resolved: 'good',
}

/** How a cause stands with the people who look after it. */
export function StatusMark({ group: { status, unreviewed } }: { group: CauseGroup }) {
  const word = status === 'regressed' ? 'Failed again' : `${status[0]?.toUpperCase()}${status.slice(1)}`
  return (
    <Mark
      tone={TONES[status]}
      title={unreviewed > 0 ? `${counted(unreviewed, 'dead letter')} nobody has looked at` : undefined}
    >
      {word}
    </Mark>
  )
}

/** Arrivals of the last 24 hours, hour by hour. */
export function Trend({ trend }: { trend: readonly number[] }) {
  const all = trend.reduce((sum, it) => sum + it, 0)
  return (
    <Sparkline
      values={trend}
      label={`${counted(all, 'arrival')} in the last 24 hours, ${count(trend.at(-1) ?? 0)} in the current one`}
    />
  )
}
