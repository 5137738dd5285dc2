import { useState } from 'react'
import { commandOf, curlOf, flag } from '../../command-text.js'
import { ActionDialog } from '../../components/action/action-dialog.js'
import { ReasonField } from '../../components/action/reason-field.js'
import { given } from '../../components/search-params.js'
import { ask } from '../../server.js'
import { spoken } from '../../words.js'
import { useRefreshDeadLetters } from './after.js'

/** Brings a failed job, whose queue has no dead-letter queue, into it. */
export function MoveDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const refresh = useRefreshDeadLetters()
  const [reason, setReason] = useState('')
  const body = given({ reason: reason.trim() })
  return (
    <ActionDialog
      title="Move into the dead-letter queue"
      verb="Move"
      scope={`Failed job ${id}`}
      request={{ id, body }}
      run={(key) => ask('moveDlq', { params: { id }, body }, { key })}
      done={(job) => `Job ${job.id} is ${spoken(job.state)}.`}
      copy={{
        cli: commandOf('dlq', 'move', id, ...flag('reason', reason.trim())),
        curl: curlOf('moveDlq', { params: { id }, body }),
      }}
      onSettled={refresh}
      onClose={onClose}
    >
      <ReasonField
        description="Becomes what it died of; moved by hand where it is left out"
        value={reason}
        onChange={setReason}
      />
    </ActionDialog>
  )
}
