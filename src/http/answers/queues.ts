import { z } from 'zod'
import { counts } from './jobs.js'
import { count, when } from './values.js'

const keptFor = count.nullable()

export const queue = z
  .object({
    queue: z.string(),
    policy: z.object({
      dlq_enabled: z.boolean(),
      retention: z.object({
        completed: keptFor,
        failed: keptFor,
        cancelled: keptFor,
        dlq: keptFor,
        bin: keptFor,
        held: keptFor,
        archive: keptFor,
      }),
      dlq_max_rows: count.nullable(),
      keep_unreviewed: z.boolean(),
      cold_archive: z.boolean(),
      max_generations: count,
      crash_limit: count,
      crash_window_ms: count,
      no_handler_after_ms: count,
    }),
    paused_at: when.nullable(),
    paused_by: z.string().nullable(),
    paused_reason: z.string().nullable(),
    updated_at: when.nullable(),
    counts: counts.optional(),
    activity: z
      .object({
        oldest_at: when.nullable().describe('Since when the oldest available job can be claimed'),
        completed_per_minute: count.describe('In the last minute'),
      })
      .optional(),
  })
  .meta({ id: 'Queue' })

export const unservedKind = z.object({
  queue: z.string(),
  kind: z.string(),
  version: count,
  waited_ms: count,
  limit_ms: count,
})

export const removed = z.object({
  queue: z.string(),
  why: z
    .enum(['expired', 'evicted', 'pruned', 'not_kept', 'purged', 'revoked'])
    .describe('expired: its retention lapsed; evicted: above a cap; pruned: its month of the archive went'),
  reason: z.string().describe('The state it was in; of a dead letter why it had died'),
  count,
})
