import { Link } from '@tanstack/react-router'
import type { Job } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { useSelection } from '../../components/data-list/selection.js'
import { SelectionBar } from '../../components/data-list/selection-bar.js'
import { Moment } from '../../components/moment.js'
import { UserText } from '../../components/user-text.js'
import { useCaller } from '../session/session.js'
import { ReleaseSelected } from './release-selected.js'

/** Undecodable jobs, newest first, to be chosen from and let go. */
export function UndecodableJobs({ jobs }: { jobs: readonly Job[] }) {
  const { may } = useCaller()
  const selection = useSelection('')
  return (
    <div className="selectable">
      <SelectionBar selection={selection} noun="job" total={undefined} filterText={undefined} hasWhole={false}>
        <ReleaseSelected selection={selection} state="undecodable" />
      </SelectionBar>
      <DataList
        label="Undecodable jobs"
        rows={jobs}
        rowId={({ id }) => id}
        rowName={({ id }) => `job ${id}`}
        columns={COLUMNS}
        {...(may('operate') ? { selection } : {})}
        hasKeys={false}
      />
    </div>
  )
}

const COLUMNS: readonly Column<Job>[] = [
  {
    ...{ id: 'id', header: 'Job', width: '110px', onPhone: 'title' },
    cell: ({ id }) => (
      <Link to="/jobs/$id" params={{ id }}>
        {id}
      </Link>
    ),
  },
  {
    ...{ id: 'kind', header: 'Kind', width: '24%' },
    cell: ({ kind, version }) => (
      <>
        <UserText>{kind}</UserText> version {version}
      </>
    ),
  },
  { id: 'queue', header: 'Queue', width: '16%', cell: ({ queue }) => <UserText>{queue}</UserText> },
  { id: 'reason', header: 'Because', cell: ({ reason }) => <UserText>{reason}</UserText> },
  { id: 'created', header: 'Put in', width: '110px', cell: ({ createdAt }) => <Moment at={createdAt} /> },
]
