import { z } from 'zod'
import { count, when } from './values.js'

export const triage = z
  .object({
    acknowledged_at: when.nullable(),
    acknowledged_by: z.string().nullable(),
    note: z.string().nullable(),
    noted_at: when.nullable(),
    noted_by: z.string().nullable(),
    muted_until: when.nullable(),
    muted_at: when.nullable(),
    muted_by: z.string().nullable(),
    resolved_at: when.nullable(),
    resolved_by: z.string().nullable(),
    link: z.string().nullable(),
    regressed_at: when.nullable(),
  })
  .meta({ id: 'Triage' })

export const unreviewed = z.object({ queue: z.string(), unreviewed: count })

export const expiring = z.object({ queue: z.string(), count, first_at: when })

export const capped = z.object({ queue: z.string(), depth: count, max_rows: count, is_nearly_full: z.boolean() })
