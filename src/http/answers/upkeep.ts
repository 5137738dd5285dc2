import { z } from 'zod'
import { DUTIES, type DutyName } from '../../job/duties.js'
import { count, when } from './values.js'

export const duty = z
  .object({
    duty: z.enum(Object.keys(DUTIES) as [DutyName, ...DutyName[]]),
    last_success_at: when.nullable().describe('To 10 minutes'),
    last_error: z.string().nullable(),
    last_error_at: when.nullable(),
    failures: count,
    paused_at: when.nullable(),
    paused_by: z.string().nullable(),
    paused_reason: z.string().nullable(),
  })
  .meta({ id: 'Duty' })

export const ring = z
  .object({
    ring: z.enum(['ready', 'leases']),
    head: count,
    rotated_at: when,
    rotate_rows: count,
    rotate_ms: count,
  })
  .meta({ id: 'Ring' })
