import { useState } from 'react'
import type { Job } from '../../api.js'
import { useShortcut } from '../../components/shortcuts.js'
import { useCaller } from '../session/session.js'
import { type DeadLetterAction, DeadLetterActions, DeadLetterDialog } from './selection-actions.js'

/** What can be done with one dead letter, as far as the caller may. */
export function OneActions({ job: { id }, isGone }: { job: Job; isGone: boolean }) {
  const { may } = useCaller()
  const [open, setOpen] = useState<DeadLetterAction>()
  const group = 'Dead letter'
  useShortcut(
    may('retry') && !isGone ? { keys: 'r', label: 'Retry it', group, run: () => setOpen('retry') } : undefined,
  )
  return (
    <>
      {!isGone && <DeadLetterActions onChoose={setOpen} />}
      {open !== undefined && (
        <DeadLetterDialog
          action={open}
          scope={{ ids: [id] }}
          total={{ count: 1, estimate: false }}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  )
}
