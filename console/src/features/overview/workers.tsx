import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Queue, Worker } from '../../api.js'
import { Mark } from '../../components/mark.js'
import { Moment } from '../../components/moment.js'
import { useNow } from '../../components/now.js'
import { Panel } from '../../components/page.js'
import { Empty, Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { counted } from '../../words.js'
import { queuesQuery } from '../queues/queries.js'
import { waitingIn } from '../queues/waiting.js'
import { workersQuery } from '../workers/queries.js'
import { isHeard, queuesWithoutWorker } from './bleeding.js'

/** Who is missing: workers that fell silent, and queues that wait for one. */
export function Workers() {
  const now = useNow()
  const workers = useQuery(workersQuery)
  const queues = useQuery(queuesQuery)
  const error = workers.error ?? queues.error
  const all = workers.data
  const heard = all?.filter((it) => isHeard(it, now)) ?? []
  return (
    <Panel
      title="Workers"
      summary={
        all &&
        `${counted(heard.length, 'worker')} heard, ${counted(
          heard.reduce((sum, it) => sum + it.running, 0),
          'job',
        )} running`
      }
      actions={<Link to="/workers">All workers</Link>}
    >
      {all !== undefined && queues.data !== undefined ? (
        <Missing silent={all.filter((it) => !isHeard(it, now))} waiting={queuesWithoutWorker(queues.data, all, now)} />
      ) : error !== null ? (
        <Problem error={error} onRetry={() => Promise.all([workers.refetch(), queues.refetch()])} />
      ) : (
        <Loading rows={3} />
      )}
    </Panel>
  )
}

function Missing({ silent, waiting }: { silent: readonly Worker[]; waiting: readonly Queue[] }) {
  if (silent.length === 0 && waiting.length === 0) return <Empty title="Nobody is missing" />
  return (
    <ul className="overview-missing">
      {waiting.map((it) => (
        <li key={it.queue}>
          <Mark tone="bad">No worker</Mark>{' '}
          <Link to="/jobs" search={{ queue: it.queue, state: 'available' }}>
            <UserText>{it.queue}</UserText>
          </Link>{' '}
          {counted(waitingIn(it), 'job waits', 'jobs wait')}
        </li>
      ))}
      {silent.map((it) => (
        <li key={it.registration}>
          <Mark tone="warn">Silent</Mark> <UserText>{it.name}</UserText> on <UserText>{it.host}</UserText>, last heard{' '}
          <Moment at={it.heartbeatAt} />
        </li>
      ))}
    </ul>
  )
}
