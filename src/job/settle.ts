import { askBackoff, type Backoff, defaultBackoffMs, resolveDelay } from './backoff.js'
import { CallbackFailed } from './callback.js'
import type { FailureEntry, HistoryEntry } from './history.js'
import type { RuntimeDlqReason } from './job.js'
import type { Outcome } from './outcome.js'
import { encodePayload } from './payload.js'
import { cutSecrets } from './secrets.js'
import { describeThrown } from './thrown.js'

export const MAX_RESULT_BYTES = 64 * 1024
const MAX_DETAILS_BYTES = 8 * 1024

/** So many hand-backs in a row, and the job is parked: something takes it and never runs it. */
export const MAX_HANDBACKS = 10

/** What settling has to know about the job and its attempt, as the claim gave it. */
export interface AttemptFacts {
  readonly attempt: number
  readonly crashAttempt: number
  readonly maxAttempts: number
  /** attempt + crashAttempt when this generation or release began. */
  readonly chargeBase: number
  readonly generation: number
  /** Hand-backs in a row before this one. */
  readonly handbacks: number
  readonly deadline: Date | null
  readonly leaseId: string
  readonly worker: string
  readonly startedAt: Date
}

export interface SettleContext {
  /** The store's clock. */
  readonly now: Date
  /** In [0, 1): spreads the backoff. */
  readonly random: number
  /** The kind's own backoff, where it has one. */
  readonly backoff?: Backoff | undefined
  /** The queue's. Default: 3. */
  readonly crashLimit?: number
}

/** What an attempt's end does to its job: one transition, carrying exactly what it needs. */
export type Settlement =
  | { readonly type: 'complete'; readonly resultJson: string | null }
  | { readonly type: 'retry'; readonly attempt: number; readonly delayMs: number; readonly entry: FailureEntry }
  | {
      readonly type: 'dead'
      readonly reason: RuntimeDlqReason
      readonly attempt: number
      readonly entry: HistoryEntry
    }
  | { readonly type: 'snooze'; readonly delayMs: number; readonly rateLimited: boolean }
  | { readonly type: 'revoke' }
  /** `retryDelayMs`: until the next attempt, should the callback fail. */
  | { readonly type: 'wait'; readonly callbackId: string; readonly name: string; readonly retryDelayMs: number }
  | { readonly type: 'handback'; readonly handbacks: number }
  | { readonly type: 'park'; readonly reason: 'handed_back'; readonly handbacks: number; readonly entry: HistoryEntry }

/**
 * What becomes of a job whose attempt ended with `outcome`. Pure, and never throws, whatever the handler returned or
 * threw. A deadline that has passed comes before the handler's word; that before exhaustion.
 *
 * @example
 * settle(facts, { type: 'failed', error, entry: 'error' }, { now, random: 0.5 }).type // 'retry' or 'dead'
 */
export function settle(facts: AttemptFacts, outcome: Outcome, context: SettleContext): Settlement {
  if (outcome.type === 'handback') return handBack(facts, context.now)
  if (facts.deadline !== null && facts.deadline <= context.now) return missDeadline(facts, outcome, context.now)

  switch (outcome.type) {
    case 'completed':
      return { type: 'complete', resultJson: resultJson(outcome.result) }

    case 'failed':
      return fail(facts, failureEntry(outcome.entry, facts, outcome.error, context.now), outcome.error, context)

    case 'callbackFailed': {
      const { callback, error, isLate } = outcome
      const entry = { ...failureEntry('callback_failed', facts, error, context.now), callback }
      const settlement = fail(facts, entry, error, context)
      return isLate && settlement.type === 'dead' ? { ...settlement, reason: 'callback_timeout' } : settlement
    }

    case 'retryAfter': {
      const entry = failureEntry('error', facts, outcome.error, context.now)
      return fail(facts, entry, outcome.error, context, outcome.delayMs)
    }

    case 'skip': {
      const entry: HistoryEntry = {
        ...entryBase(facts, context.now),
        type: 'skipped',
        code: outcome.code,
        ...(outcome.details !== undefined && { details: boundedDetails(outcome.details) }),
      }
      return { type: 'dead', reason: 'skipped', attempt: facts.attempt, entry }
    }

    case 'revoke':
      return { type: 'revoke' }

    case 'snooze':
    case 'rateLimited':
      // Waiting is not failing: it uses no attempt.
      return { type: 'snooze', delayMs: outcome.delayMs, rateLimited: outcome.type === 'rateLimited' }

    case 'wait': {
      const { callbackId, name } = outcome
      const error = new CallbackFailed({ name: 'CallbackFailed', message: 'the callback failed', code: null })
      return { type: 'wait', callbackId, name, retryDelayMs: delayOf(facts, error, context).delayMs }
    }

    case 'deadline':
      return missDeadline(facts, outcome, context.now)
  }
}

