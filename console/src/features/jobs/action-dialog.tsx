import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Acted, Job } from '../../api.js'
import { ReasonField } from '../../components/action/reason-field.js'
import { UserText } from '../../components/user-text.js'
import { spoken } from '../../words.js'
import { ChangeDialog } from '../actions/change-dialog.js'
import { ActionField } from './action-fields.js'
import { type ActionName, JOB_ACTIONS } from './actions.js'
import { changeOfAction, FIELDS, NO_FIELDS } from './change-of-action.js'

interface JobActionDialogProps {
  readonly job: Job
  readonly name: ActionName
  readonly onClose: () => void
}

/** Does one thing with one job. */
export function JobActionDialog({ job, name, onClose }: JobActionDialogProps) {
  const [fields, setFields] = useState(NO_FIELDS)
  const action = JOB_ACTIONS[name]
  const { id, kind, queue, state } = job
  return (
    <ChangeDialog<Acted>
      title={`${action.label} job ${id}`}
      verb={action.label}
      scope={
        <>
          Job {id}, <UserText>{kind}</UserText> in <UserText>{queue}</UserText>, which is {spoken(state)}. {action.does}
        </>
      }
      change={changeOfAction(name, id, fields)}
      danger={'danger' in action ? action.danger : undefined}
      typed={name === 'purge' ? id : undefined}
      about={['jobs', 'deadLetters', 'held', 'queues', 'operations']}
      done={(acted) => <Done acted={acted} id={id} name={name} />}
      onClose={onClose}
    >
      {FIELDS[name]
        .filter((field) => field !== 'isForced' || state === 'undecodable')
        .map((field) => (
          <ActionField key={field} name={field} fields={fields} onChange={setFields} />
        ))}
      <ReasonField
        value={fields.reason}
        onChange={(reason) => setFields({ ...fields, reason })}
        description={name === 'kill' ? 'Its reason as a dead letter; manual where left empty' : 'Kept in the audit log'}
      />
    </ChangeDialog>
  )
}

function Done({ acted, id, name }: { acted: Acted; id: string; name: ActionName }) {
  const { state, changed, warnings = [] } = acted
  return (
    <>
      {name === 'clone' ? (
        <p>
          <Link to="/jobs/$id" params={{ id: acted.id }}>
            Job {acted.id}
          </Link>{' '}
          was put in, a copy of job {id}.
        </p>
      ) : (
        <p>
          Job {id} {!changed && 'was left as it was: it '}
          {state === 'gone' ? 'is gone for good' : `is ${spoken(state)} now`}.
        </p>
      )}
      {warnings.map((warning) => (
        <p key={warning}>▲ {warning}</p>
      ))}
    </>
  )
}
