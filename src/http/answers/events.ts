import { z } from 'zod'
import { count, when } from './values.js'

export const event = z
  .object({
    id: z.string(),
    position: z.string(),
    at: when,
    type: z.string(),
    job_id: z.string(),
    queue: z.string(),
    kind: z.string(),
    generation: count,
    reason: z.string().nullable(),
    cause: z.string().nullable(),
    message: z.string().nullable(),
  })
  .meta({ id: 'Event' })
