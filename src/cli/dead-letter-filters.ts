import type { Command } from 'commander'
import type { Selector } from '../job/selector.js'
import type { JobState } from '../job/states.js'
import { timeAgo } from './arguments.js'

export interface FilterFlags {
  readonly queue?: string
  readonly kind?: string
  readonly tag?: string
  readonly cause?: string
  readonly error?: string
  readonly since?: Date
  readonly until?: Date
  /** `--reason` where a command only looks; `--dlq-reason` where `--reason` says why somebody acts. */
  readonly dlqReason?: string
  readonly reason?: string
  readonly all?: boolean
  readonly state?: JobState
}

/** The options that select, and whether they take a value: what a command bound to a preview leaves out. */
export const FILTERS: Readonly<Record<string, boolean>> = {
  '--queue': true,
  '--kind': true,
  '--tag': true,
  '--dlq-reason': true,
  '--cause': true,
  '--error': true,
  '--since': true,
  '--until': true,
  '--all': false,
  '--state': true,
}

/** Which dead letters a command is about. */
export function filterFlags(command: Command, { acts }: { readonly acts: boolean }): Command {
  command
    .option('--queue <queue>', 'that died in this queue')
    .option('--kind <kind>', 'of this kind')
    .option('--tag <tag>', 'that have this tag')
    .option(
      acts ? '--dlq-reason <reason>' : '--reason <reason>',
      'that died of this: attempts_exhausted, skipped, deadline_exceeded, …',
    )
    .option('--cause <cause>', 'grouped under this cause; `dlq groups` lists them')
    .option('--error <text>', 'with this text in the error message; only beside another filter')
    .option('--since <time>', 'died at or after: ISO text, or a duration ago as 2h', timeAgo)
    .option('--until <time>', 'died before', timeAgo)
  return acts ? command.option('--all', 'all of them; beside a filter it widens nothing') : command
}

/** What the flags select. Nothing named is left so: the guard of the action has the word. */
export function selectorOf({
  queue,
  kind,
  tag,
  cause,
  error,
  since,
  until,
  dlqReason,
  all,
  state,
}: FilterFlags): Selector {
  return given({ queue, kind, tag, cause, error, since, until, reason: dlqReason, all, state }) as Selector
}

/** The entries that were given. */
export function given<T extends object>(flags: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>
  }
}
