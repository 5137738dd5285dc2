import { useSyncExternalStore } from 'react'

/** Whether the page is narrower than `px`, as it is now. */
export function useIsNarrow(px: number): boolean {
  const query = `(max-width: ${px}px)`
  return useSyncExternalStore(
    (tell) => {
      const list = matchMedia(query)
      list.addEventListener('change', tell)
      return () => list.removeEventListener('change', tell)
    },
    () => matchMedia(query).matches,
  )
}
