import { useState } from 'react'
import type { Operation } from '../../api.js'
import { commandOf, curlOf, flag } from '../../command-text.js'
import { ActionDialog } from '../../components/action/action-dialog.js'
import { ReasonField } from '../../components/action/reason-field.js'
import { given } from '../../components/search-params.js'
import { ask } from '../../server.js'
import { count, counted } from '../../words.js'
import { useRefreshDeadLetters } from '../dead-letters/after.js'
import { actionText } from './about.js'
import { Began } from './began.js'

interface Verb {
  readonly title: string
  readonly route: 'pauseOperation' | 'resumeOperation' | 'cancelOperation' | 'undoOperation'
  readonly words: readonly [string, string]
  readonly says: (operation: Operation) => string
}

const left = ({ matched, succeeded, skipped, failed }: Operation): number =>
  Math.max(0, matched - succeeded - skipped - failed)

/** What it says that it will do, before anybody presses its button. */
export const OPERATION_VERBS = {
  pause: {
    ...{ title: 'Pause', route: 'pauseOperation', words: ['operations', 'pause'] },
    says: (it) => `It stops between two batches, with about ${counted(left(it), 'row')} to come, until it is resumed.`,
  },
  resume: {
    ...{ title: 'Resume', route: 'resumeOperation', words: ['operations', 'resume'] },
    says: (it) =>
      it.phase === 'canary'
        ? `Its canaries did not do well. Resumed, the rest follows all the same: ${counted(left(it), 'row')}.`
        : `It goes on with ${counted(left(it), 'row')} to come.`,
  },
  cancel: {
    ...{ title: 'Cancel', route: 'cancelOperation', words: ['operations', 'cancel'] },
    says: (it) =>
      `It ends between two batches. What it has done stays done: ${counted(it.succeeded, 'row')} so far. About ${counted(left(it), 'stays as it is', 'stay as they are')}.`,
  },
  undo: {
    ...{ title: 'Undo', route: 'undoOperation', words: ['dlq', 'undo'] },
    says: (it) =>
      it.action === 'retry'
        ? `Of the ${counted(it.succeeded, 'job')} it sent back, those that no worker has begun become dead letters again, as they were. What has begun stays.`
        : `The ${counted(it.succeeded, 'dead letter')} it put into the bin come back, as far as the bin still has them.`,
  },
} as const satisfies Record<string, Verb>

export type OperationVerb = keyof typeof OPERATION_VERBS

interface OperationDialogProps {
  readonly verb: OperationVerb
  readonly operation: Operation
  readonly onClose: () => void
}

/** Puts a brake on an operation, lets it go on, ends it, or takes it back. */
export function OperationDialog({ verb, operation, onClose }: OperationDialogProps) {
  const { title, route, words, says } = OPERATION_VERBS[verb]
  const { id } = operation
  const refresh = useRefreshDeadLetters()
  const [reason, setReason] = useState('')
  const body = given({ reason: reason.trim() })
  const sent = { params: { id }, body }
  return (
    <ActionDialog<never, Operation>
      title={`${title} operation ${id}`}
      verb={verb === 'cancel' ? 'Cancel the operation' : title}
      scope={`${actionText(operation)}: ${count(operation.succeeded)} of ${count(operation.matched)} done`}
      request={sent}
      run={(key) => ask(route, sent, { key })}
      done={(now) =>
        verb === 'undo' ? (
          <Began operation={now} verb="takes back" says="as far as it can" />
        ) : (
          `Operation ${now.id} is ${now.state}: ${count(now.succeeded)} of ${count(now.matched)} done.`
        )
      }
      copy={{ cli: commandOf(...words, id, ...flag('reason', reason.trim())), curl: curlOf(route, sent) }}
      onSettled={refresh}
      onClose={onClose}
    >
      <p className="action-text">{says(operation)}</p>
      <ReasonField value={reason} onChange={setReason} />
    </ActionDialog>
  )
}
