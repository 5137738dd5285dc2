import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Selection } from '../../components/data-list/selection.js'
import { useCaller } from '../session/session.js'
import { type HeldState, ReleaseSomeDialog } from './release-some-dialog.js'

/** The button that lets go of the held jobs that are chosen, for who may. */
export function ReleaseSelected({ selection, state }: { selection: Selection; state: HeldState }) {
  const { may } = useCaller()
  const [ids, setIds] = useState<readonly string[]>()
  if (!may('operate')) return null
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={() => setIds([...selection.ids])}>
        Release …
      </Button>
      {ids !== undefined && (
        <ReleaseSomeDialog
          state={state}
          ids={ids}
          onClose={(isDone) => {
            setIds(undefined)
            if (isDone) selection.clear()
          }}
        />
      )}
    </>
  )
}
