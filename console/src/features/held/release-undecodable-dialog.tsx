import { Checkbox } from '@mantine/core'
import { useState } from 'react'
import type { UndecodableCheck } from '../../api.js'
import { commandOf, flag } from '../../command-text.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import { UserText } from '../../components/user-text.js'
import { type Answer, ask } from '../../server.js'
import { counted } from '../../words.js'
import { changeOf } from '../changes/change.js'
import { ChangeDialog } from '../changes/change-dialog.js'
import { Check } from './check.js'
import { Released } from './released.js'

interface ReleaseUndecodableDialogProps {
  /** Some jobs by name, or all of one kind. */
  readonly which: { readonly ids: readonly string[] } | { readonly kind: string }
  /** Whether it was done by then. */
  readonly onClose: (isDone: boolean) => void
}

/** Lets go of undecodable jobs: what decodes now, or all. The workers are asked before, and again when it is done. */
export function ReleaseUndecodableDialog({ which, onClose }: ReleaseUndecodableDialogProps) {
  const [isForced, setForced] = useState(false)
  const [reason, setReason] = useState('')
  const named = 'ids' in which ? { ids: [...which.ids] } : { kind: which.kind }
  const words = 'ids' in which ? which.ids : flag('kind', which.kind)
  const force = isForced ? ['--force'] : []
  const cli = commandOf('undecodable', 'release', ...words, ...force, ...flag('reason', reason.trim()))
  return (
    <ChangeDialog<Answer<'releaseUndecodable'>, UndecodableCheck>
      title="Release undecodable jobs"
      verb={isForced ? 'Release all' : 'Release what decodes'}
      scope={
        <>
          {'ids' in which ? (
            counted(which.ids.length, 'selected job')
          ) : (
            <>
              All of <UserText>{which.kind}</UserText>, of every version
            </>
          )}
          . What decodes now becomes available; the rest stays.
        </>
      }
      danger={isForced ? 'What still does not decode is claimed once, and held again.' : undefined}
      preview={{
        of: named,
        ask: (signal) => ask('checkUndecodable', { body: named }, { signal }),
        show: (check) => <Check check={check} />,
      }}
      change={changeOf(
        'releaseUndecodable',
        { body: { ...named, ...(isForced ? { force: true } : {}), ...because(reason) } },
        cli,
      )}
      about={['held', 'jobs', 'queues']}
      done={(results) => <Released {...results} />}
      onClose={onClose}
    >
      <Checkbox
        label="Also what does not decode, or nobody can say"
        checked={isForced}
        onChange={({ currentTarget }) => setForced(currentTarget.checked)}
      />
      <ReasonField value={reason} onChange={setReason} description="Kept with the jobs and in the audit log" />
    </ChangeDialog>
  )
}
