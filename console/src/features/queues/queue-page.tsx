import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Queue } from '../../api.js'
import { Facts } from '../../components/facts.js'
import { Moment } from '../../components/moment.js'
import { Page, Panel } from '../../components/page.js'
import { Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { count } from '../../words.js'
import { STATES } from '../jobs/search.js'
import { stateWord } from '../jobs/state-mark.js'
import { useCaller } from '../session/session.js'
import { workersQuery } from '../workers/queries.js'
import { WorkerRows } from '../workers/worker-rows.js'
import { Lag } from './lag.js'
import { PauseDialog } from './pause-dialog.js'
import { PolicyForm } from './policy-form.js'
import { queueQuery } from './queries.js'
import { Standing } from './standing.js'
import './queue-page.css'

/** The server does not count these by queue: there may be millions. */
const UNCOUNTED: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled', 'discarded'])

/** One queue: its jobs by state, its brakes, its workers and its policy. */
export function QueuePage() {
  const { queue: name } = useParams({ from: '/queues/$queue' })
  const { data: queue, error, refetch } = useQuery(queueQuery(name))
  const { may } = useCaller()
  const [pausing, setPausing] = useState<Queue>()
  return (
    <Page
      title={`Queue ${name}`}
      summary={queue && <Standing queue={queue} />}
      actions={
        queue !== undefined &&
        may('operate') && (
          <Button size="compact-sm" variant="default" onClick={() => setPausing(queue)}>
            {queue.pausedAt === null ? 'Pause …' : 'Resume …'}
          </Button>
        )
      }
    >
      {pausing !== undefined && <PauseDialog queue={pausing} onClose={() => setPausing(undefined)} />}
      {queue === undefined ? (
        error === null ? (
          <Loading rows={8} />
        ) : (
          <Problem error={error} onRetry={refetch} />
        )
      ) : (
        <>
          <Depth queue={queue} />
          <QueueWorkers name={name} />
          <Panel title="Policy" summary={<Changed queue={queue} />}>
            <PolicyForm key={name} queue={queue} />
          </Panel>
        </>
      )}
    </Page>
  )
}

function Changed({ queue: { updatedAt } }: { queue: Queue }) {
  return updatedAt === null ? (
    'all of it default'
  ) : (
    <>
      last changed <Moment at={updatedAt} />
    </>
  )
}

function Depth({ queue: found }: { queue: Queue }) {
  const { queue, counts, activity, pausedAt, pausedBy, pausedReason } = found
  return (
    <Panel title="Jobs">
      {pausedAt !== null && (
        <p className="queue-paused">
          ▲ Paused <Moment at={pausedAt} isExact /> by <UserText>{pausedBy}</UserText>
          {pausedReason !== null && (
            <>
              : <UserText>{pausedReason}</UserText>
            </>
          )}
        </p>
      )}
      <Facts
        facts={[
          { label: 'Lag', value: <Lag queue={found} /> },
          activity && { label: 'Done a minute', value: count(activity.completedPerMinute) },
          ...STATES.map((state) => ({
            label: stateWord(state),
            value: (
              <Link to="/jobs" search={{ queue, state }}>
                {UNCOUNTED.has(state) ? 'List' : count(counts?.[state] ?? 0)}
              </Link>
            ),
          })),
        ]}
      />
    </Panel>
  )
}

function QueueWorkers({ name }: { name: string }) {
  const { data, error, refetch } = useQuery(workersQuery)
  const own = data?.filter((it) => it.queues.includes(name))
  return (
    <Panel title="Workers" actions={<Link to="/workers">All workers</Link>}>
      {own === undefined ? (
        error === null ? (
          <Loading rows={2} />
        ) : (
          <Problem error={error} onRetry={refetch} isSmall />
        )
      ) : (
        <WorkerRows workers={own} label="Workers of the queue" hasKeys={false} none="No worker takes this queue" />
      )}
    </Panel>
  )
}
