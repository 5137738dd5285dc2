import { Checkbox } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { UndecodableCheck } from '../../api.js'
import { commandOf, flag } from '../../command-text.js'
import { ActionDialog } from '../../components/action/action-dialog.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import { keys } from '../../keys.js'
import { ask } from '../../server.js'
import { counted } from '../../words.js'
import { changeOf } from '../changes/change.js'
import { ChangeDialog } from '../changes/change-dialog.js'
import { Check } from './check.js'
import { Released } from './released.js'

interface ReleaseSomeDialogProps {
  readonly state: HeldState
  readonly ids: readonly string[]
  /** Whether it was done by then. */
  readonly onClose: (isDone: boolean) => void
}

export type HeldState = 'quarantined' | 'undecodable'

/** Lets go of held jobs that are named, and says of each that stays why. */
export function ReleaseSomeDialog({ state, ...others }: ReleaseSomeDialogProps) {
  return state === 'quarantined' ? <ReleaseQuarantined {...others} /> : <ReleaseUndecodable {...others} />
}

type Some = Omit<ReleaseSomeDialogProps, 'state'>

function ReleaseQuarantined({ ids, onClose }: Some) {
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

function ReleaseUndecodable({ ids, onClose }: Some) {
  const queries = useQueryClient()
  const [isForced, setForced] = useState(false)
  const [reason, setReason] = useState('')
  const named = { ids: [...ids] }
  const change = changeOf(
    'releaseUndecodable',
    { body: { ...named, ...(isForced ? { force: true } : {}), ...because(reason) } },
    commandOf('undecodable', 'release', ...ids, ...(isForced ? ['--force'] : []), ...flag('reason', reason.trim())),
  )
  const refresh = () =>
    Promise.all([keys.held(), keys.jobs(), keys.queues()].map((queryKey) => queries.invalidateQueries({ queryKey })))
  return (
    <ActionDialog<UndecodableCheck, Awaited<ReturnType<typeof change.run>>>
      title="Release undecodable jobs"
      verb={isForced ? `Release all ${ids.length}` : 'Release what decodes'}
      scope={`${counted(ids.length, 'selected job')}. What decodes now becomes available; the rest stays.`}
      {...(isForced ? { danger: 'What still does not decode is claimed once, and held again.' } : {})}
      request={change.request}
      preview={{
        of: named,
        ask: (signal) => ask('checkUndecodable', { body: named }, { signal }),
        show: (check) => <Check check={check} />,
      }}
      run={change.run}
      done={(results) => <Released {...results} />}
      copy={change}
      onSettled={refresh}
      onClose={onClose}
    >
      <Checkbox
        label="Also what does not decode, or nobody can say"
        checked={isForced}
        onChange={({ currentTarget }) => setForced(currentTarget.checked)}
      />
      <ReasonField value={reason} onChange={setReason} description="Kept with the jobs and in the audit log" />
    </ActionDialog>
  )
}
