import { type Duration, parseDuration } from './duration.js'
import { SpillwayError, shown } from './errors.js'
import type { Outcome } from './outcome.js'

/** Registered, so that signals made by another copy of this package are recognised. */
const SIGNAL: unique symbol = Symbol.for('spillway.signal') as never

/**
 * A handler's word about its attempt, other than done and failed. Return it, or throw it from deep in a call stack:
 * both mean the same.
 */
export interface HandlerSignal {
  readonly [SIGNAL]: Outcome
}

/**
 * Gives the job up without another attempt: it goes to the dead-letter queue with reason `skipped`.
 *
 * @param code - Why, as one word (`no_such_user`): what such jobs are grouped by. 1 to 255 characters.
 * @param details - Anything JSON; kept in the history up to 8 KiB.
 * @throws {@link SpillwayError} `invalid_option` where `code` is empty or too long.
 *
 * @example
 * if (!user) return skip('no_such_user', { id: payload.user })
 */
export function skip(code: string, details?: unknown): HandlerSignal {
  if (typeof code !== 'string' || code === '' || code.length > 255) {
    throw new SpillwayError(
      'invalid_option',
      `cannot skip with code ${shown(code)}: a word of 1 to 255 characters is accepted`,
    )
  }
  return signal({ type: 'skip', code, details })
}

/** Removes the job for good, without a trace but a counter: the work is no longer wanted. */
export function revoke(): HandlerSignal {
  return signal({ type: 'revoke' })
}

/**
 * Postpones the job: it becomes `scheduled` and uses no attempt.
 *
 * @throws {@link SpillwayError} `invalid_option` where `delay` is no duration of at least 1 ms.
 */
export function snooze(delay: Duration): HandlerSignal {
  return signal({ type: 'snooze', delayMs: parseDuration(delay, 'a snooze') })
}

/**
 * A failed attempt whose next one starts after `delay` instead of after the backoff; on the last attempt the job is
 * given up as for any failure.
 *
 * @param error - What is recorded; anything, as with `throw`.
 * @throws {@link SpillwayError} `invalid_option` where `delay` is no duration of at least 1 ms.
 */
export function retryAfter(delay: Duration, error?: unknown): HandlerSignal {
  const delayMs = parseDuration(delay, 'a retry delay')
  return signal({ type: 'retryAfter', delayMs, error: error ?? `retryAfter(${delayMs} ms)` })
}

/**
 * Postpones the job as {@link snooze} does, and this worker takes no job of this kind and queue until then: for a
 * service that answered 429.
 *
 * @throws {@link SpillwayError} `invalid_option` where `delay` is no duration of at least 1 ms.
 */
export function rateLimited(delay: Duration): HandlerSignal {
  return signal({ type: 'rateLimited', delayMs: parseDuration(delay, 'a rate limit') })
}

/** How an attempt ended whose handler returned `value`: what a signal says, else done with `value` as its result. */
export function returnedOutcome(value: unknown): Outcome {
  return saidBy(value) ?? { type: 'completed', result: value }
}

/** How an attempt ended whose handler threw `thrown`: what a signal says, else failed. */
export function thrownOutcome(thrown: unknown): Outcome {
  return saidBy(thrown) ?? { type: 'failed', error: thrown, entry: 'error' }
}

function signal(outcome: Outcome): HandlerSignal {
  return { [SIGNAL]: outcome }
}

function saidBy(value: unknown): Outcome | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  try {
    const said = (value as Partial<HandlerSignal>)[SIGNAL]
    return said !== undefined && SAYABLE.has(said.type) ? said : undefined
  } catch {
    // A Proxy that throws at every question is not one of ours.
    return undefined
  }
}

/** A signal of another version of this package may say what this one does not know; then it is a plain value. */
const SAYABLE: ReadonlySet<string> = new Set([
  'skip',
  'revoke',
  'snooze',
  'retryAfter',
  'rateLimited',
] satisfies Outcome['type'][])
