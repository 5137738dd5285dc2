import { Link } from '@tanstack/react-router'
import type { QuarantinedDetail } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Moment } from '../../components/moment.js'
import { Empty } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { spoken } from '../../words.js'
import { StateMark } from '../jobs/state-mark.js'

type Affected = QuarantinedDetail['jobs'][number]

/** Jobs that are held, or wait and will be. One of them is let go from its own page. */
export function AffectedJobs({ jobs }: { jobs: readonly Affected[] }) {
  if (jobs.length === 0) return <Empty title="No job is held for it" />
  return <DataList label="Jobs of the fingerprint" rows={jobs} rowId={({ id }) => id} columns={COLUMNS} />
}

const COLUMNS: readonly Column<Affected>[] = [
  {
    ...{ id: 'id', header: 'Job', width: '110px', onPhone: 'title' },
    cell: ({ id }) => (
      <Link to="/jobs/$id" params={{ id }}>
        {id}
      </Link>
    ),
  },
  { id: 'state', header: 'State', width: '140px', cell: ({ state }) => <StateMark state={state} /> },
  { id: 'queue', header: 'Queue', cell: ({ queue }) => <UserText>{queue}</UserText> },
  { id: 'reason', header: 'Because', cell: ({ reason }) => <UserText>{reason && spoken(reason)}</UserText> },
  { id: 'at', header: 'Since', width: '110px', cell: ({ at }) => <Moment at={at} /> },
]
