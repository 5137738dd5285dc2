import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { Operation } from '../../api.js'
import { Moment } from '../../components/moment.js'
import { Page, Panel } from '../../components/page.js'
import { Empty, Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { Refusal } from '../../server.js'
import { lengthOf } from '../../words.js'
import { actionText, phaseText, selectorText } from './about.js'
import { OperationActions } from './operation-actions.js'
import { Outcomes } from './outcomes.js'
import { Pace } from './pace.js'
import { Preview } from './preview.js'
import { Progress } from './progress.js'
import { isOver, operationQuery } from './queries.js'
import { OperationRows } from './rows.js'
import { StateMark } from './state-mark.js'
import './operation.css'

/** One operation, as it goes: how far it is, what became of each row, and its brakes. */
export function OperationDetail() {
  const { id } = useParams({ from: '/operations/$id' })
  const { data, error, refetch } = useQuery(operationQuery(id))
  const title = `Operation ${id}`
  if (data !== undefined)
    return (
      <Page title={title} summary={actionText(data)} actions={<OperationActions operation={data} />}>
        {error !== null && <Problem error={error} onRetry={refetch} isSmall />}
        <Parts operation={data} />
      </Page>
    )
  if (error instanceof Refusal && error.status === 404)
    return (
      <Page title={title}>
        <Empty title="No such operation">
          There is none with this number on the queues you see. <Link to="/operations">All operations</Link>
        </Empty>
      </Page>
    )
  return (
    <Page title={title}>{error === null ? <Loading rows={8} /> : <Problem error={error} onRetry={refetch} />}</Page>
  )
}

function Parts({ operation }: { operation: Operation }) {
  const { id, dryRun, preview, skipped, failed } = operation
  return (
    <>
      <Panel title="Progress" summary={<StateMark operation={operation} />}>
        <div className="operation-part">
          <Progress operation={operation} />
          <p role="status">{phaseText(operation)}</p>
          {operation.stateReason !== null && (
            <p className="operation-because">
              <UserText>{operation.stateReason}</UserText>
            </p>
          )}
          {!operation.dryRun && <Outcomes operation={operation} />}
        </div>
      </Panel>
      {!isOver(operation) && !dryRun && <Pace operation={operation} />}
      <Panel title="About">
        <About operation={operation} />
      </Panel>
      {preview !== null && (
        <Panel title="What its dry run found">
          <div className="operation-part">
            <Preview operation={operation} isPast />
          </div>
        </Panel>
      )}
      {skipped + failed > 0 && <OperationRows id={id} />}
    </>
  )
}

function About({ operation }: { operation: Operation }) {
  const { createdBy, reason, createdAt, startedAt, finishedAt, canary, undoneBy, undoOf } = operation
  return (
    <dl className="operation-about">
      <dt>Rows</dt>
      <dd>
        <UserText>{selectorText(operation)}</UserText>
      </dd>
      <dt>By</dt>
      <dd>
        <UserText>{createdBy}</UserText> <Moment at={createdAt} isExact />
      </dd>
      {reason !== null && (
        <>
          <dt>Reason</dt>
          <dd>
            <UserText>{reason}</UserText>
          </dd>
        </>
      )}
      {canary !== null && (
        <>
          <dt>Canaries</dt>
          <dd>{canary}</dd>
        </>
      )}
      {finishedAt !== null && startedAt !== null && (
        <>
          <dt>Ended</dt>
          <dd>
            <Moment at={finishedAt} isExact />, after{' '}
            {lengthOf(Math.max(0, finishedAt.getTime() - startedAt.getTime()))}
          </dd>
        </>
      )}
      <Other label="Takes back" id={undoOf} />
      <Other label="Taken back by" id={undoneBy} />
    </dl>
  )
}

function Other({ label, id }: { label: string; id: string | null }) {
  if (id === null) return null
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <Link to="/operations/$id" params={{ id }}>
          Operation {id}
        </Link>
      </dd>
    </>
  )
}
