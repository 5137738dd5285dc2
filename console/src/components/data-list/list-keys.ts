import { type RefObject, useState } from 'react'
import { type Shortcut, useShortcut } from '../shortcuts.js'
import type { Selection } from './selection.js'

export interface ListKey<Row> {
  readonly key: string
  readonly label: string
  readonly run: (row: Row) => void
}

interface ListKeysOptions<Row> {
  readonly rows: readonly Row[]
  readonly rowId: (row: Row) => string
  readonly selection: Selection | undefined
  readonly keys: readonly ListKey<Row>[]
  readonly scrollTo: (index: number) => void
  readonly body: RefObject<HTMLElement | null>
}

/** Most keys of its own that a list can have. */
const MOST = 4

/** The row the keyboard is on, and the keys that move it and act on it. */
export function useListKeys<Row>(options: ListKeysOptions<Row>): {
  readonly index: number
  readonly set: (index: number) => void
} {
  const { rows, rowId, selection, keys, scrollTo, body } = options
  const [wanted, setWanted] = useState(0)
  const index = Math.min(wanted, Math.max(0, rows.length - 1))
  const row = rows[index]
  const isHere = () => body.current?.contains(document.activeElement) ?? false
  const move = (by: number) => {
    // The first key only enters the list.
    const to = isHere() ? Math.min(Math.max(index + by, 0), rows.length - 1) : index
    setWanted(to)
    scrollTo(to)
    requestAnimationFrame(() =>
      body.current?.querySelector<HTMLElement>(`[data-index="${to}"]`)?.focus({ preventScroll: true }),
    )
  }
  const key = (keysText: string, label: string, run: () => void): Shortcut => ({
    keys: keysText,
    label,
    group: 'Lists',
    run,
  })
  useShortcut(rows.length === 0 ? undefined : key('j', 'Next row', () => move(1)))
  useShortcut(rows.length === 0 ? undefined : key('k', 'Previous row', () => move(-1)))
  useShortcut(
    row === undefined || selection === undefined
      ? undefined
      : key('x', 'Select the row', () => selection.toggle(rowId(row))),
  )
  for (let n = 0; n < MOST; n++) {
    const own = keys[n]
    // biome-ignore lint/correctness/useHookAtTopLevel: always as often.
    useShortcut(own === undefined || row === undefined ? undefined : key(own.key, own.label, () => own.run(row)))
  }
  return { index, set: setWanted }
}
