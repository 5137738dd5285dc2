import { z } from 'zod'
import { JOB_STATES, type JobState } from '../../job/states.js'

export const when = z.iso.datetime()

export const state = z.enum(JOB_STATES as [JobState, ...JobState[]])

export const count = z.number().int().min(0)

/** Any JSON of a user's. */
export const json = z.unknown()
