import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Job, Worker } from '../../api.js'
import { Mark, type Tone } from '../../components/mark.js'
import { useNow } from '../../components/now.js'
import { Loading, Problem } from '../../components/states.js'
import { absolute, count, counted, spoken } from '../../words.js'
import { previewBulk } from '../operations/bulk.js'
import { useCaller } from '../session/session.js'
import { workersQuery } from '../workers/queries.js'
import './outlook.css'

/** What a retry would do: with its attempts, its deadline, its key, and who would run it. */
export function Outlook({ job }: { job: Job }) {
  const { may } = useCaller()
  const now = useNow()
  const workers = useQuery(workersQuery)
  return (
    <div className="outlook">
      <ul>
        {linesOf(job, now, workers.data).map(({ tone, word, says }) => (
          <li key={word}>
            <Mark tone={tone}>{word}</Mark> <span>{says}</span>
          </li>
        ))}
      </ul>
      {may('retry') && <DryRun id={job.id} />}
    </div>
  )
}

interface Line {
  readonly tone: Tone
  readonly word: string
  readonly says: string
}

function linesOf(job: Job, now: number, workers: readonly Worker[] | undefined): readonly Line[] {
  const { attempt, maxAttempts, deadline, uniqueKey, kind, version, queue } = job
  const left = maxAttempts - attempt
  const isLate = deadline !== null && deadline.getTime() <= now
  const serving = workers?.filter((it) => it.queues.includes(queue) && it.kinds.includes(`${kind}@${version}`))
  return [
    {
      tone: 'quiet',
      word: 'Attempts',
      says: `By default all ${count(maxAttempts)} again. With “those left” it gets ${left > 0 ? count(left) : 'one: none is left, and one is the least'}.`,
    },
    ...(deadline === null
      ? []
      : [
          isLate
            ? ({ tone: 'bad', word: 'Deadline', says: `Passed at ${absolute(deadline)}: it needs a new one.` } as const)
            : ({ tone: 'warn', word: 'Deadline', says: `It stays ${absolute(deadline)}.` } as const),
        ]),
    ...(uniqueKey === null
      ? []
      : [
          {
            tone: 'warn',
            word: 'Unique key',
            says: 'Refused where a live or held job has its key, unless you say skip or replace.',
          } as const,
        ]),
    ...(serving === undefined
      ? []
      : [
          serving.length === 0
            ? ({
                tone: 'bad',
                word: 'Workers',
                says: 'None serves this kind in this queue now: it would wait.',
              } as const)
            : ({ tone: 'good', word: 'Workers', says: `${counted(serving.length, 'worker')} would run it.` } as const),
        ]),
  ]
}

/** Asks the server itself. A dry run is an operation that moves nothing. */
function DryRun({ id }: { id: string }) {
  const [isAsked, setAsked] = useState(false)
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['preview', 'one', id],
    queryFn: ({ signal }) => previewBulk('bulkRetryDlq', { ids: [id] }, { budget: 'fresh' }, signal),
    enabled: isAsked,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
    meta: { live: false },
  })
  const refusal = data?.preview?.wouldRefuse[0]
  if (!isAsked)
    return (
      <Button size="compact-sm" variant="default" onClick={() => setAsked(true)}>
        Ask the server: dry run
      </Button>
    )
  if (error !== null) return <Problem error={error} onRetry={refetch} isSmall />
  if (data === undefined) return <Loading rows={1} what="Looking what would happen" />
  return (
    <div role="status" className="outlook-answer">
      {data.matched === 0 ? (
        <Mark tone="warn">It is no dead letter any more</Mark>
      ) : refusal === undefined ? (
        <Mark tone="good">A retry would be accepted now</Mark>
      ) : (
        <Mark tone="bad">{`A retry would be refused: ${spoken(refusal.code)}`}</Mark>
      )}
      <Button size="compact-xs" variant="subtle" loading={isFetching} onClick={() => void refetch()}>
        Ask again
      </Button>
    </div>
  )
}
