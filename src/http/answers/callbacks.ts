import { z } from 'zod'
import { state, when } from './values.js'

export const answered = z.object({
  callback_id: z.string(),
  name: z.string(),
  job_id: z.string(),
  job_state: z.union([state, z.literal('gone')]),
})

export const extended = answered.extend({ waits_until: when.nullable() })
