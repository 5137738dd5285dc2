import type { Duty } from '../../api.js'
import type { Tone } from '../../components/mark.js'

/** The last success is kept to 10 minutes, so that nothing is late before this. */
const LATE_MS = 30 * 60_000

export interface DutyStanding {
  readonly tone: Tone
  readonly word: 'Paused' | 'Failing' | 'Late' | 'Not yet run' | 'Well'
}

/** How a duty fares: stopped by somebody, failing, without a success for long, or well. */
export function standingOf({ pausedAt, failures, lastSuccessAt }: Duty, now = Date.now()): DutyStanding {
  if (pausedAt !== null) return { tone: 'warn', word: 'Paused' }
  if (failures > 0) return { tone: 'bad', word: 'Failing' }
  if (lastSuccessAt === null) return { tone: 'quiet', word: 'Not yet run' }
  return now - lastSuccessAt.getTime() > LATE_MS ? { tone: 'bad', word: 'Late' } : { tone: 'good', word: 'Well' }
}
