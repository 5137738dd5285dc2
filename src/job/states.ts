/**
 * Every state a job can be in, and the one place (table) that holds jobs of that state.
 *
 * A job is in exactly one place at any moment. `archived` is the dead-letter queue.
 */
export const STATES = {
  available: { place: 'ready_entries', means: 'claimable now' },
  scheduled: { place: 'deferred_jobs', means: 'waits for its due time' },
  retryable: { place: 'deferred_jobs', means: 'failed, waits for its next attempt' },
  running: { place: 'leases', means: 'a worker holds its lease' },
  waiting: { place: 'waiting_jobs', means: 'waits for a callback' },
  completed: { place: 'terminal_entries', means: 'done' },
  failed: { place: 'terminal_entries', means: 'given up on a queue without a dead-letter queue' },
  cancelled: { place: 'terminal_entries', means: 'stopped by an operator or the application' },
  archived: { place: 'dlq_entries', means: 'given up: a dead letter' },
  discarded: { place: 'dlq_bin', means: 'in the bin, undoable' },
  quarantined: { place: 'held_entries', means: 'held: it is suspected of killing workers' },
  undecodable: { place: 'held_entries', means: 'held: its payload cannot be read by this code' },
} as const

export type JobState = keyof typeof STATES
export type Place = (typeof STATES)[JobState]['place']

export const JOB_STATES = Object.keys(STATES) as JobState[]

/** States of jobs that will still run by themselves. */
export const LIVE_STATES = ['available', 'scheduled', 'retryable', 'running', 'waiting'] as const satisfies JobState[]

/** States of jobs that are parked until somebody releases them. */
export const HELD_STATES = ['quarantined', 'undecodable'] as const satisfies JobState[]

/** Whether `text` names a state. */
export function isJobState(text: string): text is JobState {
  return Object.hasOwn(STATES, text)
}
