import { InvalidStateError } from './errors.js'
import { HELD_STATES, JOB_STATES, type JobState, LIVE_STATES } from './states.js'

/** Where a transition leads: a state, out of the store, back to where it came from, or nowhere. */
export type Target = JobState | 'gone' | 'origin' | 'same'

/** One arrow of a job's life, with what it does to the job's counters. */
export interface Transition {
  /** Empty: the job does not exist before. */
  readonly from: readonly JobState[]
  readonly event: string
  readonly to: Target
  /**
   * `=` unchanged, `+1`, `0`, `budget` as the table of budgets says (redrive.ts), `restored` to what it was before
   * the retry; `-` there is no such job then.
   */
  readonly attempt: '=' | '+1' | '0' | 'budget' | 'restored' | '-'
  readonly crash: '=' | '+1' | '0' | 'budget' | 'restored' | '-'
  /** When it happens and what else it does; the docs' words. */
  readonly also: string
}

const WAITING = ['scheduled', 'retryable', 'available'] as const satisfies JobState[]
const EDITABLE = [...WAITING, 'archived', 'failed', 'undecodable'] as const satisfies JobState[]
const ENDED = ['completed', 'failed', 'cancelled', 'archived', 'discarded'] as const satisfies JobState[]

const KEEPS = { attempt: '=', crash: '=' } as const
const FAILS = { attempt: '+1', crash: '=' } as const
const CRASHES = { attempt: '=', crash: '+1' } as const
const STARTS = { attempt: '0', crash: '0' } as const
const LEAVES = { attempt: '-', crash: '-' } as const

/**
 * The life of a job, as data. Nothing else decides where a job may go: guards, the state machine's tests and the
 * lifecycle page of the docs are read off this table.
 *
 * Of several at once the first of cancel, deadline, the handler's word, exhaustion happens. On queues without a
 * dead-letter queue `archived` reads `failed`, but for move, import and restore ({@link next}).
 */
// biome-ignore format: it is a table, one arrow a line
export const LIFECYCLE = [
  { from: [], event: 'enqueue', to: 'available', ...STARTS, also: 'due now' },
  { from: [], event: 'enqueue_later', to: 'scheduled', ...STARTS, also: 'due later' },
  { from: [], event: 'enqueue_parked', to: 'quarantined', ...STARTS, also: 'its fingerprint is quarantined and the producer opted in' },
  { from: [], event: 'import', to: 'archived', ...KEEPS, also: 'history `imported`' },
  { from: [], event: 'restore', to: 'archived', ...KEEPS, also: 'from the cold archive; history `restored`' },

  { from: ['scheduled', 'retryable'], event: 'promote', to: 'available', ...KEEPS, also: 'when due, or by an operator; end of its priority; uses no attempt' },
  { from: WAITING, event: 'reschedule', to: 'scheduled', ...KEEPS, also: 'available where the new time has come' },
  { from: WAITING, event: 'edit', to: 'same', ...KEEPS, also: 'priority or queue; in the same queue and priority it keeps its position' },
  { from: EDITABLE, event: 'edit_payload', to: 'same', ...KEEPS, also: 'versioned; fingerprint recomputed' },
  { from: WAITING, event: 'quarantine', to: 'quarantined', ...KEEPS, also: 'its fingerprint is quarantined; moved when claimed or due, until then shown as blocked' },
  { from: ['available'], event: 'set_aside', to: 'same', ...KEEPS, also: 'served by nobody here; kept in deferred_jobs, comes back with its position' },
  { from: ['available'], event: 'no_handler', to: 'archived', ...KEEPS, also: '`no_handler`: live workers take the queue and none has served the kind for 1 h' },
  { from: ['available'], event: 'claim', to: 'running', ...KEEPS, also: 'run_lease +1, new lease_id' },

  { from: ['running'], event: 'complete', to: 'completed', ...KEEPS, also: 'retention 0: gone' },
  { from: ['running'], event: 'fail_retry', to: 'retryable', ...FAILS, also: 'error, timeout or retryAfter; attempt + 1 < max_attempts' },
  { from: ['running'], event: 'exhaust', to: 'archived', ...FAILS, also: '`attempts_exhausted`: the same; attempt + 1 >= max_attempts' },
  { from: ['running'], event: 'skip', to: 'archived', ...KEEPS, also: '`skipped`, with code and details' },
  { from: ['running'], event: 'revoke', to: 'gone', ...LEAVES, also: 'counted' },
  { from: ['running'], event: 'snooze', to: 'scheduled', ...KEEPS, also: 'uses no attempt' },
  { from: ['running'], event: 'rate_limit', to: 'scheduled', ...KEEPS, also: 'as snooze; this worker takes none of that kind and queue until then' },
  { from: ['running'], event: 'undecodable', to: 'undecodable', ...KEEPS, also: 'no way to decode or upcast the payload; the handler is not entered' },
  { from: ['running'], event: 'quarantine', to: 'quarantined', ...KEEPS, also: 'its fingerprint is quarantined, and the handler not entered yet' },
  { from: ['running'], event: 'handback', to: 'available', ...KEEPS, also: 'stop or lost claim; handbacks +1, position kept' },
  { from: ['running'], event: 'handback_limit', to: 'quarantined', ...KEEPS, also: '`handed_back`: the tenth hand-back in a row' },
  { from: ['running'], event: 'crash', to: 'retryable', ...CRASHES, also: 'lease lost, below the verdict; history `crash`' },
  { from: ['running'], event: 'convict', to: 'quarantined', ...CRASHES, also: 'lease lost, and its fingerprint convicted' },
  { from: ['running'], event: 'crash_bound', to: 'quarantined', ...CRASHES, also: '`crash_bound`: charged starts reach max_attempts + crash_limit; convicts nobody' },
  { from: ['running'], event: 'wait', to: 'waiting', ...KEEPS, also: 'for a callback; the slot is freed' },

  { from: ['waiting'], event: 'answer', to: 'available', ...KEEPS, also: 'the handler is entered again from its start' },
  { from: ['waiting'], event: 'callback_fail', to: 'retryable', ...FAILS, also: 'as an error; attempt + 1 < max_attempts' },
  { from: ['waiting'], event: 'callback_exhaust', to: 'archived', ...FAILS, also: '`attempts_exhausted`: the same; attempt + 1 >= max_attempts' },
  { from: ['waiting'], event: 'callback_timeout', to: 'retryable', ...FAILS, also: 'as an error; attempt + 1 < max_attempts' },
  { from: ['waiting'], event: 'callback_timeout_exhaust', to: 'archived', ...FAILS, also: '`callback_timeout`: the same; attempt + 1 >= max_attempts' },

  { from: LIVE_STATES, event: 'deadline', to: 'archived', ...KEEPS, also: '`deadline_exceeded`; running ones are aborted' },
  { from: [...LIVE_STATES, ...HELD_STATES], event: 'cancel', to: 'cancelled', ...KEEPS, also: 'running ones are aborted within 1 s; late results are refused' },
  { from: [...WAITING, 'waiting', ...HELD_STATES], event: 'kill', to: 'archived', ...KEEPS, also: "the operator's text, else `manual`" },
  { from: ['failed'], event: 'move', to: 'archived', ...KEEPS, also: "the operator's text, else `manual`" },
  { from: ['archived', 'failed'], event: 'retry', to: 'available', attempt: 'budget', crash: 'budget', also: 'scheduled with a later run_at; generation +1' },
  { from: ['archived', ...HELD_STATES], event: 'discard', to: 'discarded', ...KEEPS, also: 'undoable while it is in the bin' },
  { from: ['discarded'], event: 'undo', to: 'origin', ...KEEPS, also: 'of the discard; byte for byte, retain_from now' },
  { from: ['available', 'scheduled'], event: 'undo', to: 'origin', attempt: 'restored', crash: 'restored', also: 'of a retry, while not claimed since; generation −1, retain_from now' },
  { from: ['quarantined'], event: 'release', to: 'available', attempt: '=', crash: '0', also: 'carries release_id' },
  { from: ['undecodable'], event: 'release', to: 'available', ...KEEPS, also: 'if it decodes now, or forced' },
  { from: ['completed', 'cancelled'], event: 'clone', to: 'same', ...KEEPS, also: 'a new job with a new id and counters 0, linked to it; retry is refused and says so' },
  { from: [...ENDED, ...HELD_STATES], event: 'purge', to: 'gone', ...LEAVES, also: 'for good' },
  { from: [...ENDED, ...HELD_STATES], event: 'expire', to: 'gone', ...LEAVES, also: 'retention lapsed; to the cold archive where the queue opts in; held ones where it sets one' },
] as const satisfies readonly Transition[]

