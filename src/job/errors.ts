import type { JobState } from './states.js'

/**
 * Every error this package throws on purpose. A code is public API: it may be added, never renamed. The HTTP server
 * reads `status`, the CLI reads `exit` (2 usage, 3 not found, 4 conflict or refused, 5 unreachable, else 1), and
 * docs/reference/errors.md is generated from here.
 */
export const ERRORS = {
  invalid_option: { status: 422, exit: 2 },
  selector_refused: { status: 422, exit: 2 },
  payload_refused: { status: 422, exit: 2 },
  payload_too_large: { status: 413, exit: 2 },
  unknown_kind: { status: 422, exit: 2 },
  not_found: { status: 404, exit: 3 },
  operation_not_found: { status: 404, exit: 3 },
  callback_not_found: { status: 404, exit: 3 },
  invalid_state: { status: 409, exit: 4 },
  job_moving: { status: 409, exit: 4 },
  lease_lost: { status: 409, exit: 4 },
  callback_settled: { status: 409, exit: 4 },
  callback_gone: { status: 410, exit: 4 },
  already_retried: { status: 409, exit: 4 },
  unique_conflict: { status: 409, exit: 4 },
  deadline_passed: { status: 409, exit: 4 },
  generation_cap: { status: 409, exit: 4 },
  fingerprint_quarantined: { status: 423, exit: 4 },
  undecodable: { status: 409, exit: 4 },
  not_checked: { status: 409, exit: 4 },
  not_undoable: { status: 409, exit: 4 },
  archive_kept: { status: 409, exit: 4 },
  idempotency_key_reused: { status: 422, exit: 4 },
  idempotency_in_progress: { status: 409, exit: 4 },
  idempotency_key_required: { status: 428, exit: 2 },
  route_not_found: { status: 404, exit: 3 },
  token_not_found: { status: 404, exit: 3 },
  method_not_allowed: { status: 405, exit: 2 },
  body_too_large: { status: 413, exit: 2 },
  unsupported_media_type: { status: 415, exit: 2 },
  unauthenticated: { status: 401, exit: 4 },
  forbidden: { status: 403, exit: 4 },
  read_only: { status: 403, exit: 4 },
  cross_origin: { status: 403, exit: 4 },
  rate_limited: { status: 429, exit: 4 },
  store_unavailable: { status: 503, exit: 5 },
  store_forbidden: { status: 503, exit: 1 },
  schema_newer: { status: 503, exit: 1 },
  schema_missing: { status: 503, exit: 1 },
  embedded_unavailable: { status: 503, exit: 5 },
  internal: { status: 500, exit: 1 },
} as const satisfies Record<string, { status: number; exit: number }>

export type ErrorCode = keyof typeof ERRORS

/**
 * The base of every error thrown on purpose. Test `error.code`, not `instanceof`: the code survives bundling,
 * duplicate installs and the wire. The message has three parts: what could not be done, the value that was in the
 * way, and what would be accepted or which command helps.
 */
export class SpillwayError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = new.target.name
  }
}

/** The job's present state does not accept the event (`invalid_state`). The job was left exactly as it was. */
export class InvalidStateError extends SpillwayError {
  constructor(
    readonly jobId: string,
    readonly state: JobState,
    readonly event: string,
    accepting: readonly JobState[],
  ) {
    const verb = event.replaceAll('_', ' ')
    const help =
      event === 'retry' && (state === 'completed' || state === 'cancelled') ? '; clone makes a new job of it' : ''
    super(
      'invalid_state',
      accepting.length === 0
        ? `cannot ${verb} job ${jobId}: it is ${state}, and only a job that does not exist yet can`
        : `cannot ${verb} job ${jobId}: it is ${state}, and only ${orList(accepting)} jobs can${help}`,
    )
  }
}

/** Another caller's retry of the same dead letter came first (`already_retried`). Nothing was done twice. */
export class AlreadyRetriedError extends SpillwayError {
  constructor(
    readonly jobId: string,
    readonly state: JobState,
  ) {
    super('already_retried', `cannot retry job ${jobId}: it was retried already and is ${state}; nothing is left to do`)
  }
}

/** A value cannot be stored as it is (`payload_refused`). Nothing was stored. */
export class PayloadRefusedError extends SpillwayError {
  /** @param path - Where the value lies, as `items[3].id`; empty for the whole value. */
  constructor(
    readonly path: string,
    problem: string,
    what = 'payload',
    options?: ErrorOptions,
  ) {
    super('payload_refused', `cannot store the ${what}: ${path === '' ? 'it' : `\`${path}\``} ${problem}`, options)
  }
}

/** A payload is larger than the limit (`payload_too_large`). Nothing was stored. */
export class PayloadTooLargeError extends SpillwayError {
  constructor(
    readonly bytes: number,
    readonly maxBytes: number,
    what = 'payload',
  ) {
    super(
      'payload_too_large',
      `cannot store the ${what}: it has at least ${bytes} bytes, and the limit is ${maxBytes}; store it elsewhere and send its address`,
    )
  }
}

/** A unique key is held by another live or held job (`unique_conflict`). */
export class UniqueConflictError extends SpillwayError {
  constructor(
    readonly uniqueKey: string,
    /** The job that holds the key. */
    readonly holderId: string,
  ) {
    super(
      'unique_conflict',
      `cannot take unique key ${JSON.stringify(uniqueKey)}: job ${holderId} holds it; choose on_conflict skip or replace, or end that job`,
    )
  }
}

/** Jobs with this kind and payload are quarantined (`fingerprint_quarantined`): they are suspected of killing workers. */
export class FingerprintQuarantinedError extends SpillwayError {
  constructor(
    readonly fingerprint: string,
    readonly kind: string,
  ) {
    super(
      'fingerprint_quarantined',
      `cannot accept this ${kind} job: fingerprint ${fingerprint} is quarantined because its jobs killed workers; \`spillway quarantine release ${fingerprint}\` lets it run`,
    )
  }
}

/** Whether `error` is one of ours, also across duplicate installs: it is told by its code. */
export function isSpillwayError(error: unknown): error is SpillwayError {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && Object.hasOwn(ERRORS, error.code)
  )
}

/** A value as messages show it: short, and never what a large or hostile one would print. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (Array.isArray(value)) return value.length === 0 ? '[]' : 'a list'
  if (typeof value === 'function' || (typeof value === 'object' && value !== null))
    return `a value of type ${typeof value}`
  return String(value)
}

function orList(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
