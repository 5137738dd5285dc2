import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { QuarantinedDetail } from '../../api.js'
import { Facts } from '../../components/facts.js'
import { Moment } from '../../components/moment.js'
import { Page, Panel } from '../../components/page.js'
import { Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { count, counted } from '../../words.js'
import { useCaller } from '../session/session.js'
import { AffectedJobs } from './affected-jobs.js'
import { CrashLog } from './crash-log.js'
import { Standing } from './quarantine.js'
import { quarantinedQuery } from './queries.js'
import { ReleaseDialog } from './release-dialog.js'
import { Sample } from './sample.js'

/** One fingerprint: what it did, to whom, which jobs are held for it, and the way out. */
export function QuarantinedPage() {
  const { fingerprint } = useParams({ from: '/held/$fingerprint' })
  const { data, error, refetch } = useQuery(quarantinedQuery(fingerprint))
  const { may } = useCaller()
  const [releasing, setReleasing] = useState<QuarantinedDetail>()
  return (
    <Page
      title="Quarantined"
      summary={<code>{fingerprint}</code>}
      actions={
        data !== undefined &&
        may('operate') && (
          <Button size="compact-sm" onClick={() => setReleasing(data)}>
            Release …
          </Button>
        )
      }
    >
      {releasing !== undefined && <ReleaseDialog found={releasing} onClose={() => setReleasing(undefined)} />}
      {data === undefined ? (
        error === null ? (
          <Loading rows={8} />
        ) : (
          <Problem error={error} onRetry={refetch} />
        )
      ) : (
        <Found found={data} />
      )}
      <Link to="/held">All that is held</Link>
    </Page>
  )
}

function Found({ found }: { found: QuarantinedDetail }) {
  const { kind, queue, heldAt, held, crashes, blocked, blockedIsPartial, workers, canaryId } = found
  return (
    <>
      <Panel title="Facts">
        <Facts
          facts={[
            { label: 'Status', value: <Standing row={found} /> },
            { label: 'Kind', value: <UserText>{kind}</UserText> },
            { label: 'Queue', value: <UserText>{queue}</UserText> },
            { label: 'Held since', value: <Moment at={heldAt} isExact /> },
            { label: 'Held', value: counted(held, 'job') },
            { label: 'Blocked', value: `${counted(blocked, 'waiting job')}${blockedIsPartial ? ' or more' : ''}` },
            { label: 'Crashes', value: count(crashes) },
            {
              ...{ label: 'Workers that died', isWide: true },
              value: <UserText empty="none">{workers.join(', ')}</UserText>,
            },
            canaryId !== null && {
              label: 'Canary',
              value: (
                <Link to="/jobs/$id" params={{ id: canaryId }}>
                  Job {canaryId}
                </Link>
              ),
            },
          ]}
        />
      </Panel>
      <Panel title="Crashes" summary="newest first">
        <CrashLog crashes={found.crashLog} />
      </Panel>
      <Panel title="Jobs" summary={`${count(found.jobs.length)} shown`}>
        <AffectedJobs fingerprint={found.fingerprint} jobs={found.jobs} />
      </Panel>
      <Panel title="Payload they share">
        <Sample fingerprint={found.fingerprint} />
      </Panel>
    </>
  )
}
