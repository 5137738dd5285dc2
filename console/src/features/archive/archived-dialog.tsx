import { Button, Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ArchivedJob } from '../../api.js'
import { Facts } from '../../components/facts.js'
import { Moment } from '../../components/moment.js'
import { Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { History } from '../jobs/history.js'
import { StateMark } from '../jobs/state-mark.js'
import { useCaller } from '../session/session.js'
import { archivedQuery } from './queries.js'
import { RestoreDialog } from './restore-dialog.js'

/** One archived job, and the way back where it was a dead letter. */
export function ArchivedDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const [restoring, setRestoring] = useState<ArchivedJob>()
  // Once it is restored there is no such archived job to be asked for.
  if (restoring !== undefined) return <RestoreDialog job={restoring} onClose={onClose} />
  return <Shown id={id} onRestore={setRestoring} onClose={onClose} />
}

interface ShownProps {
  readonly id: string
  readonly onRestore: (job: ArchivedJob) => void
  readonly onClose: () => void
}

function Shown({ id, onRestore, onClose }: ShownProps) {
  const { data, error, refetch } = useQuery(archivedQuery(id))
  const { may } = useCaller()
  return (
    <Modal opened title={`Archived job ${id}`} size="lg" onClose={onClose}>
      {data === undefined ? (
        error === null ? (
          <Loading rows={5} />
        ) : (
          <Problem error={error} onRetry={refetch} />
        )
      ) : (
        <>
          <ArchivedFacts job={data} />
          {data.history !== undefined && data.history.length > 0 && <History id={id} entries={data.history} />}
          {data.state === 'archived' && may('operate') && (
            <Button size="compact-sm" onClick={() => onRestore(data)}>
              Restore …
            </Button>
          )}
        </>
      )}
    </Modal>
  )
}

function ArchivedFacts({
  job: { state, kind, version, queue, why, archivedAt, keepUntil, dlq },
}: {
  job: ArchivedJob
}) {
  return (
    <Facts
      facts={[
        { label: 'It was', value: <StateMark state={state} /> },
        { label: 'Kind', value: <UserText>{`${kind} version ${version}`}</UserText> },
        { label: 'Queue', value: <UserText>{queue}</UserText> },
        { label: 'Moved here', value: <Moment at={archivedAt} isExact /> },
        {
          label: 'Because',
          value: why === 'expired' ? 'it outlived its retention' : 'the queue was full of dead letters',
        },
        { label: 'Expires', value: <Moment at={keepUntil} none="never" isExact /> },
        dlq !== null && { label: 'Died of', value: <UserText>{dlq.errorMessage ?? dlq.reason}</UserText> },
      ]}
    />
  )
}
