import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Job } from '../../api.js'
import { useCaller } from '../session/session.js'
import { JobActionDialog } from './action-dialog.js'
import { type ActionName, actionsFor, JOB_ACTIONS } from './actions.js'

/** A button for everything that can be done with a job in its state by whoever looks. */
export function JobActions({ job }: { job: Job }) {
  const { may } = useCaller()
  // The dialog says what became of the job, which by then has another state, or is gone.
  const [open, setOpen] = useState<{ readonly name: ActionName; readonly job: Job }>()
  return (
    <>
      {actionsFor(job.state, may).map((name, n) => (
        <Button
          key={name}
          size="compact-sm"
          variant={n === 0 && !('danger' in JOB_ACTIONS[name]) ? 'filled' : 'default'}
          c={name === 'purge' ? 'var(--bad)' : undefined}
          onClick={() => setOpen({ name, job })}
        >
          {JOB_ACTIONS[name].label} …
        </Button>
      ))}
      {open !== undefined && <JobActionDialog {...open} onClose={() => setOpen(undefined)} />}
    </>
  )
}
