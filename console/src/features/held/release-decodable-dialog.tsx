import { Checkbox } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { UndecodableCheck } from '../../api.js'
import { commandOf, flag } from '../../command-text.js'
import { ActionDialog } from '../../components/action/action-dialog.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import { UserText } from '../../components/user-text.js'
import { keys } from '../../keys.js'
import { type Answer, ask } from '../../server.js'
import { changeOf } from '../changes/change.js'
import { Check } from './check.js'
import { Released } from './released.js'
import type { Group } from './undecodable-groups.js'

/** Lets go what decodes now of a kind; the workers are asked once more before, and again when it is done. */
export function ReleaseDecodableDialog({ group: { kind }, onClose }: { group: Group; onClose: () => void }) {
  const queries = useQueryClient()
  const [isForced, setForced] = useState(false)
  const [reason, setReason] = useState('')
  const body = { kind, ...(isForced ? { force: true } : {}), ...because(reason) }
  const cli = commandOf(
    ...['undecodable', 'release', ...flag('kind', kind), ...(isForced ? ['--force'] : [])],
    ...flag('reason', reason.trim()),
  )
  const change = changeOf('releaseUndecodable', { body }, cli)
  const refresh = () =>
    Promise.all([keys.held(), keys.jobs(), keys.queues()].map((queryKey) => queries.invalidateQueries({ queryKey })))
  return (
    <ActionDialog<UndecodableCheck, Answer<'releaseUndecodable'>>
      title="Release what decodes now"
      verb={isForced ? 'Release all' : 'Release'}
      scope={
        <>
          Undecodable jobs of <UserText>{kind}</UserText>, of every version.
        </>
      }
      {...(isForced ? { danger: 'What still does not decode is claimed once, and held again.' } : {})}
      request={{ kind, isForced, reason }}
      preview={{
        of: kind,
        ask: (signal) => ask('checkUndecodable', { body: { kind } }, { signal }),
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
