import { type Duration, parseDuration } from '../job/duration.js'
import { SpillwayError } from '../job/errors.js'
import { statesAccepting } from '../job/lifecycle.js'
import { checkSelector, type Selector } from '../job/selector.js'
import { HELD_STATES, type JobState } from '../job/states.js'
import type { BulkAction, BulkRequest } from '../store/store.js'
import type { ActOptions } from './act.js'
import { SEED_REASONS } from './filters.js'
import { type RetryOptions, toRetryRequest } from './retry.js'

/** How bulk work goes about it. */
export interface BulkOptions extends ActOptions {
  /** Counts, samples and refusals, and nothing moves. Its id can be given as `preview` to the real thing. */
  readonly dryRun?: boolean | undefined
  /** Rows a second. Default: as fast as `maxWaiting` lets it. */
  readonly rate?: number | undefined
  /** Of a retry: no more while so many of its jobs wait to be claimed; 0 is no limit. Default: 5,000. */
  readonly maxWaiting?: number | undefined
  /** Of a retry: so many go first, and the rest only when they did well. */
  readonly canary?: number | undefined
  /** The share of canaries that may fail, 0 to 1. Default: 0. */
  readonly abortAbove?: number | undefined
  /** How long canaries may take to end an attempt. Default: 5 min. */
  readonly hold?: Duration | undefined
  /** Id of a dry run: exactly the rows it saw. The selector is then its own. */
  readonly preview?: string | undefined
  /**
   * A name for this request, of your choosing: sent again within 24 h, by whoever acts under the same name, it answers
   * what the first one did or began, and does nothing.
   */
  readonly idempotencyKey?: string | undefined
}

/** A bulk retry: what each of its jobs gets, and how it goes about it. */
export interface BulkRetryOptions extends BulkOptions, Omit<RetryOptions, keyof ActOptions> {}

/**
 * Checks a selector and options and writes them down as the store takes them.
 *
 * @throws `selector_refused` where nothing is named, or something that is unknown; `invalid_option`.
 */
export function toBulkRequest(
  action: BulkAction,
  selector: Selector,
  options: BulkRetryOptions,
  maxBytes: number,
): BulkRequest {
  const { dryRun = false, rate, maxWaiting = 5_000, canary, abortAbove = 0, hold = 300_000, preview } = options
  const checked = preview === undefined ? checkSelector(selector) : {}
  const reason = checked.reason === undefined ? undefined : (SEED_REASONS[checked.reason] ?? checked.reason)
  checkState(action, checked)
  if (canary !== undefined && action !== 'retry') {
    throw new SpillwayError('invalid_option', `cannot send canaries of a ${action} ahead: only a retry has some`)
  }
  return {
    action,
    selector: { ...checked, ...(reason === undefined ? {} : { reason }) },
    ...(action === 'retry' ? { retry: toRetryRequest(options, 'fresh', maxBytes) } : {}),
    dryRun,
    rate: rate === undefined ? null : positive('rate', rate),
    maxWaiting: whole('maxWaiting', maxWaiting, 0),
    canary: canary === undefined ? null : whole('canary', canary, 1),
    abortAbove: share(abortAbove),
    holdMs: parseDuration(hold, 'hold'),
    preview: preview ?? null,
  }
}

/** The states a selector of this action may name. Without one it means the first; among ids, all of them. */
export function selectableStates(action: BulkAction): readonly [JobState, ...JobState[]] {
  if (action === 'move') return ['failed']
  return action === 'discard' ? ['archived', ...HELD_STATES] : ['archived']
}

/** @throws `selector_refused` for a state the action does not take, and for what jobs of a state do not have. */
function checkState(action: BulkAction, { state, cause, error }: Selector): void {
  const known = selectableStates(action)
  if (state !== undefined && !known.includes(state)) {
    const byId =
      action === 'purge' && statesAccepting('purge').includes(state) ? '; jobs.purgeIds takes them by id' : ''
    throw new SpillwayError(
      'selector_refused',
      `cannot ${action} jobs that are ${state}: only ${known.join(', ')} jobs can${byId}`,
    )
  }
  const without = cause !== undefined ? 'cause' : error !== undefined ? 'error' : undefined
  if (without !== undefined && (HELD_STATES as readonly (JobState | undefined)[]).includes(state)) {
    throw new SpillwayError(
      'selector_refused',
      `cannot select ${state} jobs by ${without}: they did not die, so they have none; name queue, kind, tag or reason`,
    )
  }
}

/** @throws `invalid_option` where it is no number of rows a second. */
export function positive(name: string, value: number): number {
  if (Number.isFinite(value) && value > 0 && value <= 1_000_000) return value
  throw new SpillwayError(
    'invalid_option',
    `cannot use ${value} as ${name}: a number above 0 is accepted, in rows a second`,
  )
}

/** @throws `invalid_option` */
export function whole(name: string, value: number, min: number): number {
  if (Number.isInteger(value) && value >= min && value <= 2_147_483_647) return value
  throw new SpillwayError(
    'invalid_option',
    `cannot use ${value} as ${name}: a whole number of at least ${min} is accepted`,
  )
}

function share(value: number): number {
  if (value >= 0 && value <= 1) return value
  throw new SpillwayError('invalid_option', `cannot use ${value} as abortAbove: a share from 0 to 1 is accepted`)
}
