import { useState } from 'react'
import type { Queue } from '../../api.js'
import { commandOf, flag } from '../../command-text.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import { UserText } from '../../components/user-text.js'
import { counted } from '../../words.js'
import { changeOf } from '../actions/change.js'
import { ChangeDialog } from '../actions/change-dialog.js'

/** Stops new claims from a queue, or lets them go on. */
export function PauseDialog({ queue, onClose }: { queue: Queue; onClose: () => void }) {
  const [reason, setReason] = useState('')
  const isPaused = queue.pausedAt !== null
  const verb = isPaused ? 'Resume' : 'Pause'
  const params = { queue: queue.queue }
  const cli = commandOf('queues', verb.toLowerCase(), queue.queue, ...flag('reason', reason.trim()))
  return (
    <ChangeDialog<Queue>
      title={`${verb} the queue`}
      verb={verb}
      scope={
        <>
          <UserText>{queue.queue}</UserText>, in which {counted(queue.counts?.available ?? 0, 'job is', 'jobs are')}{' '}
          available and {counted(queue.counts?.running ?? 0, 'runs', 'run')}.{' '}
          {isPaused
            ? 'Workers claim from it again within a second.'
            : 'No worker claims from it any more, within a second. What runs goes on, and new jobs are put in as before.'}
        </>
      }
      change={changeOf(isPaused ? 'resumeQueue' : 'pauseQueue', { params, body: because(reason) }, cli)}
      about={['queues', 'jobs']}
      done={({ pausedAt }) => (
        <p>
          <UserText>{queue.queue}</UserText> is {pausedAt === null ? 'open' : 'paused'} now.
        </p>
      )}
      onClose={onClose}
    >
      <ReasonField
        value={reason}
        onChange={setReason}
        description="Shown beside the queue, and kept in the audit log"
      />
    </ChangeDialog>
  )
}
