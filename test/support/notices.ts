/**
 * Who is told of what: every way into the dead letters, past them and out of them. The page of the events shows this
 * table, and test/worker/notices.test.ts goes each of the ways.
 */
export interface NoticeRow {
  readonly way: string
  /** Whether `onDeath` runs, and where. */
  readonly onDeath: 'the worker that ran it' | 'the process that swept it' | '–'
  readonly event: string
  /** What the counters say: `what`, and under which reason. */
  readonly counter: string
}

const WORKER = 'the worker that ran it'
const SWEEP = 'the process that swept it'

// biome-ignore format: it is a table, one way a line
export const NOTICES = [
  { way: 'attempts exhausted', onDeath: WORKER, event: 'died', counter: 'arrived, attempts_exhausted' },
  { way: 'time-out of the last attempt', onDeath: WORKER, event: 'died', counter: 'arrived, attempts_exhausted' },
  { way: 'skip', onDeath: WORKER, event: 'died', counter: 'arrived, skipped' },
  { way: 'deadline passed while it ran', onDeath: WORKER, event: 'died', counter: 'arrived, deadline_exceeded' },
  { way: 'deadline passed when it was claimed', onDeath: WORKER, event: 'died', counter: 'arrived, deadline_exceeded' },
  { way: 'deadline passed while it waited', onDeath: SWEEP, event: 'died', counter: 'arrived, deadline_exceeded' },
  { way: 'no worker serves it, for longer than its queue waits', onDeath: SWEEP, event: 'died', counter: 'arrived, no_handler' },
  { way: 'callback not answered in time, no attempt left', onDeath: SWEEP, event: 'died', counter: 'arrived, callback_timeout' },
  { way: 'callback failed by its answer, no attempt left', onDeath: '–', event: 'died', counter: 'arrived, attempts_exhausted' },
  { way: 'killed by an operator', onDeath: '–', event: 'died', counter: 'arrived, the operator’s text' },
  { way: 'failed, then moved', onDeath: '–', event: 'died', counter: 'arrived, the operator’s text' },
  { way: 'imported', onDeath: '–', event: 'imported', counter: 'arrived, imported' },
  { way: 'undo of a retry or a discard', onDeath: '–', event: '–', counter: 'arrived, undone' },
  { way: 'attempts exhausted, no dead-letter queue', onDeath: WORKER, event: 'died', counter: 'failed, attempts_exhausted' },
  { way: 'the same, and failed jobs are not kept', onDeath: WORKER, event: 'died', counter: 'gone, attempts_exhausted' },
  { way: 'payload cannot be read', onDeath: '–', event: 'undecodable', counter: 'undecodable, undecodable' },
  { way: 'crashes used up its starts', onDeath: '–', event: 'quarantined', counter: 'quarantined, crash_bound' },
  { way: 'handed back ten times in a row', onDeath: '–', event: 'quarantined', counter: 'quarantined, handed_back' },
  { way: 'revoke', onDeath: '–', event: '–', counter: 'gone, revoked' },
  { way: 'cancelled', onDeath: '–', event: '–', counter: '–' },
  { way: 'retried', onDeath: '–', event: '–', counter: 'departed, retried' },
  { way: 'discarded', onDeath: '–', event: '–', counter: 'departed, discarded' },
  { way: 'purged', onDeath: '–', event: '–', counter: 'departed, purged; gone, purged' },
  { way: 'retention lapsed', onDeath: '–', event: '–', counter: 'departed, expired; expired, its reason' },
] as const satisfies readonly NoticeRow[]

export type Way = (typeof NOTICES)[number]['way']

/** The table as Markdown, for docs/reference/events.md. */
export function renderNotices(): string {
  const lines = NOTICES.map(({ way, onDeath, event, counter }) => `| ${way} | ${onDeath} | ${event} | ${counter} |`)
  return ['| What happened | `onDeath` runs in | Event | Counter |', '|---|---|---|---|', ...lines, ''].join('\n')
}
