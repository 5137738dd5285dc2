import { useState } from 'react'
import type { Queue } from '../../api.js'
import { commandOf, flag } from '../../command-text.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import { UserText } from '../../components/user-text.js'
import { Refusal } from '../../server.js'
import { counted } from '../../words.js'
import { type Change, changeOf } from '../changes/change.js'
import { ChangeDialog } from '../changes/change-dialog.js'
import { FromTo } from '../changes/from-to.js'
import { bodyOf, changedFields, type Typed, typedOf } from './policy.js'

interface PolicyDialogProps {
  readonly queue: Queue
  readonly typed: Typed
  /** What the server says of each field it refuses, by its path. */
  readonly onRefused: (errors: Readonly<Record<string, string>>) => void
  readonly onSaved: (policy: Queue['policy']) => void
  readonly onClose: () => void
}

/** Says what of a policy will be another, from what to what, before it is. */
export function PolicyDialog({ queue, typed, onRefused, onSaved, onClose }: PolicyDialogProps) {
  const [reason, setReason] = useState('')
  // What the dialog is about stays, although the queue is another once it is saved.
  const [before] = useState(() => ({ policy: queue.policy, typed: typedOf(queue.policy) }))
  const fields = changedFields(before.policy, typed)
  const flags = fields.flatMap((it) => flag(it.flag, String(typed[it.key]).trim()))
  const change = changeOf(
    'setQueue',
    { params: { queue: queue.queue }, body: { ...bodyOf(fields, typed), ...because(reason) } },
    commandOf('queues', 'set', queue.queue, ...flags, ...flag('reason', reason.trim())),
  )
  return (
    <ChangeDialog<Queue>
      title="Change the policy"
      verb="Save"
      scope={
        <>
          {counted(fields.length, 'setting')} of <UserText>{queue.queue}</UserText>. Every process follows within a
          second; what the retentions say now is also true of jobs that ended before.
          <FromTo
            differences={fields.map(({ key, label }) => ({
              label,
              before: word(before.typed[key]),
              after: word(typed[key]),
            }))}
          />
        </>
      }
      change={telling(change, onRefused, onSaved)}
      about={['queues']}
      done={() => <p>The policy is changed.</p>}
      onClose={onClose}
    >
      <ReasonField value={reason} onChange={setReason} />
    </ChangeDialog>
  )
}

function word(value: string | boolean | undefined): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return value ?? ''
}

/** The change, which tells the form what became of it. */
function telling(
  change: Change<Queue>,
  onRefused: PolicyDialogProps['onRefused'],
  onSaved: PolicyDialogProps['onSaved'],
): Change<Queue> {
  return {
    ...change,
    run: async (key) => {
      try {
        const saved = await change.run(key)
        onSaved(saved.policy)
        return saved
      } catch (error) {
        if (error instanceof Refusal) onRefused(errorsOf(error))
        throw error
      }
    },
  }
}

/** `body.retention.dlq` and `retention.dlq` alike. */
function errorsOf({ fields }: Refusal): Readonly<Record<string, string>> {
  const errors = (fields['errors'] ?? []) as readonly { readonly path: string; readonly message: string }[]
  return Object.fromEntries(errors.map(({ path, message }) => [path.replace(/^body\.?/, ''), message]))
}