/**
 * What is stored of a handler's result: its JSON text of at most 64 KiB, or null where it returned nothing.
 *
 * The work is done, and doing it again because its result cannot be kept would be worse than losing the result: a
 * result that is too large or no JSON is replaced by `{"spillway_result_omitted": why}`. Never throws.
 */
export function resultJson(result: unknown): string | null {
  if (result === undefined) return null
  try {
    return encodePayload(result, { maxBytes: MAX_RESULT_BYTES, what: 'result' }).text
  } catch (error) {
    return JSON.stringify({ spillway_result_omitted: describeThrown(error).message })
  }
}

/** The history entry of something that failed: `thrown` as data, with what every entry says of its attempt. */
export function failureEntry(
  type: FailureEntry['type'],
  facts: AttemptFacts,
  thrown: unknown,
  now: Date,
): FailureEntry {
  const { startedAt, generation, attempt, leaseId, worker } = facts
  const { name, message, stack, code, cause, truncated, originalLength } = describeThrown(thrown)
  // Written out: on the failure path, spreading two objects took three times what describing the error takes.
  const entry = { type, at: now, startedAt, generation, attempt, leaseId, worker, name, message, stack, code, cause }
  return originalLength === undefined ? { ...entry, truncated } : { ...entry, truncated, originalLength }
}

function fail(
  facts: AttemptFacts,
  entry: FailureEntry,
  error: unknown,
  context: SettleContext,
  askedDelayMs?: number,
): Settlement {
  const attempt = facts.attempt + 1
  if (isExhausted(facts, context.crashLimit ?? 3)) return { type: 'dead', reason: 'attempts_exhausted', attempt, entry }

  const { delayMs, note } = delayOf(facts, error, context, askedDelayMs)
  return { type: 'retry', attempt, delayMs, entry: note === null ? entry : { ...entry, note } }
}

/** Until the next attempt: as the handler asked, else by the kind's backoff. */
function delayOf(facts: AttemptFacts, error: unknown, { random, backoff }: SettleContext, askedDelayMs?: number) {
  const usual = defaultBackoffMs(facts.attempt, random)
  if (askedDelayMs !== undefined) return resolveDelay(askedDelayMs, usual)
  return backoff === undefined ? { delayMs: usual, note: null } : askBackoff(backoff, facts.attempt, error, usual)
}

/** No attempt is left; nor is one where crashes have used up all starts, which else would exceed their bound. */
function isExhausted(facts: AttemptFacts, crashLimit: number): boolean {
  const charged = facts.attempt + facts.crashAttempt - facts.chargeBase + 1
  return facts.attempt + 1 >= facts.maxAttempts || charged >= facts.maxAttempts + crashLimit
}

function missDeadline(facts: AttemptFacts, outcome: Outcome, now: Date): Settlement {
  const thrown = 'error' in outcome ? outcome.error : undefined
  const when = facts.deadline === null ? '' : ` ${facts.deadline.toISOString()}`
  const late = new Error(`the deadline${when} has passed`, thrown === undefined ? {} : { cause: thrown })
  const entry: FailureEntry = {
    ...entryBase(facts, now),
    type: 'deadline',
    ...describeThrown(late),
    name: 'DeadlineExceeded',
    stack: null,
  }
  return { type: 'dead', reason: 'deadline_exceeded', attempt: facts.attempt, entry }
}

function handBack(facts: AttemptFacts, now: Date): Settlement {
  const handbacks = facts.handbacks + 1
  if (handbacks < MAX_HANDBACKS) return { type: 'handback', handbacks }
  const entry: HistoryEntry = { ...entryBase(facts, now), type: 'handed_back', handbacks }
  return { type: 'park', reason: 'handed_back', handbacks, entry }
}

function entryBase(facts: AttemptFacts, now: Date) {
  const { startedAt, generation, attempt, leaseId, worker } = facts
  return { at: now, startedAt, generation, attempt, leaseId, worker }
}

/** The details of a skip as plain data of at most 8 KiB, without known secrets. */
function boundedDetails(details: unknown): unknown {
  try {
    const { text } = encodePayload(details, { maxBytes: MAX_DETAILS_BYTES, what: 'details' })
    return JSON.parse(text, (_, value: unknown) => (typeof value === 'string' ? cutSecrets(value) : value))
  } catch (error) {
    return { spillway_omitted: describeThrown(error).message }
  }
}
