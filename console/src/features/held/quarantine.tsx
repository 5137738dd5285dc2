import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { Quarantined } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Pager } from '../../components/data-list/pager.js'
import { useLeaveEmptyPage, usePaging } from '../../components/data-list/paging.js'
import { Mark } from '../../components/mark.js'
import { Moment } from '../../components/moment.js'
import { Panel } from '../../components/page.js'
import { Empty, Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { count } from '../../words.js'
import { quarantineQuery } from './queries.js'

/** Fingerprints whose jobs are suspected of killing workers. */
export function Quarantine() {
  const { cursor } = useSearch({ from: '/held' })
  const navigate = useNavigate()
  const paging = usePaging()
  const { data, error, refetch, isPlaceholderData } = useQuery(quarantineQuery(cursor))
  useLeaveEmptyPage(paging, data?.items.length === 0 && !isPlaceholderData)
  return (
    <Panel title="Quarantine" summary="jobs suspected of killing workers, by fingerprint">
      {data === undefined ? (
        error === null ? (
          <Loading rows={4} />
        ) : (
          <Problem error={error} onRetry={refetch} />
        )
      ) : data.items.length === 0 ? (
        <Empty title="Nothing is quarantined">No kind and payload has killed its worker often enough.</Empty>
      ) : (
        <>
          <DataList
            label="Quarantined fingerprints"
            rows={data.items}
            rowId={({ fingerprint }) => fingerprint}
            columns={COLUMNS}
            onOpen={({ fingerprint }) => void navigate({ to: '/held/$fingerprint', params: { fingerprint } })}
          />
          <Pager paging={paging} shown={data.items.length} total={data.total} cursor={data.cursor} />
        </>
      )}
    </Panel>
  )
}

const COLUMNS: readonly Column<Quarantined>[] = [
  {
    ...{ id: 'kind', header: 'Kind', onPhone: 'title' },
    cell: ({ kind, fingerprint }) => (
      <Link to="/held/$fingerprint" params={{ fingerprint }}>
        <UserText>{kind}</UserText> <code className="small">{fingerprint.slice(0, 8)}</code>
      </Link>
    ),
  },
  { id: 'queue', header: 'Queue', width: '18%', cell: ({ queue }) => <UserText>{queue}</UserText> },
  { id: 'stands', header: 'Status', width: '150px', cell: (row) => <Standing row={row} /> },
  { id: 'held', header: 'Held', width: '80px', align: 'end', cell: ({ held }) => count(held) },
  { id: 'crashes', header: 'Crashes', width: '90px', align: 'end', cell: ({ crashes }) => count(crashes) },
  { id: 'last', header: 'Last crash', width: '110px', cell: ({ lastCrashAt }) => <Moment at={lastCrashAt} /> },
  {
    id: 'since',
    header: 'Held since',
    width: '110px',
    onPhone: 'hidden',
    cell: ({ heldAt }) => <Moment at={heldAt} />,
  },
]

/** What the store does with a fingerprint now. */
export function Standing({ row: { convicted, releasing, canaryId } }: { row: Quarantined }) {
  if (canaryId !== null) return <Mark tone="busy">Canary runs</Mark>
  if (releasing) return <Mark tone="busy">Being released</Mark>
  return convicted ? <Mark tone="bad">Convicted</Mark> : <Mark tone="warn">Held by itself</Mark>
}
