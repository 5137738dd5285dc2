import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Panel } from '../../components/page.js'
import { Empty, Loading, Problem } from '../../components/states.js'
import { count, counted } from '../../words.js'
import { Causes } from '../dead-letters/causes.js'
import { groupsQuery } from '../dead-letters/queries.js'

const TOP = 6
/** So many causes are looked at; what is rarer than those is found among the dead letters. */
const LOOKED_AT = 200

/** What kills most, and before that what somebody took for fixed and kills again. Muted causes are counted, not listed. */
export function TopCauses() {
  const { data, error, refetch } = useQuery(groupsQuery({}, LOOKED_AT))
  const all = data?.items ?? []
  const regressed = all.filter(({ status }) => status === 'regressed')
  const muted = all.filter(({ status }) => status === 'muted')
  const others = all.filter(({ status }) => status !== 'regressed' && status !== 'muted')
  const noise = muted.reduce((sum, it) => sum + it.count, 0)
  return (
    <>
      {regressed.length > 0 && (
        <Panel title="Failed again" summary={`${counted(regressed.length, 'cause')} that somebody had resolved`}>
          <Causes groups={regressed} label="Causes that failed again" />
        </Panel>
      )}
      <Panel
        title="Top causes"
        summary={
          muted.length === 0 ? undefined : `${counted(muted.length, 'cause')} with ${count(noise)} dead left out: muted`
        }
        actions={<Link to="/dlq">All dead letters</Link>}
      >
        {data !== undefined ? (
          others.length === 0 && all.length > 0 ? (
            <Empty title="No other cause" />
          ) : (
            <Causes groups={others.slice(0, TOP)} />
          )
        ) : error !== null ? (
          <Problem error={error} onRetry={refetch} />
        ) : (
          <Loading rows={4} />
        )}
      </Panel>
    </>
  )
}
