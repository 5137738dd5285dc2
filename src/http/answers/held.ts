import { z } from 'zod'
import { count, json, state, when } from './values.js'

export const quarantined = z.object({
  fingerprint: z.string(),
  kind: z.string(),
  queue: z.string(),
  held_at: when,
  convicted: z.boolean(),
  releasing: z.boolean(),
  canary_id: z.string().nullable(),
  held: count,
  crashes: count,
  last_crash_at: when.nullable(),
})

export const quarantinedDetail = quarantined.extend({
  crash_log: z.array(
    z.object({
      at: when,
      worker: z.string().nullable(),
      host: z.string().nullable(),
      job_id: z.string(),
      alone: z.boolean(),
      counted: z.boolean(),
      closed_by: z.string().nullable(),
    }),
  ),
  workers: z.array(z.string()),
  jobs: z.array(z.object({ id: z.string(), queue: z.string(), state, reason: z.string().nullable(), at: when })),
  blocked: count,
  blocked_is_partial: z.boolean(),
  payload: json.optional(),
})

export const released = z.object({
  release_id: z.string(),
  released: count,
  ids: z.array(z.string()).optional(),
})

const checked = { total: count, would_decode: count.nullable(), refused: count, unknown: count }

export const undecodableCheck = z.object({
  ...checked,
  groups: z.array(
    z.object({
      ...{ kind: z.string(), version: count },
      ...checked,
      samples: z.array(z.object({ id: z.string(), path: z.string(), message: z.string() })),
    }),
  ),
})

export const undecodableRelease = z.object({
  succeeded: z.array(z.string()),
  failed: z.array(z.object({ id: z.string(), code: z.string(), path: z.string().optional(), message: z.string() })),
})
