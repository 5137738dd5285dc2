import { z } from 'zod'
import { triage } from './triage.js'
import { count, when } from './values.js'

export const depth = z
  .object({
    total: count,
    queues: z.array(z.object({ queue: z.string(), depth: count, oldest_at: when.nullable() })),
  })
  .meta({ id: 'Depth' })

export const group = z
  .object({
    queue: z.string(),
    cause: z.string(),
    kind: z.string(),
    reason: z.string(),
    error_class: z.string().nullable(),
    title: z.string().nullable(),
    count,
    first_at: when,
    last_at: when,
    sample_id: z.string().nullable(),
    trend: z.array(count).describe('Arrivals in each of the last 24 hours, the current one last'),
    status: z.enum(['new', 'acknowledged', 'muted', 'resolved', 'regressed']),
    triage: triage.nullable(),
    regressed_at: when.nullable().describe('When it failed again after it was resolved'),
    unreviewed: count.describe('Dead letters that nobody has looked at; at most 2000 later deaths are counted'),
  })
  .meta({ id: 'DlqGroup' })

const reasons = z.record(z.string(), z.number().int())

export const flow = z.object({
  items: z.array(
    z.object({
      at: when,
      arrived: z.number().int(),
      departed: z.number().int(),
      arrived_by: reasons,
      departed_by: reasons,
    }),
  ),
})

export const imported = z
  .object({
    imported: count,
    refused: z.array(z.object({ line: count, imported: z.literal(false), code: z.string(), message: z.string() })),
  })
  .meta({ id: 'Imported' })
