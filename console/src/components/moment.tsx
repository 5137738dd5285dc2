import { absolute, relative } from '../words.js'
import { useNow } from './now.js'
import './moment.css'

interface MomentProps {
  readonly at: Date | null | undefined
  /** What stands there when there is no time. */
  readonly none?: string
  /** Whether the exact time stands behind it, rather than only in its hint. */
  readonly isExact?: boolean
}

/** A time as people think of it, `3 min ago`, with the exact one in its hint; whoever focuses it sees that, too. */
export function Moment({ at, none = '–', isExact = false }: MomentProps) {
  const now = useNow()
  if (at === null || at === undefined) return <span className="moment-none">{none}</span>
  const exact = absolute(at)
  return (
    <time className="moment" dateTime={at.toISOString()} title={exact}>
      {relative(at, Math.max(now, Date.now() - 60_000))}
      {isExact && <span className="moment-exact"> {exact}</span>}
    </time>
  )
}
