import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Operation } from '../../api.js'
import { useCaller } from '../session/session.js'
import { OPERATION_VERBS, OperationDialog, type OperationVerb } from './operation-dialog.js'

/** What can be done with an operation as it stands, for whoever may. */
export function OperationActions({ operation }: { operation: Operation }) {
  const { may } = useCaller()
  const [open, setOpen] = useState<OperationVerb>()
  if (!may('operate')) return null
  return (
    <>
      {verbsOf(operation).map((verb) => (
        <Button key={verb} size="compact-sm" variant="default" onClick={() => setOpen(verb)}>
          {OPERATION_VERBS[verb].title} …
        </Button>
      ))}
      {open !== undefined && <OperationDialog verb={open} operation={operation} onClose={() => setOpen(undefined)} />}
    </>
  )
}

function verbsOf({ state, action, dryRun, succeeded, undoneBy }: Operation): readonly OperationVerb[] {
  if (state === 'running') return ['pause', 'cancel']
  if (state === 'paused') return ['resume', 'cancel']
  const isUndoable = (action === 'retry' || action === 'discard') && !dryRun && succeeded > 0 && undoneBy === null
  return isUndoable ? ['undo'] : []
}
