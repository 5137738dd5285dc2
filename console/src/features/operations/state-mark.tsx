import type { Operation } from '../../api.js'
import { Mark, type Tone } from '../../components/mark.js'

const TONES: Readonly<Record<Operation['state'], Tone>> = {
  running: 'busy',
  paused: 'warn',
  done: 'good',
  cancelled: 'quiet',
  failed: 'bad',
}

/** How an operation stands. */
export function StateMark({ operation: { state } }: { operation: Operation }) {
  return <Mark tone={TONES[state]}>{`${state[0]?.toUpperCase()}${state.slice(1)}`}</Mark>
}
