import { Button } from '@mantine/core'
import { useState } from 'react'
import type { JobDetail } from '../../api.js'
import { useShortcut } from '../../components/shortcuts.js'
import { useCaller } from '../session/session.js'
import { BulkDialog, REMOVALS, type RemovalName } from './bulk-dialog.js'
import { RetryDialog } from './retry-dialog.js'

/** What can be done with one dead letter, as far as the caller may. */
export function OneActions({ job: { id } }: { job: JobDetail }) {
  const { may } = useCaller()
  const [open, setOpen] = useState<'retry' | RemovalName>()
  const scope = { ids: [id] }
  const total = { count: 1, estimate: false }
  const close = () => setOpen(undefined)
  useShortcut(
    may('retry') ? { keys: 'r', label: 'Retry it', group: 'Dead letter', run: () => setOpen('retry') } : undefined,
  )
  return (
    <>
      {may('retry') && (
        <Button size="compact-sm" onClick={() => setOpen('retry')}>
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
              onClick={() => setOpen(name as RemovalName)}
            >
              {verb} …
            </Button>
          ),
      )}
      {open === 'retry' && <RetryDialog scope={scope} total={total} onClose={close} />}
      {open !== undefined && open !== 'retry' && (
        <BulkDialog action={open} scope={scope} total={total} onClose={close} />
      )}
    </>
  )
}
