import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Total } from '../../api.js'
import type { Scope } from '../operations/bulk.js'
import { useCaller } from '../session/session.js'
import { BulkDialog, REMOVALS, type RemovalName } from './bulk-dialog.js'
import { RetryDialog } from './retry-dialog.js'

export type DeadLetterAction = 'retry' | RemovalName

/** Buttons for what can be done with dead letters, as far as the caller may. */
export function DeadLetterActions({ onChoose }: { onChoose: (action: DeadLetterAction) => void }) {
  const { may } = useCaller()
  return (
    <>
      {may('retry') && (
        <Button size="compact-sm" onClick={() => onChoose('retry')}>
          Retry …
        </Button>
      )}
      {Object.entries(REMOVALS).map(
        ([name, { right, verb, isFinal }]) =>
          may(right) && (
            <Button
              key={name}
              size="compact-sm"
              variant="default"
              c={isFinal ? 'var(--bad)' : undefined}
              onClick={() => onChoose(name as RemovalName)}
            >
              {verb} …
            </Button>
          ),
      )}
    </>
  )
}

interface ActionDialogOfProps {
  readonly action: DeadLetterAction
  readonly scope: Scope
  readonly total: Total
  readonly onClose: (isDone: boolean) => void
}

/** The dialog of one of them. */
export function DeadLetterDialog({ action, ...about }: ActionDialogOfProps) {
  return action === 'retry' ? <RetryDialog {...about} /> : <BulkDialog action={action} {...about} />
}

interface SelectionActionsProps {
  readonly scope: Scope
  readonly total: Total
  /** The rows were dealt with: they are chosen no longer. */
  readonly onDone: () => void
}

/** What can be done with the rows that are chosen. */
export function SelectionActions({ scope, total, onDone }: SelectionActionsProps) {
  const [open, setOpen] = useState<DeadLetterAction>()
  const close = (isDone: boolean) => {
    setOpen(undefined)
    if (isDone) onDone()
  }
  return (
    <>
      <DeadLetterActions onChoose={setOpen} />
      {open !== undefined && <DeadLetterDialog action={open} scope={scope} total={total} onClose={close} />}
    </>
  )
}
