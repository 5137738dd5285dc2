import { z } from 'zod'
import { when } from './values.js'

export const token = z
  .object({
    id: z.string(),
    name: z.string(),
    rights: z.array(z.string()),
    queues: z.array(z.string()).nullable(),
    created_at: when,
    created_by: z.string(),
    reason: z.string().nullable(),
    expires_at: when,
    revoked_at: when.nullable(),
    revoked_by: z.string().nullable(),
    last_used_at: when.nullable(),
  })
  .meta({ id: 'Token' })

export const maskedPath = z.object({ path: z.string(), created_at: when, created_by: z.string() })
