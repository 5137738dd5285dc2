import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { UnservedKind } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Mark } from '../../components/mark.js'
import { Panel } from '../../components/page.js'
import { Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { counted, lengthOf } from '../../words.js'
import { unservedQuery } from './queries.js'

/** Kinds whose jobs wait although workers take their queue: none of them has the code. Nothing is drawn while all are served. */
export function Unserved() {
  const { data, error, refetch } = useQuery(unservedQuery)
  if (data?.length === 0) return null
  return (
    <Panel
      title="Jobs unserved"
      summary={data && `${counted(data.length, 'kind')} that no worker of the queue has the code of`}
    >
      {data === undefined ? (
        error === null ? (
          <Loading rows={2} />
        ) : (
          <Problem error={error} onRetry={refetch} isSmall />
        )
      ) : (
        <DataList
          label="Jobs unserved"
          rows={data}
          rowId={({ queue, kind, version }) => `${queue} ${kind} ${version}`}
          columns={COLUMNS}
          hasKeys={false}
        />
      )}
    </Panel>
  )
}

const COLUMNS: readonly Column<UnservedKind>[] = [
  {
    ...{ id: 'kind', header: 'Kind', onPhone: 'title' },
    cell: ({ kind, version, queue }) => (
      <Link to="/jobs" search={{ queue, kind, state: 'available' }}>
        <UserText>{kind}</UserText> version {version}
      </Link>
    ),
  },
  { id: 'queue', header: 'Queue', width: '22%', cell: ({ queue }) => <UserText>{queue}</UserText> },
  { id: 'waited', header: 'Waited', width: '120px', cell: ({ waitedMs }) => lengthOf(waitedMs) },
  {
    ...{ id: 'limit', header: 'Given up', width: '180px' },
    cell: ({ waitedMs, limitMs }) => (
      <Mark tone={waitedMs > limitMs / 2 ? 'bad' : 'warn'}>
        {waitedMs >= limitMs ? 'About now' : `In ${lengthOf(limitMs - waitedMs)}`}
      </Mark>
    ),
  },
]
