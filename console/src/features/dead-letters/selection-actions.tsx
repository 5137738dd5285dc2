import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Total } from '../../api.js'
import type { Selection } from '../../components/data-list/selection.js'
import { scopeOf } from '../operations/bulk.js'
import { useCaller } from '../session/session.js'
import { RetryDialog } from './retry-dialog.js'
import type { DlqFilter } from './search.js'

interface SelectionActionsProps {
  readonly selection: Selection
  readonly filter: DlqFilter
  readonly total: Total
}

/** What can be done with the rows that are chosen, as far as the caller may. */
export function SelectionActions({ selection, filter, total }: SelectionActionsProps) {
  const { may } = useCaller()
  const [open, setOpen] = useState<'retry'>()
  const scope = scopeOf(selection, filter)
  return (
    <>
      {may('retry') && (
        <Button size="compact-sm" onClick={() => setOpen('retry')}>
          Retry …
        </Button>
      )}
      {open === 'retry' && <RetryDialog scope={scope} total={total} onClose={() => setOpen(undefined)} />}
    </>
  )
}
