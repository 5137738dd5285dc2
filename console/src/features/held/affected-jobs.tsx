import { Link } from '@tanstack/react-router'
import type { QuarantinedDetail } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { useSelection } from '../../components/data-list/selection.js'
import { SelectionBar } from '../../components/data-list/selection-bar.js'
import { Moment } from '../../components/moment.js'
import { Empty } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { spoken } from '../../words.js'
import { StateMark } from '../jobs/state-mark.js'
import { useCaller } from '../session/session.js'
import { ReleaseSelected } from './release-selected.js'

type Affected = QuarantinedDetail['jobs'][number]

interface AffectedJobsProps {
  readonly fingerprint: string
  readonly jobs: readonly Affected[]
}

/** Jobs that are held, or wait and will be. Some of them can be chosen and let go. */
export function AffectedJobs({ fingerprint, jobs }: AffectedJobsProps) {
  const { may } = useCaller()
  const selection = useSelection(fingerprint)
  if (jobs.length === 0) return <Empty title="No job is held for it" />
  return (
    <div className="selectable">
      <SelectionBar selection={selection} noun="job" total={undefined} filterText={undefined} hasWhole={false}>
        <ReleaseSelected selection={selection} state="quarantined" />
      </SelectionBar>
      <DataList
        label="Jobs of the fingerprint"
        rows={jobs}
        rowId={({ id }) => id}
        rowName={({ id }) => `job ${id}`}
        columns={COLUMNS}
        {...(may('operate') ? { selection } : {})}
      />
    </div>
  )
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
