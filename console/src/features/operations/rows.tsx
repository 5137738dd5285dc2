import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import type { OperationRow } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Pager } from '../../components/data-list/pager.js'
import { usePaging } from '../../components/data-list/paging.js'
import { Mark } from '../../components/mark.js'
import { Panel } from '../../components/page.js'
import { Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { count, spoken } from '../../words.js'
import { operationRowsQuery } from './queries.js'
import './rows.css'

/** The rows an operation did not do: by reason, then one by one. */
export function OperationRows({ id }: { id: string }) {
  const { cursor } = useSearch({ from: '/operations/$id' })
  const paging = usePaging()
  const { data, error, refetch } = useQuery(operationRowsQuery(id, cursor))
  return (
    <Panel title="Not done" summary="each row, and why">
      {error !== null && <Problem error={error} onRetry={refetch} isSmall={data !== undefined} />}
      {data === undefined && error === null && <Loading rows={4} />}
      {data !== undefined && data.items.length === 0 && (
        <p className="operation-part quiet">None is kept by name: what others moved before its turn is only counted.</p>
      )}
      {data !== undefined && data.items.length > 0 && (
        <>
          <ul className="operation-reasons" aria-label="By reason, on this page">
            {byReason(data.items).map(([code, n]) => (
              <li key={code}>
                <strong className="number">{count(n)}</strong> × {spoken(code)}
              </li>
            ))}
          </ul>
          <DataList label="Rows that were not done" rows={data.items} rowId={({ id: row }) => row} columns={COLUMNS} />
          <Pager paging={paging} shown={data.items.length} total={data.total} cursor={data.cursor} />
        </>
      )}
    </Panel>
  )
}

function byReason(rows: readonly OperationRow[]): readonly (readonly [code: string, count: number])[] {
  const found = new Map<string, number>()
  for (const { code } of rows) found.set(code, (found.get(code) ?? 0) + 1)
  return [...found].sort(([, a], [, b]) => b - a)
}

const OUTCOMES = { skipped: ['Skipped', 'quiet'], failed: ['Refused', 'bad'], pending: ['To come', 'busy'] } as const

const COLUMNS: readonly Column<OperationRow>[] = [
  {
    id: 'id',
    header: 'Job',
    width: '110px',
    cell: ({ id }) => (
      <Link to="/dlq/$id" params={{ id }}>
        {id}
      </Link>
    ),
  },
  {
    id: 'outcome',
    header: 'Outcome',
    width: '110px',
    cell: ({ outcome }) => <Mark tone={OUTCOMES[outcome][1]}>{OUTCOMES[outcome][0]}</Mark>,
  },
  { id: 'code', header: 'Reason', width: '170px', cell: ({ code }) => <code>{code}</code> },
  { id: 'message', header: 'Why', onPhone: 'title', cell: ({ message }) => <UserText>{message}</UserText> },
]
