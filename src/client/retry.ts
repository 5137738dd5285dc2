import { checkMaxAttempts, checkPriority } from '../job/definition.js'
import type { Duration } from '../job/duration.js'
import { SpillwayError } from '../job/errors.js'
import { checkText, encodePayload } from '../job/payload.js'
import type { Acted, Inspecting, RetryBudget, RetryOverrides, RetryRequest, Serving } from '../store/store.js'
import type { ActOptions } from './act.js'
import { toDeadline, toRunAt, type When } from './moment.js'
import { checkOnConflict, type OnConflict } from './new-job.js'
import { warningOf } from './payload-check.js'

/** What a retry changes about the job beside sending it back; everything left out stays as it is stored. */
export interface RetryOptions extends ActOptions, When {
  /** `fresh`: all attempts again. `keep`: those that are left, at least one. `{ extra: N }`: N more. */
  readonly budget?: RetryBudget | undefined
  /** The queue it goes to. Default: the one it died in. */
  readonly queue?: string | undefined
  /** 0…100, lower runs first. */
  readonly priority?: number | undefined
  readonly maxAttempts?: number | undefined
  /** A time, or a duration from now. One that has passed is cleared by `fresh` and `extra`, and refused by `keep`. */
  readonly deadline?: Date | Duration | undefined
  /** In place of the stored payload. */
  readonly payload?: unknown
  /** When another job has its unique key by now. Default: `fail`. */
  readonly onConflict?: OnConflict | undefined
  /** Past the queue's cap on generations. Default: false. */
  readonly force?: boolean | undefined
}

/** Checks the options of a retry and writes them down as the store takes them. @throws `invalid_option`. */
export function toRetryRequest(options: RetryOptions, defaultBudget: RetryBudget, maxBytes: number): RetryRequest {
  const { budget = defaultBudget, queue, priority, maxAttempts, deadline, payload } = options
  const runAt = toRunAt(options)
  const overrides: RetryOverrides = {
    ...(queue === undefined ? {} : { queue: checkText('queue', queue) }),
    ...(priority === undefined ? {} : { priority: checkPriority(priority) }),
    ...(runAt === null ? {} : { runAt }),
    ...(maxAttempts === undefined ? {} : { maxAttempts: checkMaxAttempts(maxAttempts) }),
    ...(deadline === undefined ? {} : { deadline: toDeadline(deadline) }),
    ...(payload === undefined ? {} : { payload: encodePayload(payload, { maxBytes, bigint: true }).text }),
  }
  return {
    budget: checkBudget(budget),
    overrides,
    onConflict: checkOnConflict(options.onConflict ?? 'fail'),
    force: options.force ?? false,
  }
}

/** The answer of a retry, with a warning where workers publish a schema that its payload does not fit. */
export async function withWarning(store: Inspecting & Serving, acted: Acted): Promise<Acted> {
  if (!acted.changed) return acted
  try {
    const warning = await warningOf(store, acted.id)
    return warning === undefined ? acted : { ...acted, warnings: [...(acted.warnings ?? []), warning] }
  } catch {
    // The retry is done and has to be told; what could not be asked is only a warning less.
    return acted
  }
}

function checkBudget(budget: RetryBudget): RetryBudget {
  if (budget === 'fresh' || budget === 'keep') return budget
  const extra = typeof budget === 'object' && budget !== null ? budget.extra : Number.NaN
  if (Number.isInteger(extra) && extra >= 1 && extra <= 32_767) return { extra }
  throw new SpillwayError(
    'invalid_option',
    `cannot retry with the budget ${JSON.stringify(budget)}: 'fresh', 'keep' or { extra: N } with N from 1 to 32767 is accepted`,
  )
}
