import { z } from 'zod'
import { count, when } from './values.js'

const selectorShown = z.object({
  kind: z.string().optional(),
  queue: z.string().optional(),
  queues: z.array(z.string()).optional(),
  tag: z.string().optional(),
  reason: z.string().optional(),
  cause: z.string().optional(),
  error: z.string().optional(),
  ids: z.array(z.string()).optional(),
  since: z.string().optional(),
  until: z.string().optional(),
  state: z.string().optional(),
  all: z.boolean().optional(),
})

const preview = z.object({
  looked_at: count,
  samples: z.array(
    z.object({
      id: z.string(),
      kind: z.string(),
      queue: z.string(),
      died_at: when,
      cause: z.string().nullable(),
      error_class: z.string().nullable(),
      error_message: z.string().nullable(),
    }),
  ),
  causes: z.array(z.object({ cause: z.string().nullable(), title: z.string().nullable(), count })),
  would_refuse: z.array(z.object({ code: z.string(), count })),
})

export const operation = z
  .object({
    id: z.string(),
    action: z.enum(['retry', 'discard', 'purge', 'move', 'undo']),
    selector: selectorShown,
    dry_run: z.boolean(),
    state: z.enum(['running', 'paused', 'done', 'cancelled', 'failed']),
    state_reason: z.string().nullable(),
    phase: z.string(),
    matched: count,
    succeeded: count,
    skipped: count,
    failed: count,
    vanished: count.describe('Of the skipped: rows that others moved between counting and moving'),
    newer_left_alone: count,
    rate: z.number().nullable(),
    max_waiting: count,
    canary: count.nullable(),
    preview: preview.nullable(),
    undo_of: z.string().nullable(),
    undone_by: z.string().nullable(),
    created_by: z.string(),
    reason: z.string().nullable(),
    created_at: when,
    started_at: when.nullable(),
    finished_at: when.nullable(),
  })
  .meta({ id: 'Operation' })

export const operationRow = z
  .object({
    id: z.string(),
    outcome: z.enum(['skipped', 'failed', 'pending']),
    code: z.string(),
    message: z.string(),
  })
  .meta({ id: 'OperationRow' })

export const results = z
  .object({
    succeeded: z.array(z.string()),
    failed: z.array(z.object({ id: z.string(), code: z.string(), message: z.string() })),
    operation: operation.optional().describe('Already done; of a retry or discard, to undo it by'),
  })
  .meta({ id: 'Results' })