export type JobEvent = (typeof LIFECYCLE)[number]['event']

export const JOB_EVENTS = [...new Set(LIFECYCLE.map((row) => row.event))] as readonly JobEvent[]

/** These name the dead-letter queue itself, so they lead there on every queue. */
const ALWAYS_ARCHIVED: ReadonlySet<string> = new Set(['move', 'import', 'restore'] satisfies JobEvent[])

/**
 * Where `event` takes a job that is in `state` (null: it does not exist yet); undefined where it is not accepted.
 * `origin` is the state it came from.
 *
 * @param dlqEnabled - The queue's policy: without a dead-letter queue, `archived` is `failed`. Default: true.
 */
export function next(state: JobState | null, event: JobEvent, dlqEnabled = true): Exclude<Target, 'same'> | undefined {
  const to = rowFor(state, event)?.to
  if (to === 'same') return state ?? undefined
  return to === 'archived' && !dlqEnabled && !ALWAYS_ARCHIVED.has(event) ? 'failed' : to
}

/** The states that accept `event`: the guard of the statement that performs it. Empty for what makes a job. */
export function statesAccepting(event: JobEvent): JobState[] {
  return JOB_STATES.filter((state) => rowFor(state, event) !== undefined)
}

/**
 * Where `event` takes `job`.
 *
 * @throws {@link InvalidStateError} `invalid_state`, naming the state found, where it is not accepted.
 */
export function guard(
  job: { readonly id: string; readonly state: JobState },
  event: JobEvent,
  dlqEnabled = true,
): Exclude<Target, 'same'> {
  const to = next(job.state, event, dlqEnabled)
  if (to === undefined) throw new InvalidStateError(job.id, job.state, event, statesAccepting(event))
  return to
}

/** The table as Markdown, for docs/explanation/lifecycle.md. */
export function renderLifecycle(): string {
  const lines = LIFECYCLE.map(({ from, event, to, attempt, crash, also }) => {
    const before = from.length === 0 ? '–' : from.join(', ')
    const after = to === 'origin' ? 'the state it came from' : to === 'same' ? 'the same' : to
    return `| ${before} | ${event.replaceAll('_', ' ')} | ${after} | ${attempt} | ${crash} | ${also} |`
  })
  return ['| From | Event | To | attempt | crash | also |', '|---|---|---|---|---|---|', ...lines, ''].join('\n')
}

function rowFor(state: JobState | null, event: JobEvent): Transition | undefined {
  return LIFECYCLE.find(
    (row: Transition) => row.event === event && (state === null ? row.from.length === 0 : row.from.includes(state)),
  )
}
