import type { Worker } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Mark } from '../../components/mark.js'
import { Moment } from '../../components/moment.js'
import { useNow } from '../../components/now.js'
import { Empty } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { count } from '../../words.js'
import { isHeard } from '../overview/bleeding.js'

interface WorkerRowsProps {
  readonly workers: readonly Worker[]
  readonly label: string
  readonly hasKeys?: boolean
  /** What is said where there is none. */
  readonly none: string
}

/** Processes that run jobs, and whether they are still heard. */
export function WorkerRows({ workers, label, hasKeys = true, none }: WorkerRowsProps) {
  if (workers.length === 0)
    return (
      <Empty title={none}>
        <code>npx spillway work MODULE</code> starts one.
      </Empty>
    )
  return (
    <DataList
      label={label}
      rows={workers}
      rowId={({ registration }) => registration}
      columns={COLUMNS}
      hasKeys={hasKeys}
    />
  )
}

const COLUMNS: readonly Column<Worker>[] = [
  {
    ...{ id: 'name', header: 'Worker', onPhone: 'title' },
    cell: ({ name, host, pid, registration }) => (
      <>
        <UserText>{name}</UserText>
        <div className="small quiet">
          <UserText>{host}</UserText>, process {pid}, registration {registration}
        </div>
      </>
    ),
  },
  { id: 'stands', header: 'Status', width: '110px', cell: (worker) => <Standing worker={worker} /> },
  {
    ...{ id: 'slots', header: 'Slots', width: '110px', align: 'end' },
    cell: ({ running, concurrency }) => `${count(running)} of ${count(concurrency)}`,
  },
  { id: 'queues', header: 'Queues', width: '16%', cell: ({ queues }) => <UserText>{queues.join(', ')}</UserText> },
  {
    ...{ id: 'kinds', header: 'Kinds and versions', width: '24%' },
    cell: ({ kinds }) => <UserText>{kinds.join(', ')}</UserText>,
  },
  { id: 'heard', header: 'Last heard', width: '110px', cell: ({ heartbeatAt }) => <Moment at={heartbeatAt} /> },
  {
    ...{ id: 'started', header: 'Started', width: '110px', onPhone: 'hidden' },
    cell: ({ startedAt }) => <Moment at={startedAt} />,
  },
]

function Standing({ worker }: { worker: Worker }) {
  const now = useNow()
  if (!isHeard(worker, now)) return <Mark tone="bad">Silent</Mark>
  if (worker.state === 'stopping') return <Mark tone="warn">Stopping</Mark>
  return <Mark tone={worker.running > 0 ? 'busy' : 'good'}>{worker.running > 0 ? 'Running' : 'Idle'}</Mark>
}
