import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { ArchivedJob } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Pager } from '../../components/data-list/pager.js'
import { useLeaveEmptyPage, usePaging } from '../../components/data-list/paging.js'
import { Moment } from '../../components/moment.js'
import { Empty, Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { StateMark } from '../jobs/state-mark.js'
import { archiveQuery } from './queries.js'
import type { ArchiveSearch } from './search.js'

/** Archived jobs that match, page by page. */
export function Rows({ search }: { search: ArchiveSearch }) {
  const { cursor, job: _, ...filter } = search
  const navigate = useNavigate()
  const paging = usePaging()
  const { data, error, refetch, isPlaceholderData } = useQuery(archiveQuery(filter, cursor))
  const columns = useMemo(() => columnsOf(search), [search])
  useLeaveEmptyPage(paging, data?.items.length === 0 && data.partial !== true && !isPlaceholderData)
  if (data === undefined) return error === null ? <Loading rows={8} /> : <Problem error={error} onRetry={refetch} />
  const { items, total, partial } = data
  return (
    <div aria-busy={isPlaceholderData}>
      {error !== null && <Problem error={error} onRetry={refetch} isSmall />}
      {items.length === 0 && partial !== true ? (
        <Empty title={Object.keys(filter).length === 0 ? 'The archive is empty' : 'No archived job matches'}>
          Queues whose policy has the cold archive copy there what outlived its retention.
        </Empty>
      ) : (
        <DataList
          label="Archived jobs"
          rows={items}
          rowId={({ id }) => id}
          columns={columns}
          onOpen={({ id }) => void navigate({ to: '/archive', search: { ...search, job: id }, resetScroll: false })}
        />
      )}
      <Pager paging={paging} shown={items.length} total={total} cursor={data.cursor} isPartial={partial} />
    </div>
  )
}

function columnsOf(search: ArchiveSearch): readonly Column<ArchivedJob>[] {
  return [
    {
      ...{ id: 'id', header: 'Job', width: '110px' },
      cell: ({ id }) => (
        <Link to="/archive" search={{ ...search, job: id }} resetScroll={false}>
          {id}
        </Link>
      ),
    },
    {
      ...{ id: 'kind', header: 'Kind', onPhone: 'title' },
      cell: ({ kind, dlq }) => (
        <>
          <UserText>{kind}</UserText>
          {dlq?.errorMessage != null && (
            <div className="small quiet">
              <UserText>{dlq.errorMessage}</UserText>
            </div>
          )}
        </>
      ),
    },
    { id: 'state', header: 'It was', width: '130px', cell: ({ state }) => <StateMark state={state} /> },
    { id: 'queue', header: 'Queue', width: '16%', cell: ({ queue }) => <UserText>{queue}</UserText> },
    { id: 'at', header: 'Moved here', width: '110px', cell: ({ archivedAt }) => <Moment at={archivedAt} /> },
    {
      ...{ id: 'until', header: 'Expires', width: '110px' },
      cell: ({ keepUntil }) => <Moment at={keepUntil} none="never" />,
    },
  ]
}
