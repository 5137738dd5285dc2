import { useMemo, useState } from 'react'

/** Which rows of a list are chosen: some by name, or everything that matches its filter, also what no page has shown. */
export interface Selection {
  readonly ids: ReadonlySet<string>
  /** Everything that matches; `ids` is empty then. */
  readonly isWhole: boolean
  readonly isEmpty: boolean
  has(id: string): boolean
  toggle(id: string): void
  /** All of these, or none where all were chosen. */
  togglePage(ids: readonly string[]): void
  chooseWhole(): void
  clear(): void
}

interface Chosen {
  readonly scope: string
  readonly ids: ReadonlySet<string>
  readonly isWhole: boolean
}

/**
 * What is chosen in a list, kept from page to page.
 *
 * @param scope - What the list is narrowed to; with another filter the choice is another one, and begins empty.
 */
export function useSelection(scope: string): Selection {
  const [kept, setKept] = useState<Chosen>({ scope, ids: new Set(), isWhole: false })
  return useMemo(() => {
    const { ids, isWhole } = kept.scope === scope ? kept : { ids: new Set<string>(), isWhole: false }
    const set = (next: ReadonlySet<string>, whole = false) => setKept({ scope, ids: next, isWhole: whole })
    return {
      ids,
      isWhole,
      isEmpty: !isWhole && ids.size === 0,
      has: (id) => isWhole || ids.has(id),
      toggle: (id) => {
        const next = new Set(ids)
        if (!next.delete(id)) next.add(id)
        set(next)
      },
      togglePage: (page) => {
        const areAll = page.every((id) => ids.has(id))
        set(areAll ? new Set([...ids].filter((id) => !page.includes(id))) : new Set([...ids, ...page]))
      },
      chooseWhole: () => set(new Set(), true),
      clear: () => set(new Set()),
    }
  }, [kept, scope])
}
