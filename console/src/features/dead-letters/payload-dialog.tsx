import { Checkbox, SegmentedControl } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { commandOf, curlOf, flag } from '../../command-text.js'
import { ActionDialog } from '../../components/action/action-dialog.js'
import { ReasonField } from '../../components/action/reason-field.js'
import { given } from '../../components/search-params.js'
import { Loading } from '../../components/states.js'
import { exactJson, parseExactly } from '../../exact-json.js'
import { useCaller } from '../session/session.js'
import { useRefreshDeadLetters } from './after.js'
import { type Saved, SavedPayload, savePayload } from './saved-payload.js'

const JsonDiff = lazy(() => import('../../components/json-editor/json-diff.js'))

interface PayloadDialogProps {
  readonly id: string
  readonly before: string
  readonly after: string
  readonly onClose: (isSaved: boolean) => void
}

/** Shows what changes in a payload, then saves it, and sends the job back to work in the same step where that is wanted. */
export function PayloadDialog({ id, before, after, onClose }: PayloadDialogProps) {
  const { may } = useCaller()
  const refresh = useRefreshDeadLetters()
  const [then, setThen] = useState<'keep' | 'retry'>('keep')
  const [isUnchecked, setUnchecked] = useState(false)
  const [reason, setReason] = useState('')
  const doesRetry = then === 'retry'
  const payload = parseExactly(after)
  const body = { payload, ...given({ unchecked: isUnchecked || undefined, reason: reason.trim() }) }
  const why = flag('reason', reason.trim())
  const edit = commandOf(
    'jobs',
    'edit',
    id,
    '--payload',
    exactJson(payload),
    ...(isUnchecked ? ['--unchecked'] : []),
    ...why,
  )
  const put = curlOf('editPayload', { params: { id }, body })
  return (
    <ActionDialog<never, Saved>
      title="Save the payload"
      verb={doesRetry ? 'Save and retry' : 'Save'}
      scope={`Dead letter ${id} gets this payload. The one it has is kept as a version.`}
      request={{ id, body, then }}
      run={(key) => savePayload(id, body, doesRetry, key)}
      done={(saved) => <SavedPayload id={id} saved={saved} />}
      copy={{
        cli: doesRetry ? `${edit} && ${commandOf('dlq', 'retry', id, ...why)}` : edit,
        curl: doesRetry
          ? `${put} && ${curlOf('retryDlq', { params: { id }, body: given({ reason: reason.trim() }) })}`
          : put,
      }}
      onSettled={refresh}
      onClose={onClose}
    >
      <Suspense fallback={<Loading rows={4} what="Comparing" />}>
        <JsonDiff label="What changes in the payload" before={before} after={after} />
      </Suspense>
      {may('retry') && (
        <SegmentedControl
          size="xs"
          aria-label="And then"
          data={[
            { value: 'keep', label: 'Save only' },
            { value: 'retry', label: 'Save and retry with all attempts' },
          ]}
          value={then}
          onChange={(value) => setThen(value as 'keep' | 'retry')}
        />
      )}
      <Checkbox
        label="Save it even if it does not fit the published schema"
        checked={isUnchecked}
        onChange={({ currentTarget }) => setUnchecked(currentTarget.checked)}
      />
      <ReasonField description="Kept in the audit log and with the version" value={reason} onChange={setReason} />
    </ActionDialog>
  )
}
