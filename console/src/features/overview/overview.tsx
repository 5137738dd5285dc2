import { useQuery } from '@tanstack/react-query'
import { Page, Panel } from '../../components/page.js'
import { counted } from '../../words.js'
import { depthQuery } from '../dead-letters/queries.js'
import { Unserved } from '../queues/unserved.js'
import { DutiesLate } from './duties-late.js'
import { FlowPanel } from './flow-panel.js'
import { Queues } from './queues.js'
import { Tiles } from './tiles.js'
import { TopCauses } from './top-causes.js'
import { Workers } from './workers.js'
import './overview.css'

/** Whether anything is bleeding right now, and where. */
export function Overview() {
  const depth = useQuery(depthQuery)
  return (
    <Page title="Overview">
      <Tiles />
      <FlowPanel />
      <TopCauses />
      <Unserved />
      <DutiesLate />
      <div className="overview-columns">
        <Panel
          title="Queues"
          summary={
            depth.data === undefined
              ? undefined
              : `${counted(depth.data.queues.length, 'queue has', 'queues have')} dead letters`
          }
        >
          <Queues />
        </Panel>
        <Workers />
      </div>
    </Page>
  )
}
