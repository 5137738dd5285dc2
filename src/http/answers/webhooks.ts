import { z } from 'zod'
import { count, when } from './values.js'

const some = z.array(z.string()).nullable()

export const webhook = z.object({
  id: z.string(),
  url: z.string(),
  description: z.string().nullable(),
  types: some,
  queues: some,
  kinds: some,
  reasons: some,
  digest_ms: count.nullable(),
  digest_events: count,
  state: z.enum(['active', 'paused']),
  state_reason: z.string().nullable(),
  position: z.string(),
  failures: count,
  last_error: z.string().nullable(),
  pending: count,
  dead: count,
  secrets: z.array(z.object({ ending: z.string(), until: when.nullable() })),
  created_by: z.string(),
  created_at: when,
  updated_at: when,
})

export const delivery = z
  .object({
    id: z.string(),
    webhook_id: z.string(),
    message_id: z.string(),
    type: z.enum(['event', 'digest', 'test']),
    state: z.enum(['pending', 'delivered', 'dead']),
    attempts: count,
    next_at: when.nullable(),
    last_status: count.nullable(),
    last_error: z.string().nullable(),
    created_at: when,
    ended_at: when.nullable(),
  })
  .meta({ id: 'Delivery' })
