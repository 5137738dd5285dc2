import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Job } from '../../api.js'
import { JsonView } from '../../components/json-view.js'
import { Panel } from '../../components/page.js'
import { Loading, Problem } from '../../components/states.js'
import { History } from './history.js'
import { JobActions } from './job-actions.js'
import { JobFacts } from './job-facts.js'
import { Payload } from './payload.js'
import { jobQuery } from './queries.js'
import { StateMark } from './state-mark.js'
import { Why } from './why.js'
import './job-view.css'

/** All about one job, on a page of its own or beside the list. */
export function JobView({ id }: { id: string }) {
  const { data: job, error, refetch } = useQuery(jobQuery(id))
  if (job === undefined) return error === null ? <Loading rows={8} /> : <Problem error={error} onRetry={refetch} />
  return (
    <div className="job-view">
      {error !== null && <Problem error={error} onRetry={refetch} isSmall />}
      <div className="job-view-head">
        <StateMark state={job.state} />
        {job.state === 'archived' && (
          <Link to="/dlq/$id" params={{ id }}>
            Its death in full
          </Link>
        )}
        <div className="job-view-actions">
          <JobActions job={job} />
        </div>
      </div>
      <Panel title="Why it is here">
        <Why id={id} />
      </Panel>
      <Panel title="Facts">
        <JobFacts job={job} />
      </Panel>
      <Panel title="History">
        {job.history === undefined || job.history.length === 0 ? (
          <p className="job-view-note">Nothing has gone wrong with it, and nobody has touched it.</p>
        ) : (
          <History id={id} entries={job.history} />
        )}
      </Panel>
      <Panel title="Payload">
        <Payload id={id} />
      </Panel>
      <Extras job={job} />
    </div>
  )
}

/** What handlers and producers left on it, where there is any. */
function Extras({ job: { result, progress, metadata } }: { job: Job }) {
  const parts = { Result: result, Progress: progress, Metadata: metadata }
  return Object.entries(parts)
    .filter(([, value]) => value !== undefined && value !== null && JSON.stringify(value) !== '{}')
    .map(([title, value]) => (
      <Panel key={title} title={title}>
        <JsonView value={value} label={title} />
      </Panel>
    ))
}
