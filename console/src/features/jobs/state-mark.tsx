import type { JobState } from '../../api.js'
import { Mark, type Tone } from '../../components/mark.js'

const TONES: Readonly<Record<JobState, Tone>> = {
  ...{ available: 'quiet', scheduled: 'quiet', retryable: 'warn', running: 'busy', waiting: 'quiet' },
  ...{ completed: 'good', failed: 'bad', cancelled: 'quiet', archived: 'bad', discarded: 'quiet' },
  ...{ quarantined: 'warn', undecodable: 'warn' },
}

/** The state of a job. */
export function StateMark({ state }: { state: JobState }) {
  return <Mark tone={TONES[state]}>{stateWord(state)}</Mark>
}

/** `Archived`: the states by their own names, which filters and commands have too. */
export function stateWord(state: JobState): string {
  return `${state[0]?.toUpperCase()}${state.slice(1)}`
}
