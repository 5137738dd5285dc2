import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Job } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Pager } from '../../components/data-list/pager.js'
import { useLeaveEmptyPage, usePaging } from '../../components/data-list/paging.js'
import { useSelection } from '../../components/data-list/selection.js'
import { SelectionBar } from '../../components/data-list/selection-bar.js'
import { Moment } from '../../components/moment.js'
import { Empty, Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { count } from '../../words.js'
import { filterText } from './filters.js'
import { jobsQuery } from './queries.js'
import type { JobSearch } from './search.js'
import { SelectionActions } from './selection-actions.js'
import { StateMark } from './state-mark.js'

interface RowsProps {
  readonly search: JobSearch
  /** Whether a row opens beside the list; on a page of its own otherwise. */
  readonly isBeside: boolean
}

/** Jobs that match, page by page, newest first. */
export function Rows({ search, isBeside }: RowsProps) {
  const { cursor, job: shown, ...filter } = search
  const navigate = useNavigate()
  const paging = usePaging()
  const { data, error, refetch, isPlaceholderData } = useQuery(jobsQuery(filter, cursor))
  const selection = useSelection(JSON.stringify(filter))
  useLeaveEmptyPage(paging, data?.items.length === 0 && data.partial !== true && !isPlaceholderData)
  const isShort = shown !== undefined && isBeside
  const columns = useMemo(() => columnsOf(search, isBeside, isShort), [search, isBeside, isShort])
  if (data === undefined) return error === null ? <Loading rows={10} /> : <Problem error={error} onRetry={refetch} />
  const { items, total, partial } = data
  const text = filterText(filter)
  const open = ({ id }: Job) =>
    void (isBeside
      ? navigate({ to: '/jobs', search: { ...search, job: id }, replace: shown !== undefined, resetScroll: false })
      : navigate({ to: '/jobs/$id', params: { id } }))
  return (
    <div className="selectable" aria-busy={isPlaceholderData}>
      {error !== null && <Problem error={error} onRetry={refetch} isSmall />}
      <SelectionBar selection={selection} noun="job" total={total} filterText={text} hasWhole={false}>
        <SelectionActions selection={selection} state={filter.state} />
      </SelectionBar>
      {items.length === 0 && partial !== true ? (
        <Empty title={text === undefined ? 'There is no job yet' : 'No job matches'}>
          {text === undefined ? (
            <>
              <code>npx spillway enqueue KIND</code> puts one in.
            </>
          ) : (
            <Button size="compact-sm" variant="default" onClick={() => void navigate({ to: '/jobs', search: {} })}>
              Clear the filters
            </Button>
          )}
        </Empty>
      ) : (
        <DataList
          label="Jobs"
          rows={items}
          rowId={({ id }) => id}
          rowName={({ id }) => `job ${id}`}
          columns={columns}
          selection={selection}
          onOpen={open}
        />
      )}
      <Pager paging={paging} shown={items.length} total={total} cursor={data.cursor} isPartial={partial} />
    </div>
  )
}

function columnsOf(search: JobSearch, isBeside: boolean, isShort: boolean): readonly Column<Job>[] {
  const id: Column<Job> = {
    ...{ id: 'id', header: 'Job', width: '110px' },
    cell: ({ id }) =>
      isBeside ? (
        <Link
          to="/jobs"
          search={{ ...search, job: id }}
          resetScroll={false}
          aria-current={search.job === id || undefined}
        >
          {id}
        </Link>
      ) : (
        <Link to="/jobs/$id" params={{ id }}>
          {id}
        </Link>
      ),
  }
  const always: readonly Column<Job>[] = [
    id,
    { id: 'kind', header: 'Kind', onPhone: 'title', cell: ({ kind }) => <UserText>{kind}</UserText> },
    { id: 'state', header: 'State', width: '130px', cell: ({ state }) => <StateMark state={state} /> },
    { id: 'queue', header: 'Queue', width: '22%', cell: ({ queue }) => <UserText>{queue}</UserText> },
  ]
  if (isShort) return always
  return [
    ...always,
    {
      ...{ id: 'attempts', header: 'Failed', width: '90px', align: 'end' },
      cell: ({ attempt, maxAttempts }) => `${count(attempt)} of ${count(maxAttempts)}`,
    },
    { id: 'created', header: 'Put in', width: '110px', cell: ({ createdAt }) => <Moment at={createdAt} /> },
    { id: 'due', header: 'Due', width: '110px', onPhone: 'hidden', cell: ({ runAt }) => <Moment at={runAt} /> },
  ]
}
