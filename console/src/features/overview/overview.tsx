import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Page, Panel } from '../../components/page.js'
import { Loading, Problem } from '../../components/states.js'
import { counted } from '../../words.js'
import { Causes } from '../dead-letters/causes.js'
import { depthQuery, groupsQuery } from '../dead-letters/queries.js'
import { FlowPanel } from './flow-panel.js'
import { Queues } from './queues.js'
import { Tiles } from './tiles.js'
import { Workers } from './workers.js'
import './overview.css'

const TOP = 6

/** Whether anything is bleeding right now, and where. */
export function Overview() {
  const depth = useQuery(depthQuery)
  return (
    <Page title="Overview">
      <Tiles />
      <FlowPanel />
      <TopCauses />
      <div className="overview-columns">
        <Panel
          title="Queues"
          summary={
            depth.data === undefined
              ? undefined
              : counted(depth.data.queues.length, 'queue has', 'queues have') + ' dead letters'
          }
        >
          <Queues />
        </Panel>
        <Workers />
      </div>
    </Page>
  )
}

function TopCauses() {
  const { data, error, refetch } = useQuery(groupsQuery({}, TOP))
  return (
    <Panel title="Top causes" actions={<Link to="/dlq">All dead letters</Link>}>
      {data !== undefined ? (
        <Causes groups={data.items} />
      ) : error !== null ? (
        <Problem error={error} onRetry={refetch} />
      ) : (
        <Loading rows={4} />
      )}
    </Panel>
  )
}
