import { type Duration, parseDuration } from '../job/duration.js'
import { SpillwayError } from '../job/errors.js'

export interface When {
  /** When the job is due. In the past: now. */
  readonly runAt?: Date | undefined
  /** How long from now until it is due: ms, or a text such as `'5m'`. Not together with `runAt`. */
  readonly delay?: Duration | undefined
}

/**
 * The one absolute time that `runAt` or `delay` says; null is now.
 *
 * @throws `invalid_option` for both at once, an invalid date or an invalid duration.
 */
export function toRunAt({ runAt, delay }: When): Date | null {
  if (runAt !== undefined && delay !== undefined) {
    throw new SpillwayError('invalid_option', 'cannot use runAt and delay together; give one of them')
  }
  if (runAt !== undefined) return checkDate(runAt, 'runAt')
  // Zero is what arithmetic on delays ends in, and it has a plain meaning here.
  if (delay === undefined || delay === 0) return null
  return new Date(Date.now() + parseDuration(delay, 'delay'))
}

/**
 * A deadline as a time, from a time or from a duration that starts now.
 *
 * @throws `invalid_option` for an invalid date or duration.
 */
export function toDeadline(deadline: Date | Duration): Date {
  if (typeof deadline === 'object') return checkDate(deadline, 'deadline')
  return new Date(Date.now() + parseDuration(deadline, 'deadline'))
}

/** What PostgreSQL and `Date` both can hold, with room to add to it. */
const LATEST_MS = Date.UTC(9999, 11, 31)
const EARLIEST_MS = Date.UTC(1900, 0, 1)

function checkDate(value: Date, name: string): Date {
  const ms = value instanceof Date ? value.getTime() : Number.NaN
  if (ms >= EARLIEST_MS && ms <= LATEST_MS) return value
  const shown = value instanceof Date ? (Number.isNaN(ms) ? 'an invalid Date' : value.toISOString()) : String(value)
  throw new SpillwayError('invalid_option', `cannot use ${shown} as ${name}: a Date from 1900 to 9999 is accepted`)
}
