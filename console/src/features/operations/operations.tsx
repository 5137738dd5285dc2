import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { Operation } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Pager } from '../../components/data-list/pager.js'
import { usePaging } from '../../components/data-list/paging.js'
import { Moment } from '../../components/moment.js'
import { Page, Panel } from '../../components/page.js'
import { Empty, Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { count } from '../../words.js'
import { actionText, selectorText } from './about.js'
import { Progress } from './progress.js'
import { operationsQuery } from './queries.js'
import { StateMark } from './state-mark.js'
import './operations.css'

/** Bulk work, past and present. */
export function Operations() {
  const { cursor } = useSearch({ from: '/operations' })
  const navigate = useNavigate()
  const paging = usePaging()
  const { data, error, refetch } = useQuery(operationsQuery(cursor))
  return (
    <Page title="Operations" summary="bulk work">
      <Panel title="All operations" summary="newest first">
        {error !== null && <Problem error={error} onRetry={refetch} isSmall={data !== undefined} />}
        {data === undefined && error === null && <Loading rows={8} />}
        {data?.items.length === 0 && (
          <Empty title="No operations">
            What is done to many dead letters at once is listed here, dry runs too. <Link to="/dlq">Dead letters</Link>
          </Empty>
        )}
        {data !== undefined && data.items.length > 0 && (
          <>
            <DataList
              label="Operations"
              rows={data.items}
              rowId={({ id }) => id}
              columns={COLUMNS}
              onOpen={({ id }) => void navigate({ to: '/operations/$id', params: { id } })}
            />
            <Pager paging={paging} shown={data.items.length} total={data.total} cursor={data.cursor} />
          </>
        )}
      </Panel>
    </Page>
  )
}

const COLUMNS: readonly Column<Operation>[] = [
  {
    id: 'id',
    header: 'Operation',
    width: '92px',
    cell: ({ id }) => (
      <Link to="/operations/$id" params={{ id }}>
        {id}
      </Link>
    ),
  },
  { id: 'what', header: 'What', onPhone: 'title', cell: (operation) => <What operation={operation} /> },
  { id: 'state', header: 'State', width: '110px', cell: (operation) => <StateMark operation={operation} /> },
  { id: 'progress', header: 'Progress', width: '190px', cell: (operation) => <Progress operation={operation} /> },
  {
    id: 'done',
    header: 'Done',
    width: '80px',
    align: 'end',
    cell: ({ dryRun, succeeded }) => (dryRun ? '–' : count(succeeded)),
  },
  {
    id: 'not',
    header: 'Not done',
    width: '84px',
    align: 'end',
    cell: ({ dryRun, skipped, failed }) => (dryRun ? '–' : count(skipped + failed)),
  },
  { id: 'created', header: 'Begun', width: '104px', cell: ({ createdAt }) => <Moment at={createdAt} /> },
]

function What({ operation }: { operation: Operation }) {
  const { createdBy, reason } = operation
  return (
    <div>
      <div className="operations-what">
        {actionText(operation)}: <UserText>{selectorText(operation)}</UserText>
      </div>
      <div className="operations-who">
        by <UserText>{createdBy}</UserText>
        {reason !== null && (
          <>
            {' · '}
            <UserText>{reason}</UserText>
          </>
        )}
      </div>
    </div>
  )
}
