import { defineJob } from 'spillway'

export const QUEUE = 'bench'

/** A job that does nothing. */
export const noop = defineJob({ kind: 'noop', queue: QUEUE })

/** A job that dies of its first failure. */
export const boom = defineJob({ kind: 'boom', queue: QUEUE, maxAttempts: 1 })

export const JOBS = { noop, boom }

export type JobName = keyof typeof JOBS
