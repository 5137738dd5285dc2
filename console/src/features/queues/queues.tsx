import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { Queue } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Page, Panel } from '../../components/page.js'
import { Empty, Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { count, counted } from '../../words.js'
import { workersQuery } from '../workers/queries.js'
import { useGrowth } from './growth.js'
import { Lag } from './lag.js'
import { queuesQuery } from './queries.js'
import { Standing } from './standing.js'
import { Unserved } from './unserved.js'

interface Row {
  readonly queue: Queue
  /** Workers that take it; undefined where that is not known. */
  readonly workers: number | undefined
  /** How many more jobs wait than when the page was opened. */
  readonly growth: number | undefined
}

/** Every queue: how deep it is, whether it grows, whether somebody stopped it, and who works on it. */
export function Queues() {
  const { data, error, refetch } = useQuery(queuesQuery)
  const workers = useQuery(workersQuery)
  const growth = useGrowth(data)
  const navigate = useNavigate()
  const rows = data
    ?.toSorted((a, b) => (a.queue < b.queue ? -1 : 1))
    .map(
      (queue): Row => ({
        queue,
        workers: workers.data?.filter((it) => it.queues.includes(queue.queue)).length,
        growth: growth.get(queue.queue),
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
  {
    ...{ id: 'stands', header: 'Status', width: '150px' },
    cell: ({ queue, growth }) => <Standing queue={queue} growth={growth} />,
  },
  number('available', 'Available'),
  { id: 'lag', header: 'Lag', width: '96px', align: 'end', cell: ({ queue }) => <Lag queue={queue} /> },
  number('running', 'Running'),
  {
    ...{ id: 'pace', header: 'Done a minute', width: '116px', align: 'end' },
    cell: ({ queue: { activity } }) => (activity === undefined ? '–' : count(activity.completedPerMinute)),
  },
  {
    ...{ id: 'later', header: 'Later', width: '80px', align: 'end' },
    cell: ({ queue: { counts = {} } }) => count((counts.scheduled ?? 0) + (counts.retryable ?? 0)),
  },
  number('archived', 'Dead'),
  {
    ...{ id: 'workers', header: 'Workers', width: '84px', align: 'end' },
    cell: ({ workers }) => (workers === undefined ? '…' : count(workers)),
  },
]
