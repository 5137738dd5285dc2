import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Page, Panel } from '../../components/page.js'
import { Loading, Problem } from '../../components/states.js'
import { count, counted } from '../../words.js'
import { CausePanel } from './cause-panel.js'
import { Causes } from './causes.js'
import { DlqFilters, filterText } from './filters.js'
import { depthQuery, groupsQuery } from './queries.js'
import { Rows } from './rows.js'

const FIRST = 8
const MANY = 200

/** What died and why: causes first, then the rows. */
export function DeadLetters() {
  const { cursor: _, ...filter } = useSearch({ from: '/dlq' })
  const navigate = useNavigate({ from: '/dlq' })
  const depth = useQuery(depthQuery)
  return (
    <Page
      title="Dead letters"
      summary={depth.data && `${count(depth.data.total)} in ${counted(depth.data.queues.length, 'queue')}`}
    >
      {filter.cause === undefined ? (
        <CausesPanel queue={filter.queue} kind={filter.kind} />
      ) : (
        filter.queue !== undefined && <CausePanel queue={filter.queue} cause={filter.cause} />
      )}
      <Panel title="Rows" summary="newest death first">
        <DlqFilters filter={filter} onChange={(next) => void navigate({ search: next })} />
        <Rows filter={filter} filterText={filterText(filter)} />
      </Panel>
    </Page>
  )
}

/** Causes, narrowed as far as the API narrows them. */
function CausesPanel({ queue, kind }: { queue: string | undefined; kind: string | undefined }) {
  const [limit, setLimit] = useState(FIRST)
  const { data, error, refetch } = useQuery(groupsQuery({ queue, kind }, limit))
  const hasMore = data?.cursor !== null && data !== undefined
  return (
    <Panel
      title="Causes"
      summary={data && (hasMore ? `the ${count(data.items.length)} most frequent` : 'most frequent first')}
      actions={
        hasMore && limit < MANY ? (
          <Button size="compact-sm" variant="subtle" onClick={() => setLimit(MANY)}>
            Show more
          </Button>
        ) : undefined
      }
    >
      {data !== undefined ? (
        <Causes groups={data.items} />
      ) : error !== null ? (
        <Problem error={error} onRetry={refetch} />
      ) : (
        <Loading rows={5} />
      )}
    </Panel>
  )
}
