import { Button, Menu } from '@mantine/core'
import { useState } from 'react'
import type { Triage } from '../../api.js'
import { useCaller } from '../session/session.js'
import { TRIAGE_VERBS, TriageDialog, type TriageTarget, type TriageVerb } from './triage-dialog.js'

interface TriageMenuProps {
  readonly target: TriageTarget
  readonly triage: Triage | null | undefined
  /** On the button, where several stand on a screen: `Triage the cause`. */
  readonly label: string
}

/** What can be said about a dead letter or a cause, for whoever may. */
export function TriageMenu({ target, triage, label }: TriageMenuProps) {
  const { may } = useCaller()
  const [open, setOpen] = useState<TriageVerb>()
  if (!may('operate')) return null
  return (
    <>
      <Menu position="bottom-end" withinPortal={false}>
        <Menu.Target>
          <Button size="compact-sm" variant="default">
            {label}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {Object.entries(TRIAGE_VERBS).map(([verb, { title }]) => (
            <Menu.Item key={verb} onClick={() => setOpen(verb as TriageVerb)}>
              {title} …
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {open !== undefined && (
        <TriageDialog verb={open} target={target} triage={triage} onClose={() => setOpen(undefined)} />
      )}
    </>
  )
}
