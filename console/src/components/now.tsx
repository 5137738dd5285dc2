import { createContext, type ReactNode, use, useEffect, useState } from 'react'

const Now = createContext(0)

const TICK_MS = 10_000

/** One clock for everything that says how long ago something was; it stands still while nobody looks. */
export function NowProvider({ children }: { children: ReactNode }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const tick = () => {
      if (!document.hidden) setNow(Date.now())
    }
    const timer = setInterval(tick, TICK_MS)
    document.addEventListener('visibilitychange', tick)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', tick)
    }
  }, [])
  return <Now value={now}>{children}</Now>
}

/** The time now, to ten seconds. */
export function useNow(): number {
  return use(Now)
}
