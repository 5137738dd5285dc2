import type { Command } from 'commander'
import type { OnConflict } from '../client/new-job.js'
import type { RetryOptions } from '../client/retry.js'
import type { RetryBudget } from '../store/store.js'
import { jsonFrom, timeAhead, whole } from './arguments.js'

export interface RetryFlags {
  readonly queue?: string
  readonly priority?: number
  readonly runAt?: Date
  readonly maxAttempts?: number
  readonly deadline?: Date
  readonly payload?: string
  readonly budget?: RetryBudget
  readonly onConflict?: OnConflict
  readonly force?: boolean
  readonly reason?: string
}

/** What a retry can change about the job; what is left out stays as it is stored. */
export function retryFlags(command: Command): Command {
  return command
    .option('--queue <queue>', 'the queue it goes to (default: the one it died in)')
    .option('--priority <number>', '0 to 100, lower runs first', whole)
    .option('--run-at <time>', 'run it then: ISO text, or a duration from now as 5m', timeAhead)
    .option('--max-attempts <number>', 'attempts that may fail', whole)
    .option('--deadline <time>', 'a new deadline: ISO text, or a duration from now', timeAhead)
    .option('--payload <json>', 'in place of the stored payload: JSON, @file or - for stdin')
    .option('--on-conflict <what>', 'when its unique key is taken: fail, skip or replace (default: fail)')
    .option('--force', "past the queue's cap on generations")
    .option('--reason <text>', 'why; kept in the history')
}

export function retryOptions(flags: RetryFlags): RetryOptions {
  const { queue, priority, runAt, maxAttempts, deadline, payload, budget, onConflict, force, reason } = flags
  const given = payload === undefined ? {} : { payload: jsonFrom(payload, 'payload') }
  return { queue, priority, runAt, maxAttempts, deadline, budget, onConflict, force, reason, ...given }
}
