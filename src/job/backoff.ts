import { shown } from './errors.js'

const SECOND = 1000
const HOUR = 3_600_000

/** No delay is longer: a job that should wait a year is better looked at. */
export const MAX_DELAY_MS = 365 * 24 * HOUR

/**
 * The default wait before the next attempt, in ms: min(15 s · 2^attempt, 1 h), spread by ± 10 % so that jobs which
 * failed together do not come back together.
 *
 * @param attempt - Returned failures before this one: 0 after the first failure.
 * @param random - In [0, 1).
 */
export function defaultBackoffMs(attempt: number, random: number): number {
  const middle = Math.min(15 * SECOND * 2 ** Math.min(attempt, 20), HOUR)
  return Math.round(middle * (0.9 + 0.2 * random))
}

/** The wait after a crash, in ms: 5 s · 2^crashAttempt, at most 1 h. `crashAttempt` counts crashes before this one. */
export function crashBackoffMs(crashAttempt: number): number {
  return Math.min(5 * SECOND * 2 ** Math.min(crashAttempt, 20), HOUR)
}

/** A wait that can be kept, and a sentence for the history where it is not what the user asked for. */
export interface ResolvedDelay {
  /** Whole, 0 to {@link MAX_DELAY_MS}. */
  readonly delayMs: number
  readonly note: string | null
}

/**
 * What a user's `backoff()` returned, as a wait that can be kept. Never throws: a number out of range is clamped,
 * anything else gives `fallbackMs`; either is said in `note`.
 */
export function resolveDelay(value: unknown, fallbackMs: number): ResolvedDelay {
  if (typeof value !== 'number' || Number.isNaN(value)) {
    return {
      delayMs: fallbackMs,
      note: `backoff returned ${shown(value)}, not milliseconds; ${fallbackMs} ms was used`,
    }
  }
  if (value < 0) return { delayMs: 0, note: `backoff returned ${value}; 0 ms was used` }
  if (value > MAX_DELAY_MS) return { delayMs: MAX_DELAY_MS, note: `backoff returned ${value}; 365 days was used` }
  return { delayMs: Math.round(value), note: null }
}

/** A user's own backoff: ms until the next attempt, from the failures before this one and what was thrown. */
export type Backoff = (attempt: number, error: unknown) => number

/** Asks the user's `backoff` and resolves its answer as {@link resolveDelay} does; what it throws gives `fallbackMs`. */
export function askBackoff(backoff: Backoff, attempt: number, error: unknown, fallbackMs: number): ResolvedDelay {
  try {
    const value: unknown = backoff(attempt, error)
    // An async backoff is answered by the fallback; its rejection would end the process.
    if (value instanceof Promise) value.catch(() => {})
    return resolveDelay(value, fallbackMs)
  } catch {
    // The attempt's own error is what matters and is recorded; a broken backoff only costs its delay.
    return { delayMs: fallbackMs, note: `backoff threw; ${fallbackMs} ms was used` }
  }
}
