import { Button } from '@mantine/core'
import { useState } from 'react'
import type { JobState } from '../../api.js'
import type { Selection } from '../../components/data-list/selection.js'
import { ReleaseSelected } from '../held/release-selected.js'
import { useCaller } from '../session/session.js'
import { BULK_ACTIONS, type BulkActionName, bulkActionsFor } from './actions.js'
import { BulkDialog } from './bulk-dialog.js'

interface SelectionActionsProps {
  readonly selection: Selection
  /** The state the list is narrowed to. */
  readonly state: JobState | undefined
}

/** What can be done with the jobs that are chosen, as far as the caller may. */
export function SelectionActions({ selection, state }: SelectionActionsProps) {
  const { may } = useCaller()
  const [open, setOpen] = useState<{ readonly name: BulkActionName; readonly ids: readonly string[] }>()
  return (
    <>
      {(state === 'quarantined' || state === 'undecodable') && <ReleaseSelected selection={selection} state={state} />}
      {bulkActionsFor(state, may).map((name) => (
        <Button
          key={name}
          size="compact-sm"
          variant="default"
          c={name === 'purge' ? 'var(--bad)' : undefined}
          onClick={() => setOpen({ name, ids: [...selection.ids] })}
        >
          {BULK_ACTIONS[name].label} …
        </Button>
      ))}
      {open !== undefined && (
        <BulkDialog
          {...open}
          onClose={(isDone) => {
            setOpen(undefined)
            if (isDone) selection.clear()
          }}
        />
      )}
    </>
  )
}
