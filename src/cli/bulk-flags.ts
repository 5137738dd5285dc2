import { type Command, InvalidArgumentError } from 'commander'
import type { BulkOptions, BulkRetryOptions } from '../client/bulk-options.js'
import type { OnConflict } from '../client/new-job.js'
import { SpillwayError } from '../job/errors.js'
import type { RetryBudget } from '../store/store.js'
import { budget, duration, jsonFrom, timeAhead, whole } from './arguments.js'
import { type FilterFlags, given, selectorOf } from './dead-letter-filters.js'

/** How bulk work goes about it. */
export interface BulkFlags extends FilterFlags {
  readonly dryRun?: boolean
  readonly rate?: number
  readonly preview?: string
  readonly detach?: boolean
}

export interface RetryManyFlags extends BulkFlags {
  readonly canary?: number
  readonly abortAbove?: number
  readonly hold?: number
  readonly maxWaiting?: number
  readonly onConflict?: OnConflict
  readonly toQueue?: string
  readonly priority?: number
  readonly runAt?: Date
  readonly maxAttempts?: number
  readonly deadline?: Date
  readonly payload?: string
  readonly budget?: RetryBudget
  readonly force?: boolean
}

export function bulkFlags(command: Command): Command {
  return command
    .option('--dry-run', 'count, show samples and refusals; nothing moves')
    .option('--preview <operation>', 'exactly what this dry run saw, in place of filters')
    .option('--rate <number>', 'rows a second', positive)
    .option('--reason <text>', 'why; kept in the audit log and with the jobs')
    .option('--detach', 'print the id of the operation and leave it to the workers')
}

export function retryManyFlags(command: Command): Command {
  return bulkFlags(command)
    .option('--canary <number>', 'send so many ahead, and the rest when they did well', whole)
    .option('--abort-above <share>', 'share of canaries that may fail, 0 to 1 (default: 0)', share)
    .option('--hold <duration>', 'how long canaries may take (default: 5m)', duration)
    .option('--max-waiting <number>', 'hold while so many of them wait to be claimed; 0: never (default: 5000)', whole)
    .option('--on-conflict <what>', 'when a unique key is taken: fail, skip or replace (default: fail)')
    .option('--to-queue <queue>', 'the queue they go to (default: the one each died in)')
    .option('--priority <number>', '0 to 100, lower runs first', whole)
    .option('--run-at <time>', 'run them then: ISO text, or a duration from now as 5m', timeAhead)
    .option('--max-attempts <number>', 'attempts that may fail', whole)
    .option('--deadline <time>', 'a new deadline: ISO text, or a duration from now', timeAhead)
    .option('--payload <json>', 'in place of the stored payloads: JSON, @file or - for stdin')
    .option('--budget <budget>', 'fresh, keep or extra:N (default: fresh)', budget)
    .option('--force', "past the queue's cap on generations")
}

/**
 * What an action is about.
 *
 * @throws `invalid_option` where two words say it: a preview has its own selector, ids need none.
 */
export function scopeOf(flags: BulkFlags, ids: readonly string[] = []): ReturnType<typeof selectorOf> {
  const selector = selectorOf(flags)
  const [filter] = Object.keys(selector)
  const clash =
    filter === undefined
      ? flags.preview !== undefined && ids.length > 0 && '--preview and ids'
      : flags.preview !== undefined
        ? `--preview and the filter ${filter}`
        : ids.length > 0 && `ids and the filter ${filter}`
  if (clash) throw new SpillwayError('invalid_option', `cannot take both ${clash}: name one of the two`)
  return ids.length > 0 ? { ids } : selector
}

export function bulkOptions({ dryRun, rate, preview, reason }: BulkFlags): BulkOptions {
  return given({ dryRun, rate, preview, reason })
}

export function retryManyOptions(flags: RetryManyFlags): BulkRetryOptions {
  const { canary, abortAbove, hold, maxWaiting, onConflict, toQueue: queue, priority, runAt, budget, force } = flags
  const { maxAttempts, deadline } = flags
  const payload = flags.payload === undefined ? {} : { payload: jsonFrom(flags.payload, 'payload') }
  const pace = given({ canary, abortAbove, hold, maxWaiting })
  return {
    ...bulkOptions(flags),
    ...pace,
    ...given({ onConflict, queue, priority, runAt, maxAttempts, deadline, budget, force }),
    ...payload,
  }
}

/** A number above 0. */
export function positive(text: string): number {
  const value = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && value > 0) return value
  throw new InvalidArgumentError('A number above 0 is accepted.')
}

function share(text: string): number {
  const value = Number(text)
  if (/^\d*\.?\d+$/.test(text) && value <= 1) return value
  throw new InvalidArgumentError('A share from 0 to 1 is accepted.')
}
