import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useRef, useState } from 'react'

export interface Shortcut {
  /** One key, or two after each other: `j`, `g d`. As `KeyboardEvent.key` has them. */
  readonly keys: string
  /** What it does, for the help. */
  readonly label: string
  /** Under which heading of the help it stands. */
  readonly group: string
  readonly run: () => void
}

interface Registry {
  readonly add: (shortcut: { readonly current: Shortcut }) => () => void
  readonly list: () => readonly Shortcut[]
  readonly isOn: boolean
  readonly turn: (on: boolean) => void
}

const Shortcuts = createContext<Registry | undefined>(undefined)

const STORED = 'spillway-shortcuts'
/** How long the second of two keys may take. */
const CHORD_MS = 1_200

/** Keys of the whole page. They do nothing while somebody types, or a dialog is open, and can be turned off. */
export function ShortcutProvider({ children }: { children: ReactNode }) {
  const registered = useRef(new Set<{ readonly current: Shortcut }>())
  const [isOn, setOn] = useState(() => localStorage.getItem(STORED) !== 'off')
  const list = useCallback(() => [...registered.current].map(({ current }) => current), [])
  const registry = useMemo<Registry>(
    () => ({
      add: (shortcut) => {
        registered.current.add(shortcut)
        return () => registered.current.delete(shortcut)
      },
      list,
      isOn,
      turn: (on) => {
        localStorage.setItem(STORED, on ? 'on' : 'off')
        setOn(on)
      },
    }),
    [isOn, list],
  )
  useEffect(() => (isOn ? listening(list) : undefined), [isOn, list])
  return <Shortcuts value={registry}>{children}</Shortcuts>
}

function listening(list: () => readonly Shortcut[]): () => void {
  let first: { readonly key: string; readonly at: number } | undefined
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
    const isChord = first !== undefined && event.timeStamp - first.at < CHORD_MS
    const wanted = isChord ? [`${first?.key} ${event.key}`, event.key] : [event.key]
    first = undefined
    // Who came last stands nearest: a list's own key goes before the page's.
    const all = list().toReversed()
    const found = wanted.map((keys) => all.find((it) => it.keys === keys)).find((it) => it !== undefined)
    if (found !== undefined) {
      event.preventDefault()
      found.run()
    } else if (all.some((it) => it.keys.startsWith(`${event.key} `))) {
      first = { key: event.key, at: event.timeStamp }
    }
  }
  document.addEventListener('keydown', onKey)
  return () => document.removeEventListener('keydown', onKey)
}

function isTyping(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"], [role="alertdialog"]') !== null) return true
  if (!(target instanceof HTMLElement)) return false
  const isField = target instanceof HTMLInputElement && !['checkbox', 'radio', 'button'].includes(target.type)
  return isField || target.isContentEditable || target.matches('textarea, select, [role="menuitem"]')
}

/** A key for as long as whoever calls it is on the page; undefined: no key now. */
export function useShortcut(shortcut: Shortcut | undefined): void {
  const registry = useRegistry()
  const current = useRef(shortcut)
  current.current = shortcut
  const keys = shortcut?.keys
  useEffect(() => {
    if (keys === undefined) return undefined
    return registry.add(current as { readonly current: Shortcut })
  }, [registry, keys])
}

/** Every key that does something now, and whether they are on. */
export function useRegistry(): Registry {
  const registry = use(Shortcuts)
  if (registry === undefined) throw new Error('useRegistry stands outside of ShortcutProvider')
  return registry
}
