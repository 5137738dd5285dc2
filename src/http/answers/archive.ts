import { z } from 'zod'
import { job } from './jobs.js'
import { count, when } from './values.js'

export const archivedJob = job
  .extend({ why: z.enum(['expired', 'evicted']), archived_at: when, keep_until: when.nullable() })
  .meta({ id: 'ArchivedJob' })

export const archiveMonth = z.object({
  month: z.string(),
  rows: count,
  keep_until: when.nullable(),
  is_prunable: z.boolean(),
})
