import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { Queue } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Mark } from '../../components/mark.js'
import { Page, Panel } from '../../components/page.js'
import { Empty, Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { count, counted } from '../../words.js'
import { workersQuery } from '../workers/queries.js'
import { queuesQuery } from './queries.js'
import { Unserved } from './unserved.js'

interface Row {
  readonly queue: Queue
  /** Workers that take it; undefined where that is not known. */
  readonly workers: number | undefined
}

/** Every queue: how deep it is, whether somebody stopped it, and who works on it. */
export function Queues() {
  const { data, error, refetch } = useQuery(queuesQuery)
  const workers = useQuery(workersQuery)
  const navigate = useNavigate()
  const rows = data
    ?.toSorted((a, b) => (a.queue < b.queue ? -1 : 1))
    .map(
      (queue): Row => ({
        queue,
        workers: workers.data?.filter((it) => it.queues.includes(queue.queue)).length,
      }),
    )
  return (
    <Page title="Queues" summary={rows && counted(rows.length, 'queue')}>
      <Panel title="All queues">
        {rows === undefined ? (
          error === null ? (
            <Loading rows={6} />
          ) : (
            <Problem error={error} onRetry={refetch} />
          )
        ) : rows.length === 0 ? (
          <Empty title="There is no queue yet">The first job that is put in makes one.</Empty>
        ) : (
          <DataList
            label="Queues"
            rows={rows}
            rowId={({ queue }) => queue.queue}
            columns={COLUMNS}
            onOpen={({ queue }) => void navigate({ to: '/queues/$queue', params: { queue: queue.queue } })}
          />
        )}
      </Panel>
      <Unserved />
    </Page>
  )
}

const number = (state: keyof NonNullable<Queue['counts']>, header: string): Column<Row> => ({
  ...{ id: state, header, width: '88px', align: 'end' },
  cell: ({ queue }) => count(queue.counts?.[state] ?? 0),
})

const COLUMNS: readonly Column<Row>[] = [
  {
    ...{ id: 'queue', header: 'Queue', onPhone: 'title' },
    cell: ({ queue: { queue } }) => (
      <Link to="/queues/$queue" params={{ queue }}>
        <UserText>{queue}</UserText>
      </Link>
    ),
  },
  { id: 'stands', header: 'Stands', width: '120px', cell: ({ queue }) => <Standing queue={queue} /> },
  number('available', 'Available'),
  number('running', 'Running'),
  number('retryable', 'Retryable'),
  number('scheduled', 'Scheduled'),
  number('archived', 'Dead'),
  {
    ...{ id: 'workers', header: 'Workers', width: '84px', align: 'end' },
    cell: ({ workers }) => (workers === undefined ? '…' : count(workers)),
  },
]

/** Whether anything keeps workers from a queue. */
export function Standing({ queue: { pausedAt } }: { queue: Queue }) {
  return pausedAt === null ? <Mark tone="good">Open</Mark> : <Mark tone="warn">Paused</Mark>
}
