import { useQuery } from '@tanstack/react-query'
import { useNow } from '../../components/now.js'
import { Page, Panel } from '../../components/page.js'
import { Loading, Problem } from '../../components/states.js'
import { count, counted } from '../../words.js'
import { isHeard } from '../overview/bleeding.js'
import { Unserved } from '../queues/unserved.js'
import { workersQuery } from './queries.js'
import { WorkerRows } from './worker-rows.js'

/** Who runs jobs: what each serves, how much of it is taken, and who fell silent. */
export function Workers() {
  const now = useNow()
  const { data, error, refetch } = useQuery(workersQuery)
  const heard = data?.filter((it) => isHeard(it, now)) ?? []
  const slots = heard.reduce((sum, it) => sum + it.concurrency, 0)
  const silent = (data?.length ?? 0) - heard.length
  return (
    <Page
      title="Workers"
      summary={
        data &&
        `${counted(heard.length, 'worker')} heard with ${counted(slots, 'slot')}${silent > 0 ? `, ${count(silent)} silent` : ''}`
      }
    >
      <Panel title="All workers">
        {data === undefined ? (
          error === null ? (
            <Loading rows={5} />
          ) : (
            <Problem error={error} onRetry={refetch} />
          )
        ) : (
          <WorkerRows workers={data} label="Workers" none="No worker is registered" />
        )}
      </Panel>
      <Unserved />
    </Page>
  )
}
