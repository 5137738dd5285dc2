import { SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import type { QuarantinedDetail } from '../../api.js'
import { commandOf, flag } from '../../command-text.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import { UserText } from '../../components/user-text.js'
import type { Answer } from '../../server.js'
import { counted } from '../../words.js'
import { changeOf } from '../changes/change.js'
import { ChangeDialog } from '../changes/change-dialog.js'

/** Lets a fingerprint go: one of its jobs first, or all at once. */
export function ReleaseDialog({ found, onClose }: { found: QuarantinedDetail; onClose: () => void }) {
  const [isCanary, setCanary] = useState(true)
  const [reason, setReason] = useState('')
  const { fingerprint, kind, held, crashes } = found
  const body = { ...because(reason), ...(isCanary ? { canary: true } : {}) }
  const words = ['quarantine', 'release', fingerprint, ...(isCanary ? ['--canary'] : [])]
  return (
    <ChangeDialog<Answer<'releaseQuarantined'>>
      title="Release from quarantine"
      verb={isCanary ? 'Release a canary' : 'Release all'}
      scope={
        <>
          {counted(held, 'held job')} of <UserText>{kind}</UserText>, which killed {counted(crashes, 'worker')}.{' '}
          {isCanary
            ? 'One job runs alone in its worker. When it succeeds the rest follows by itself; when it crashes all stay held.'
            : 'All of them become available at once, with no crash counted against them.'}
        </>
      }
      danger={isCanary ? undefined : 'If they still kill workers, they will do so until they are convicted again.'}
      change={changeOf(
        'releaseQuarantined',
        { params: { fingerprint }, body },
        commandOf(...words, ...flag('reason', reason.trim())),
      )}
      about={['held', 'jobs', 'queues']}
      done={({ released, ids = [] }) => (
        <p>
          {isCanary
            ? `Job ${ids[0] ?? ''} was released as the canary. The rest follows when it succeeds.`
            : `${counted(released, 'job')} released.`}
        </p>
      )}
      onClose={onClose}
    >
      <div>
        <div className="action-label">How many at first</div>
        <SegmentedControl
          size="xs"
          aria-label="How many at first"
          data={[
            { value: 'canary', label: 'A canary of one' },
            { value: 'all', label: 'All at once' },
          ]}
          value={isCanary ? 'canary' : 'all'}
          onChange={(value) => setCanary(value === 'canary')}
        />
      </div>
      <ReasonField value={reason} onChange={setReason} description="Kept with the jobs and in the audit log" />
    </ChangeDialog>
  )
}
