import type { JobState, Right } from '../../api.js'

interface JobAction {
  readonly label: string
  readonly right: Right
  /** The states that accept it; in another one the server refuses. */
  readonly states: readonly JobState[]
  /** What it will do, said of one job. */
  readonly does: string
  /** What cannot be taken back. */
  readonly danger?: string
}

const WAITING = ['available', 'scheduled', 'retryable'] as const
const HELD = ['quarantined', 'undecodable'] as const
const ENDED = ['completed', 'failed', 'cancelled', 'archived', 'discarded'] as const

/** What can be done with one job. */
export const JOB_ACTIONS = {
  retry: {
    ...{ label: 'Retry', right: 'retry', states: ['archived', 'failed'] },
    does: 'It goes back to work as its next generation, and keeps its history.',
  },
  release: {
    ...{ label: 'Release', right: 'operate', states: HELD },
    does: 'It becomes available again, and runs as soon as a worker takes it.',
  },
  promote: {
    ...{ label: 'Promote', right: 'operate', states: ['scheduled', 'retryable'] },
    does: 'It becomes available now, at the end of its priority. No attempt is used.',
  },
  reschedule: {
    ...{ label: 'Reschedule', right: 'operate', states: WAITING },
    does: 'It gets another due time.',
  },
  edit: {
    ...{ label: 'Edit', right: 'edit', states: WAITING },
    does: 'It gets another priority or queue; what is left empty stays.',
  },
  clone: {
    ...{ label: 'Clone', right: 'enqueue', states: ['completed', 'cancelled'] },
    does: 'A new job with the same payload is put in, linked to this one, which stays as it is.',
  },
  cancel: {
    ...{ label: 'Cancel', right: 'operate', states: [...WAITING, 'running', 'waiting', ...HELD] },
    does: 'It ends without a result. One that runs is aborted within a second.',
    danger: 'A cancelled job is not run again; it can only be cloned.',
  },
  kill: {
    ...{ label: 'Kill', right: 'operate', states: [...WAITING, 'waiting', ...HELD] },
    does: 'It is given up and becomes a dead letter, from where it can be retried.',
  },
  purge: {
    ...{ label: 'Purge', right: 'purge', states: [...ENDED, ...HELD] },
    does: 'It is deleted with its payload and its history.',
    danger: 'It is gone for good. There is no way back.',
  },
} as const satisfies Readonly<Record<string, JobAction>>

export type ActionName = keyof typeof JOB_ACTIONS

/** What can be done with a job in this state by whoever has these rights. */
export function actionsFor(state: JobState, may: (right: Right) => boolean): readonly ActionName[] {
  return (Object.keys(JOB_ACTIONS) as ActionName[]).filter((name) => {
    const { states, right }: JobAction = JOB_ACTIONS[name]
    return states.includes(state) && may(right)
  })
}

/** What `POST /jobs/actions` does with jobs that are named. */
export const BULK_ACTIONS = {
  retry: {
    ...{ label: 'Retry', right: 'retry', states: JOB_ACTIONS.retry.states },
    does: 'They go back to work with the attempts they have left.',
  },
  promote: {
    ...{ label: 'Promote', right: 'operate', states: JOB_ACTIONS.promote.states },
    does: 'They become available now. No attempt is used.',
  },
  cancel: {
    ...{ label: 'Cancel', right: 'operate', states: JOB_ACTIONS.cancel.states },
    does: 'They end without a result. Those that run are aborted within a second.',
    danger: 'Cancelled jobs are not run again; they can only be cloned.',
  },
  kill: {
    ...{ label: 'Kill', right: 'operate', states: JOB_ACTIONS.kill.states },
    does: 'They are given up and become dead letters, from where they can be retried.',
  },
  discard: {
    ...{ label: 'Discard', right: 'operate', states: ['archived', ...HELD] },
    does: 'They go to the bin. While they lie there, the operation can be undone.',
  },
  purge: {
    ...{ label: 'Purge', right: 'purge', states: JOB_ACTIONS.purge.states },
    does: 'They are deleted with their payloads and their histories.',
    danger: 'They are gone for good. There is no way back.',
  },
} as const satisfies Readonly<Record<string, JobAction>>

export type BulkActionName = keyof typeof BULK_ACTIONS

/** What can be done with chosen jobs; of a list of one state only what that state accepts. */
export function bulkActionsFor(state: JobState | undefined, may: (right: Right) => boolean): readonly BulkActionName[] {
  return (Object.keys(BULK_ACTIONS) as BulkActionName[]).filter((name) => {
    const { states, right }: JobAction = BULK_ACTIONS[name]
    return may(right) && (state === undefined || states.includes(state))
  })
}
