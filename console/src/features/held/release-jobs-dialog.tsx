import { useState } from 'react'
import { commandOf, flag } from '../../command-text.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import { counted } from '../../words.js'
import { changeOf } from '../changes/change.js'
import { ChangeDialog } from '../changes/change-dialog.js'
import { Released } from './released.js'

interface ReleaseJobsDialogProps {
  readonly ids: readonly string[]
  /** Whether it was done by then. */
  readonly onClose: (isDone: boolean) => void
}

/** Lets go of quarantined jobs that are named, and says of each that stays why. */
export function ReleaseJobsDialog({ ids, onClose }: ReleaseJobsDialogProps) {
  const [reason, setReason] = useState('')
  const body = { action: 'release' as const, ids: [...ids], ...because(reason) }
  const named = ids.flatMap((id) => flag('id', id))
  return (
    <ChangeDialog
      title="Release quarantined jobs"
      verb={`Release ${ids.length}`}
      scope={
        <>
          {counted(ids.length, 'selected job')}. Where its fingerprint is convicted it stays so: each of these runs
          alone in its worker, and one that kills it is held again at once. The others of the fingerprint stay held.
        </>
      }
      change={changeOf(
        'actOnJobs',
        { body },
        commandOf('quarantine', 'release', ...named, ...flag('reason', reason.trim())),
      )}
      about={['held', 'jobs', 'queues']}
      done={(results) => <Released {...results} />}
      onClose={onClose}
    >
      <ReasonField value={reason} onChange={setReason} description="Kept with the jobs and in the audit log" />
    </ChangeDialog>
  )
}
