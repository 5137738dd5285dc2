import { Link } from '@tanstack/react-router'
import type { QuarantinedDetail } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Mark } from '../../components/mark.js'
import { Moment } from '../../components/moment.js'
import { Empty } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { spoken } from '../../words.js'

type Crash = QuarantinedDetail['crashLog'][number]

/** Each worker that died while a job of the fingerprint ran. */
export function CrashLog({ crashes }: { crashes: readonly Crash[] }) {
  if (crashes.length === 0) return <Empty title="No crash is on record" />
  return (
    <DataList
      label="Crashes"
      rows={crashes}
      rowId={({ jobId, at }) => `${jobId} ${at.getTime()}`}
      columns={COLUMNS}
      hasKeys={false}
    />
  )
}

const COLUMNS: readonly Column<Crash>[] = [
  { id: 'at', header: 'When', width: '110px', onPhone: 'title', cell: ({ at }) => <Moment at={at} /> },
  {
    ...{ id: 'worker', header: 'Worker' },
    cell: ({ worker, host }) => (
      <>
        <UserText>{worker}</UserText>
        {host !== null && (
          <>
            {' on '}
            <UserText>{host}</UserText>
          </>
        )}
      </>
    ),
  },
  {
    ...{ id: 'job', header: 'Job', width: '110px' },
    cell: ({ jobId }) => (
      <Link to="/jobs/$id" params={{ id: jobId }}>
        {jobId}
      </Link>
    ),
  },
  { id: 'alone', header: 'It ran', width: '130px', cell: ({ alone }) => (alone ? 'alone' : 'beside others') },
  {
    ...{ id: 'counted', header: 'Counts', width: '190px' },
    cell: ({ counted, closedBy }) => {
      if (closedBy !== null) return <Mark tone="quiet">{`No longer: ${spoken(closedBy)}`}</Mark>
      return counted ? <Mark tone="bad">Against it</Mark> : <Mark tone="quiet">Not: same loss as another</Mark>
    },
  },
]
