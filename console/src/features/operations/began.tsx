import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { Operation } from '../../api.js'
import { count, counted } from '../../words.js'
import { useRefreshDeadLetters } from '../dead-letters/after.js'
import { Progress } from './progress.js'
import { isOver, operationQuery } from './queries.js'

interface BeganProps {
  readonly operation: Operation
  /** What it does: `sends` 40 dead letters … */
  readonly verb: string
  /** … `back to work`. */
  readonly says: string
}

/** An operation that a dialog has begun: what it does, how far it is, and at its end what became of the rows. */
export function Began({ operation, verb, says }: BeganProps) {
  const { data = operation } = useQuery({ ...operationQuery(operation.id), initialData: operation })
  const refresh = useRefreshDeadLetters()
  const isDone = isOver(data)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when its last row is through.
  useEffect(() => {
    if (isDone) void refresh()
  }, [isDone])
  return (
    <>
      <p>
        <Link to="/operations/$id" params={{ id: operation.id }}>
          Operation {operation.id}
        </Link>{' '}
        {verb} {counted(operation.matched, 'dead letter')} {says}.
      </p>
      <Progress operation={data} />
      <p className="small quiet">
        {isDone ? (
          <>
            It is over: {count(data.succeeded)} done, {count(data.skipped)} skipped, {count(data.failed)} refused.
          </>
        ) : (
          'It goes on without this page. It can be watched, slowed, paused and cancelled there.'
        )}
      </p>
    </>
  )
}
