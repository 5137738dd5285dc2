import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Acted, ArchivedJob } from '../../api.js'
import { commandOf, flag } from '../../command-text.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import { UserText } from '../../components/user-text.js'
import { changeOf } from '../actions/change.js'
import { ChangeDialog } from '../actions/change-dialog.js'

/** Brings a job back from the archive as a dead letter. */
export function RestoreDialog({ job: { id, kind, queue }, onClose }: { job: ArchivedJob; onClose: () => void }) {
  const [reason, setReason] = useState('')
  return (
    <ChangeDialog<Acted>
      title={`Restore job ${id}`}
      verb="Restore"
      scope={
        <>
          Job {id}, <UserText>{kind}</UserText> in <UserText>{queue}</UserText>, becomes a dead letter again, equal to
          what it was. It is not run: that takes a retry.
        </>
      }
      change={changeOf(
        'restoreArchived',
        { params: { id }, body: because(reason) },
        commandOf('archive', 'restore', id, ...flag('reason', reason.trim())),
      )}
      about={['archive', 'deadLetters', 'jobs', 'queues']}
      done={() => (
        <p>
          <Link to="/dlq/$id" params={{ id }}>
            Job {id}
          </Link>{' '}
          is a dead letter again.
        </p>
      )}
      onClose={onClose}
    >
      <ReasonField value={reason} onChange={setReason} />
    </ChangeDialog>
  )
}
