import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { Job } from '../../api.js'
import { Page, Panel } from '../../components/page.js'
import { Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { Refusal } from '../../server.js'
import { counted, spoken } from '../../words.js'
import { History } from '../jobs/history.js'
import { Why } from '../jobs/why.js'
import { deadLetterQuery, triageQuery } from './detail-queries.js'
import { DeathFacts } from './facts.js'
import { Failure, lastFailure } from './failure.js'
import { Gone } from './gone.js'
import { Neighbours } from './neighbours.js'
import { OneActions } from './one-actions.js'
import { Outlook } from './outlook.js'
import { Payload } from './payload.js'
import { TriageMenu } from './triage-menu.js'
import { TriageSaid } from './triage-said.js'
import './detail.css'

/** One death: what happened, what it was given, what a retry would do, and what can be done. */
export function DeadLetterDetail() {
  const { id } = useParams({ from: '/dlq/$id' })
  const { data: job, error, refetch } = useQuery(deadLetterQuery(id))
  const isGone = error instanceof Refusal && error.status === 404
  if (isGone && job === undefined) return <Gone id={id} />
  if (job === undefined)
    return (
      <Page title={`Dead letter ${id}`}>
        {error === null ? <Loading rows={12} /> : <Problem error={error} onRetry={refetch} />}
      </Page>
    )
  return (
    <Page title={`Dead letter ${id}`} summary={<DiedOf job={job} />} actions={<OneActions job={job} isGone={isGone} />}>
      {/* What was just done with it is said in a dialog of this page, which stays until it is left. */}
      {isGone && <LeftMeanwhile id={id} />}
      {error !== null && !isGone && <Problem error={error} onRetry={refetch} isSmall />}
      {/* Another dead letter is another screen: nothing that was asked for or typed goes along. */}
      <Parts key={id} job={job} />
    </Page>
  )
}

function LeftMeanwhile({ id }: { id: string }) {
  return (
    <p className="detail-left" role="status">
      It is no dead letter any more. What stands here is what was known of it before.{' '}
      <Link to="/jobs/$id" params={{ id }}>
        Where the job is now
      </Link>
    </p>
  )
}

function DiedOf({ job: { dlq } }: { job: Job }) {
  return (
    <>
      {spoken(dlq?.reason ?? '')} · <UserText>{dlq?.errorMessage ?? dlq?.errorClass}</UserText>
    </>
  )
}

function Parts({ job }: { job: Job }) {
  const history = job.history ?? []
  const failure = lastFailure(history)
  return (
    <div className="detail">
      <div className="detail-main">
        <Panel title="Summary">
          <DeathFacts job={job} />
        </Panel>
        <Panel title="Error">
          {failure === undefined ? (
            <p className="detail-text quiet">No attempt of it has failed with an error.</p>
          ) : (
            <Failure entry={failure} />
          )}
        </Panel>
        <Payload id={job.id} />
        <Panel title="History" summary={counted(history.length, 'entry', 'entries')}>
          {history.length === 0 ? (
            <p className="detail-text quiet">Nothing is kept of it.</p>
          ) : (
            <History id={job.id} entries={history} />
          )}
        </Panel>
      </div>
      <div className="detail-side">
        <Panel title="If it is retried">
          <Outlook job={job} />
        </Panel>
        <TriagePanel job={job} />
        <Panel title="Same cause">
          <Neighbours job={job} />
        </Panel>
        <Panel title="Where it is">
          <Why id={job.id} />
        </Panel>
      </div>
    </div>
  )
}

function TriagePanel({ job }: { job: Job }) {
  const { data, error, refetch } = useQuery(triageQuery(job.id))
  const { queue, dlq } = job
  return (
    <Panel
      title="Triage"
      actions={
        <>
          <TriageMenu label="This one" target={{ id: job.id }} triage={data} />
          {dlq !== null && <TriageMenu label="Its cause" target={{ queue, cause: dlq.cause }} triage={undefined} />}
        </>
      }
    >
      <div className="detail-text">
        {data !== undefined ? (
          <TriageSaid triage={data} />
        ) : error === null ? (
          <Loading rows={2} />
        ) : (
          <Problem error={error} onRetry={refetch} isSmall />
        )}
      </div>
    </Panel>
  )
}
