import type { Queue } from '../../api.js'
import { Mark } from '../../components/mark.js'
import { count } from '../../words.js'

interface StandingProps {
  readonly queue: Queue
  /** How many more jobs wait than when the page was opened. */
  readonly growth?: number | undefined
}

/** Whether anything keeps workers from a queue, and whether they keep up with it. */
export function Standing({ queue: { pausedAt }, growth = 0 }: StandingProps) {
  if (pausedAt !== null) return <Mark tone="warn">Paused</Mark>
  if (growth <= 0) return <Mark tone="good">Open</Mark>
  return <Mark tone="warn" title="More wait than when this page was opened">{`Growing, +${count(growth)}`}</Mark>
}
