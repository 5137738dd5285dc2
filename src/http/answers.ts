import { z } from 'zod'
import { DUTIES, type DutyName } from '../job/duties.js'
import { RIGHTS, ROLES, type Role } from '../job/rights.js'
import { JOB_STATES, type JobState } from '../job/states.js'

/** Schemas of what the API answers: the same documents as the command line's `--json`. */

const when = z.iso.datetime()
const state = z.enum(JOB_STATES as [JobState, ...JobState[]])
const count = z.number().int().min(0)
/** Any JSON of a user's. */
const json = z.unknown()

/** How many rows there are in all. `estimate` says that the number is an upper bound and not counted exactly. */
export const total = z.object({ count, estimate: z.boolean() })

export function page<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item),
    cursor: z.string().nullable(),
    partial: z.boolean().optional().describe('The search stopped early; the cursor goes on'),
    total: total.optional(),
  })
}

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

export const depth = z
  .object({
    total: count,
    queues: z.array(z.object({ queue: z.string(), depth: count, oldest_at: when.nullable() })),
  })
  .meta({ id: 'Depth' })

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
  })
  .meta({ id: 'Queue' })

export const worker = z
  .object({
    registration: z.string(),
    name: z.string(),
    host: z.string(),
    pid: count,
    state: z.enum(['running', 'stopping']),
    queues: z.array(z.string()),
    kinds: z.array(z.string()),
    concurrency: count,
    running: count,
    started_at: when,
    heartbeat_at: when,
  })
  .meta({ id: 'Worker' })

export const auditEntry = z
  .object({
    id: z.string(),
    at: when,
    actor: z.string(),
    action: z.string(),
    target: json,
    reason: z.string().nullable(),
    result: json,
    request_id: z.string().nullable(),
  })
  .meta({ id: 'AuditEntry' })

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

/** Who asks. */
export const caller = z
  .object({
    authentication: z.enum(['none', 'required']),
    sessions: z.boolean().describe('Whether POST /session exchanges a token for a cookie'),
    read_only: z.boolean(),
    signed_in: z.boolean().describe('Whether the server knows who asks, or asks nobody'),
    actor: z.string().nullable(),
    role: z
      .enum(Object.keys(ROLES) as [Role, ...Role[]])
      .nullable()
      .describe('The role that has exactly these rights'),
    rights: z.array(z.enum(RIGHTS)),
    queues: z.array(z.string()).nullable().describe('The only ones the caller sees; null is all'),
    expires_at: when.nullable().describe('Of the session'),
  })
  .meta({ id: 'Caller' })

export const archivedJob = job
  .extend({ why: z.enum(['expired', 'evicted']), archived_at: when, keep_until: when.nullable() })
  .meta({ id: 'ArchivedJob' })
export const archiveMonth = z.object({
  month: z.string(),
  rows: count,
  keep_until: when.nullable(),
  is_prunable: z.boolean(),
})

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

export const unservedKind = z.object({
  queue: z.string(),
  kind: z.string(),
  version: count,
  waited_ms: count,
  limit_ms: count,
})

export const maskedPath = z.object({ path: z.string(), created_at: when, created_by: z.string() })

export const answered = z.object({
  callback_id: z.string(),
  name: z.string(),
  job_id: z.string(),
  job_state: z.union([state, z.literal('gone')]),
})
export const extended = answered.extend({ waits_until: when.nullable() })

export const event = z
  .object({
    id: z.string(),
    position: z.string(),
    at: when,
    type: z.string(),
    job_id: z.string(),
    queue: z.string(),
    kind: z.string(),
    generation: count,
    reason: z.string().nullable(),
    cause: z.string().nullable(),
    message: z.string().nullable(),
  })
  .meta({ id: 'Event' })

const some = z.array(z.string()).nullable()
export const webhook = z.object({
  id: z.string(),
  url: z.string(),
  description: z.string().nullable(),
  types: some,
  queues: some,
  kinds: some,
  reasons: some,
  digest_ms: count.nullable(),
  digest_events: count,
  state: z.enum(['active', 'paused']),
  state_reason: z.string().nullable(),
  position: z.string(),
  failures: count,
  last_error: z.string().nullable(),
  pending: count,
  dead: count,
  secrets: z.array(z.object({ ending: z.string(), until: when.nullable() })),
  created_by: z.string(),
  created_at: when,
  updated_at: when,
})

export const delivery = z
  .object({
    id: z.string(),
    webhook_id: z.string(),
    message_id: z.string(),
    type: z.enum(['event', 'digest', 'test']),
    state: z.enum(['pending', 'delivered', 'dead']),
    attempts: count,
    next_at: when.nullable(),
    last_status: count.nullable(),
    last_error: z.string().nullable(),
    created_at: when,
    ended_at: when.nullable(),
  })
  .meta({ id: 'Delivery' })

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

export const imported = z
  .object({
    imported: count,
    refused: z.array(z.object({ line: count, imported: z.literal(false), code: z.string(), message: z.string() })),
  })
  .meta({ id: 'Imported' })

/** RFC 9457. */
export const problem = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    code: z.string().describe('Stable; docs/reference/errors.md lists all'),
    detail: z.string(),
    instance: z.string().describe('Id of the request'),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem' })
