import { z } from 'zod'
import { isMoment } from '../job/moment.js'
import { isStorable } from '../job/text.js'

/** Schemas of what callers send. Unknown keys are refused everywhere; nothing sent is ever ignored. */

/** A text that a store can keep. */
export function text(max = 255): z.ZodString {
  return z
    .string()
    .min(1)
    .max(max)
    .refine((it) => isStorable(it), { error: 'holds U+0000 or half a surrogate pair' })
}

/** A queue, kind, tag or key. */
export const name = text()
export const jobId = z.string().regex(/^\d{1,19}$/, { error: 'an id is a decimal number, as a text' })
/** A moment, as ISO text with its offset. */
export const time = z.iso
  .datetime({ offset: true, error: 'a time as 2030-01-31T12:00:00Z is accepted' })
  .refine((it) => isMoment(new Date(it)), { error: 'a time of the years 1 to 9999 is accepted' })
  .transform((it) => new Date(it))
export const DURATION = /^(\d{1,15}(\.\d{1,15})?(ms|[smhd]))+$/
/** Milliseconds, or a text such as `5m`. */
export const duration = z.union([z.number().int().min(0), z.string().regex(DURATION)])
export const reason = text(2_000).describe('Why; kept in the audit log, and with the job where it has a place for it')
const flag = z.enum(['true', 'false']).transform((it) => it === 'true')

export const because = z.strictObject({ reason: reason.optional() })

/** `limit` and `cursor` of every list. */
export const paging = {
  limit: z.coerce.number().int().min(1).max(1_000).optional().describe('Rows of a page; default 50'),
  cursor: text(1_000).optional().describe('The `cursor` of the page before'),
}

export const includePayload = z.strictObject({
  include_payload: flag.optional().describe('Needs the right `payload:read`; noted in the audit log'),
})

export const onConflict = z
  .enum(['fail', 'skip', 'replace'])
  .describe('What happens when a live or held job has the unique key')
const budget = z
  .union([z.enum(['fresh', 'keep']), z.strictObject({ extra: z.number().int().min(1).max(32_767) })])
  .describe('Attempts after the retry: all again, those left (at least one), or so many more')

/** What an action changes about each job. */
const overrideFields = {
  queue: name.optional(),
  priority: z.number().int().min(0).max(100).optional(),
  run_at: time.optional(),
  delay: duration.optional(),
  max_attempts: z.number().int().min(1).max(32_767).optional(),
  deadline: time.optional(),
  payload: z.unknown().optional(),
}
const retryFields = {
  budget: budget.optional(),
  on_conflict: onConflict.optional(),
  force: z.boolean().optional().describe("Past the queue's cap on generations"),
}

export const cloneBody = z.strictObject({ ...overrideFields, reason: reason.optional() })
export const retryBody = z.strictObject({ ...overrideFields, ...retryFields, reason: reason.optional() })

const ids = z
  .array(z.union([z.string().min(1).max(100), z.number().int().min(0)]).transform(String))
  .min(1)
  .max(100_000)

/** Which jobs bulk work is about; one of its filters, ids or `all` has to be named. */
export const selector = z
  .strictObject({
    kind: name.optional(),
    queue: name.optional(),
    queues: z.array(name).min(1).max(100).optional().describe('Any of these; narrows only'),
    tag: name.optional(),
    reason: name.optional().describe('The dlq reason'),
    dlq_reason: name.optional().describe('The same as `reason`'),
    cause: name.optional(),
    error: text(500).optional().describe('Text in the error message; narrows only'),
    ids: ids.optional(),
    since: time.optional().describe('Died at or after'),
    until: time.optional().describe('Died before'),
    state: name.optional().describe('Narrows only: `archived`, of a move `failed`'),
    all: z.boolean().optional(),
    allow_all: z.boolean().optional().describe('The same as `all`'),
  })
  .meta({ id: 'Selector' })

const paceFields = {
  dry_run: z.boolean().optional().describe('Count, sample and list refusals; nothing moves'),
  rate: z.number().positive().max(1_000_000).optional().describe('Rows a second'),
  preview: jobId.optional().describe('Id of a dry run: exactly the rows it saw; then without a selector'),
}
const retryPaceFields = {
  max_waiting: z.number().int().min(0).max(2_147_483_647).optional().describe('Default 5000; 0 is no limit'),
  canary: z.number().int().min(1).max(2_147_483_647).optional().describe('So many go first'),
  abort_above: z.number().min(0).max(1).optional().describe('Share of canaries that may fail; default 0'),
  hold: duration.optional().describe('How long canaries may take; default 5m'),
}
const scope = { selector: selector.optional(), ids: ids.optional() }

/** `POST /dlq/bulk-…` */
export const bulkBody = z.strictObject({ ...scope, ...paceFields, reason: reason.optional() })
export const bulkRetryBody = z.strictObject({
  ...scope,
  ...paceFields,
  ...retryPaceFields,
  ...retryFields,
  overrides: z.strictObject(overrideFields).optional(),
  reason: reason.optional(),
})

/** `POST /jobs/bulk` */
export const jobsBulkBody = bulkRetryBody.extend({ action: z.enum(['retry', 'discard', 'move', 'purge']) })

/** `POST /jobs/actions` */
export const actionsBody = z.strictObject({
  action: z.enum(['retry', 'discard', 'move', 'cancel', 'kill', 'promote', 'release', 'purge']),
  ids: ids.max(1_000, { error: 'at most 1000 ids are acted on at once; POST /jobs/bulk takes more' }),
  ...retryFields,
  overrides: z.strictObject(overrideFields).optional(),
  reason: reason.optional(),
})

const kept = duration.nullable().optional()
const retention = z
  .strictObject({ completed: kept, failed: kept, cancelled: kept, dlq: kept, bin: kept, held: kept, archive: kept })
  .optional()
  .describe('How long what ended is kept, by how it ended; null is for good')

export const enqueueBody = z.strictObject({
  kind: name,
  payload: z.unknown().optional().describe('Any JSON; default {}'),
  version: z.number().int().min(1).max(32_767).optional().describe("Version of the payload's shape; default 1"),
  queue: name.optional(),
  priority: z.number().int().min(0).max(100).optional().describe('Lower runs first; default 50'),
  run_at: time.optional(),
  delay: duration.optional(),
  deadline: time.optional(),
  timeout: duration.nullable().optional(),
  max_attempts: z.number().int().min(1).max(32_767).optional(),
  tags: z.array(name).max(100).optional(),
  metadata: z.unknown().optional(),
  retention,
  on_quarantine: z
    .enum(['refuse', 'park'])
    .optional()
    .describe('While jobs of this kind and payload are quarantined; default refuse'),
  unique: z.union([name, z.strictObject({ key: name, on_conflict: onConflict.optional() })]).optional(),
})

/** What `PATCH /queues/{q}` takes; what is not named stays. */
export const policyBody = z.strictObject({
  dlq_enabled: z.boolean().optional(),
  retention,
  retention_ms: z.number().int().min(0).nullable().optional().describe('Of completed, failed and cancelled jobs'),
  dlq_retention: kept,
  dlq_max_rows: z.number().int().min(1).nullable().optional(),
  keep_unreviewed: z.boolean().optional(),
  cold_archive: z.boolean().optional(),
  max_generations: z.number().int().min(1).max(2_147_483_647).optional(),
  crash_limit: z.number().int().min(1).max(2_147_483_647).optional(),
  crash_window_ms: duration.optional(),
  no_handler_after_ms: duration.optional(),
  reason: reason.optional(),
})
