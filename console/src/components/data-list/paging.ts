import { useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'

export interface Paging {
  /** From 1; of an address that was opened from elsewhere, where the way to it is not known, 1 too. */
  readonly number: number
  readonly hasPrevious: boolean
  next(cursor: string): void
  previous(): void
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The cursors of the pages before this one; null is the first. */
    readonly trail?: readonly (string | null)[]
  }
}

/**
 * Pages by the `cursor` of the address. The API only knows the way forward; the way back is kept with the place in the
 * browser's history, and survives a reload.
 */
export function usePaging(): Paging {
  const navigate = useNavigate()
  const { cursor } = useSearch({ strict: false }) as { readonly cursor?: string }
  const trail = useLocation({ select: ({ state }) => state.trail }) ?? []
  const go = (to: string | undefined, way: readonly (string | null)[]) =>
    void navigate({
      to: '.',
      search: ((search: object) => ({ ...search, cursor: to })) as never,
      state: { trail: way },
    })
  return {
    number: trail.length + 1,
    hasPrevious: cursor !== undefined,
    // The page before is shown until the next one has come, and with it where that begins: a second click leads nowhere.
    next: (next) => {
      if (next !== cursor) go(next, [...trail, cursor ?? null])
    },
    previous: () => go(trail.at(-1) ?? undefined, trail.slice(0, -1)),
  }
}

/** Goes back by itself from a page whose rows are all gone, so that nobody is told there is nothing while there is. */
export function useLeaveEmptyPage(paging: Paging, isEmpty: boolean): void {
  const { hasPrevious, previous } = paging
  useEffect(() => {
    if (isEmpty && hasPrevious) previous()
  }, [isEmpty, hasPrevious, previous])
}
