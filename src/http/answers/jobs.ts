import { z } from 'zod'
import { count, json, state, when } from './values.js'

const historyEntry = z
  .looseObject({
    type: z.string(),
    at: when,
    started_at: when.nullable(),
    generation: count,
    attempt: count,
    lease_id: z.string().nullable(),
    worker: z.string().nullable(),
  })
  .meta({ id: 'HistoryEntry' })

const dlqPart = z.object({
  reason: z.string(),
  dlq_at: when,
  original_run_lease: count,
  cause: z.string(),
  error_class: z.string().nullable(),
  error_message: z.string().nullable(),
})

export const job = z
  .object({
    id: z.string(),
    state,
    queue: z.string(),
    kind: z.string(),
    version: count,
    priority: count,
    attempt: count,
    crash_attempt: count,
    max_attempts: count,
    run_lease: count,
    generation: count,
    handbacks: count,
    created_at: when,
    run_at: when,
    deadline: when.nullable(),
    timeout_ms: count.nullable(),
    unique_key: z.string().nullable(),
    tags: z.array(z.string()),
    metadata: json,
    payload: json.optional(),
    history: z.array(historyEntry).optional(),
    result: json.optional(),
    progress: json.optional(),
    origin_id: z.string().optional(),
    started_at: when.nullable(),
    finalized_at: when.nullable(),
    lease_id: z.string().nullable(),
    reason: z.string().nullable(),
    dlq: dlqPart.nullable(),
    blocked: z
      .object({ fingerprint: z.string(), since: when.nullable(), because: z.enum(['quarantined', 'suspected']) })
      .optional(),
    callback: z.object({ id: z.string(), name: z.string(), waits_until: when.nullable() }).optional(),
  })
  .meta({ id: 'Job' })

export const history = z.object({ items: z.array(historyEntry) })

export const counts = z.partialRecord(state, count)

export const why = z
  .object({
    id: z.string(),
    state,
    /** Where it is, in a sentence. */
    summary: z.string(),
    /** What keeps it there: codes for programs, sentences for people. */
    because: z.array(z.object({ code: z.string(), message: z.string() })),
    /** What would let it run. */
    would_run: z.array(z.string()),
    run_at: when.nullable(),
  })
  .meta({ id: 'Why' })

export const enqueued = z.object({
  id: z.string(),
  inserted: z.boolean(),
  parked: z.boolean().optional().describe('Held with the others of its fingerprint'),
})

export const acted = z
  .object({
    id: z.string(),
    state: z.union([state, z.literal('gone')]),
    changed: z.boolean(),
    operation: z.string().optional().describe('Already done; to undo it by'),
    warnings: z.array(z.string()).optional(),
  })
  .meta({ id: 'Acted' })

export const edited = acted.extend({
  version: count,
  checked: z.boolean().describe('Whether a published schema has checked it'),
})

export const cloned = acted.extend({ origin_id: z.string() })

export const payloads = z.object({
  items: z.array(
    z.object({
      version: count,
      payload: json,
      edited_at: when,
      edited_by: z.string(),
      reason: z.string().nullable(),
    }),
  ),
})
