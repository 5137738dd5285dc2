import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Moment } from '../../components/moment.js'
import { Empty, Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { count } from '../../words.js'
import { depthQuery } from '../dead-letters/queries.js'
import { useGrowth } from '../queues/growth.js'
import { queuesQuery } from '../queues/queries.js'
import { Standing } from '../queues/standing.js'
import { waitingIn } from '../queues/waiting.js'

/** Depth by queue, the deepest first, and what waits in it. */
export function Queues() {
  const queues = useQuery(queuesQuery)
  const depth = useQuery(depthQuery)
  const growth = useGrowth(queues.data)
  const error = queues.error ?? depth.error
  if (queues.data === undefined || depth.data === undefined) {
    return error === null ? (
      <Loading rows={4} />
    ) : (
      <Problem error={error} onRetry={() => Promise.all([queues.refetch(), depth.refetch()])} />
    )
  }
  const dead = new Map(depth.data.queues.map((it) => [it.queue, it]))
  const rows = queues.data
    .map((it) => ({ ...it, dead: dead.get(it.queue)?.depth ?? 0, oldestAt: dead.get(it.queue)?.oldestAt ?? null }))
    .sort((a, b) => b.dead - a.dead || waitingIn(b) - waitingIn(a))
  if (rows.length === 0) return <Empty title="There is no queue yet">The first job that is put in makes one.</Empty>
  const most = Math.max(1, ...rows.map((it) => it.dead))
  return (
    <table className="overview-table">
      <thead>
        <tr>
          <th>Queue</th>
          <th data-align="end">Dead</th>
          <th>Oldest</th>
          <th data-align="end">Waiting</th>
          <th>Status</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.queue}>
            <td>
              <Link to="/dlq" search={{ queue: row.queue }}>
                <UserText>{row.queue}</UserText>
              </Link>
            </td>
            <td data-align="end">
              <span className="overview-bar" style={{ inlineSize: `${(row.dead / most) * 48}px` }} />
              {count(row.dead)}
            </td>
            <td>
              <Moment at={row.oldestAt} />
            </td>
            <td data-align="end">{count(waitingIn(row))}</td>
            <td>
              <Standing queue={row} growth={growth.get(row.queue)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
