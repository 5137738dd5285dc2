import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Selection } from '../../components/data-list/selection.js'
import { useCaller } from '../session/session.js'
import { ReleaseJobsDialog } from './release-jobs-dialog.js'
import { ReleaseUndecodableDialog } from './release-undecodable-dialog.js'

interface ReleaseSelectedProps {
  readonly selection: Selection
  readonly state: 'quarantined' | 'undecodable'
}

/** The button that lets go of the held jobs that are chosen, for who may. */
export function ReleaseSelected({ selection, state }: ReleaseSelectedProps) {
  const { may } = useCaller()
  const [ids, setIds] = useState<readonly string[]>()
  if (!may('operate')) return null
  const close = (isDone: boolean) => {
    setIds(undefined)
    if (isDone) selection.clear()
  }
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={() => setIds([...selection.ids])}>
        Release …
      </Button>
      {ids !== undefined &&
        (state === 'quarantined' ? (
          <ReleaseJobsDialog ids={ids} onClose={close} />
        ) : (
          <ReleaseUndecodableDialog which={{ ids }} onClose={close} />
        ))}
    </>
  )
}
