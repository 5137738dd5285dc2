import { useState } from 'react'
import { commandOf, flag } from '../../command-text.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import type { Answer } from '../../server.js'
import { counted, spoken } from '../../words.js'
import { changeOf } from '../actions/change.js'
import { ChangeDialog } from '../actions/change-dialog.js'
import { BULK_ACTIONS, type BulkActionName } from './actions.js'
import './bulk-dialog.css'

interface BulkDialogProps {
  readonly name: BulkActionName
  readonly ids: readonly string[]
  /** Whether it was done by then. */
  readonly onClose: (isDone: boolean) => void
}

const MOST = 1_000

/** Does one thing with jobs that are named, and says of each that was refused why. */
export function BulkDialog({ name, ids, onClose }: BulkDialogProps) {
  const [reason, setReason] = useState('')
  const action = BULK_ACTIONS[name]
  const body = { action: name, ids: [...ids], ...because(reason) }
  const words = name === 'purge' ? ['purge', ...ids] : ['bulk', name, ...ids]
  const cli = commandOf('jobs', ...words, ...flag('reason', reason.trim()))
  return (
    <ChangeDialog<Answer<'actOnJobs'>>
      title={`${action.label} jobs`}
      verb={`${action.label} ${ids.length}`}
      scope={
        <>
          {counted(ids.length, 'selected job')}. {action.does} Those whose state accepts that no longer are refused, and
          listed here: {action.states.map(spoken).join(', ')} ones are accepted.
          {ids.length > MOST && ` At most ${MOST} can be named at once.`}
        </>
      }
      change={changeOf('actOnJobs', { body }, cli)}
      danger={'danger' in action ? action.danger : undefined}
      typed={name === 'purge' ? `purge ${ids.length}` : undefined}
      about={['jobs', 'deadLetters', 'held', 'queues', 'operations']}
      done={(results) => <Results name={name} results={results} />}
      onClose={onClose}
    >
      <ReasonField value={reason} onChange={setReason} />
    </ChangeDialog>
  )
}

function Results({ name, results: { succeeded, failed } }: { name: BulkActionName; results: Answer<'actOnJobs'> }) {
  return (
    <>
      <p>
        {BULK_ACTIONS[name].label}: done with {counted(succeeded.length, 'job')}
        {failed.length === 0 ? '.' : `, refused for ${counted(failed.length, 'job')}, which stayed as they were:`}
      </p>
      {failed.length > 0 && (
        <ul className="bulk-dialog-refused">
          {failed.map(({ id, code, message }) => (
            <li key={id}>
              ▲ Job {id}: {message} <code>{code}</code>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
