import { checkMaxAttempts, checkPriority, checkTags, type EnqueueableJob, type JobSpec } from '../job/definition.js'
import { type Duration, parseDuration } from '../job/duration.js'
import { PayloadRefusedError, SpillwayError } from '../job/errors.js'
import { checkText, encodePayload } from '../job/payload.js'
import { checkRetention, type Retention } from '../job/policy.js'
import { validate } from '../job/validate.js'
import type { NewJob } from '../store/store.js'
import { toDeadline, toRunAt, type When } from './moment.js'

export type OnConflict = 'fail' | 'skip' | 'replace'

export interface UniqueKey {
  /** 1 to 255 characters. Only one live or held job of the store has it at a time. */
  readonly key: string
  /**
   * When another job has it: `skip` (default) answers that one's id and stores nothing, `fail` throws
   * `unique_conflict`, `replace` cancels that one, unless it is running: then as `fail`.
   */
  readonly onConflict?: OnConflict | undefined
}

/** What one job may set; where it does not, its definition decides, and then the defaults. */
export interface JobSettings extends When {
  readonly queue?: string | undefined
  /** 0…100, lower runs first. */
  readonly priority?: number | undefined
  /** Added to those of the definition. */
  readonly tags?: readonly string[] | undefined
  /** Anything JSON; comes with the job wherever it is shown. */
  readonly metadata?: unknown
  /** Until when it must have been done: a time, or a duration from now. Later it is dead-lettered unrun. */
  readonly deadline?: Date | Duration | undefined
  /** A text is a key with `onConflict: 'skip'`. */
  readonly unique?: string | UniqueKey | undefined
  /** Attempts that may fail before the job is given up. */
  readonly maxAttempts?: number | undefined
  /** Limit of one attempt; null is none. */
  readonly timeout?: Duration | null | undefined
  /** How long it is kept once it ended: ms or `'7d'`, 0 for none, null for good. */
  readonly retention?: { readonly [K in keyof Retention]?: Duration | null } | undefined
  /**
   * While jobs of this kind and payload are quarantined: `refuse` (default) throws `fingerprint_quarantined`, `park`
   * holds this one with the others until they are released.
   */
  readonly onQuarantine?: 'refuse' | 'park' | undefined
  /** Version of the payload's shape, for a kind given by its name. Default: 1. */
  readonly version?: number | undefined
}

/** A job ready for the store, and how many bytes of it a user can make long. */
export interface Prepared {
  readonly job: NewJob
  readonly bytes: number
}

/**
 * Checks and writes down one job as the store takes it. Answers at once unless the schema is asynchronous.
 *
 * What the schema is given is what is stored: a handler's own validation then turns it into the output, so that what
 * a schema changes (a date, a default) is changed once, where it is used.
 *
 * @param kind - A definition, or the name of a kind whose definition lives elsewhere.
 * @throws `payload_refused` with the path, `payload_too_large`, `invalid_option`.
 */
export function prepare<Input>(
  kind: EnqueueableJob<Input> | JobSpec | string,
  payload: Input,
  settings: JobSettings | undefined,
  maxBytes: number,
): Prepared | Promise<Prepared> {
  const spec = typeof kind === 'string' ? specOf(kind, settings?.version) : kind
  if (spec.schema === null) return written(spec, payload, settings, maxBytes)
  const validated = validate(spec.schema, payload)
  const next = (answer: Awaited<typeof validated>) => {
    if (!answer.ok)
      throw new PayloadRefusedError(answer.path, `is refused by the schema of ${spec.kind}: ${answer.message}`)
    return written(spec, payload, settings, maxBytes)
  }
  return validated instanceof Promise ? validated.then(next) : next(validated)
}

function written(spec: JobSpec, payload: unknown, settings: JobSettings | undefined, maxBytes: number): Prepared {
  const { text, bytes } = encodePayload(payload, { maxBytes, bigint: spec.bigint })
  if (settings === undefined) return { job: plainJob(spec, text), bytes }

  const { queue, priority, maxAttempts, timeout, deadline, unique, metadata } = settings
  const key = typeof unique === 'string' ? { key: unique } : unique
  const noted = metadata === undefined ? null : encodePayload(metadata, { maxBytes, what: 'metadata' })
  const job: NewJob = {
    queue: queue === undefined ? spec.queue : checkText('queue', queue),
    kind: spec.kind,
    version: spec.version,
    payload: text,
    priority: priority === undefined ? spec.priority : checkPriority(priority),
    maxAttempts: maxAttempts === undefined ? spec.maxAttempts : checkMaxAttempts(maxAttempts),
    runAt: toRunAt(settings),
    deadline: deadline === undefined ? null : toDeadline(deadline),
    timeoutMs: checkTimeout(
      timeout === undefined ? spec.timeoutMs : timeout === null ? null : parseDuration(timeout, 'timeout'),
    ),
    uniqueKey: key === undefined ? null : checkText('unique key', key.key),
    onConflict: key === undefined ? 'fail' : checkOnConflict(key.onConflict ?? 'skip'),
    ...(settings.onQuarantine === undefined ? {} : { onQuarantine: checkOnQuarantine(settings.onQuarantine) }),
    tags: tagsOf(spec, settings.tags),
    metadata: noted?.text ?? null,
    retention: retentionOf(spec, settings.retention),
  }
  return { job, bytes: bytes + (noted?.bytes ?? 0) }
}

/** The usual job, which sets nothing by itself. */
function plainJob(spec: JobSpec, payload: string): NewJob {
  return {
    queue: spec.queue,
    kind: spec.kind,
    version: spec.version,
    payload,
    priority: spec.priority,
    maxAttempts: spec.maxAttempts,
    runAt: null,
    deadline: null,
    timeoutMs: checkTimeout(spec.timeoutMs),
    uniqueKey: null,
    onConflict: 'fail',
    tags: spec.tags.length === 0 ? null : spec.tags,
    metadata: null,
    retention: spec.retention === null ? null : JSON.stringify(spec.retention),
  }
}

/** A kind known by its name only: the payload goes as it is, and integers of any size with it. */
function specOf(kind: string, version = 1): JobSpec {
  if (!Number.isInteger(version) || version < 1 || version > 32_767) {
    throw new SpillwayError(
      'invalid_option',
      `cannot use ${version} as version: a whole number from 1 to 32767 is accepted`,
    )
  }
  return {
    kind: checkText('kind', kind),
    aliases: [],
    schema: null,
    version,
    upcast: {},
    queue: 'default',
    maxAttempts: 20,
    timeoutMs: null,
    backoff: null,
    priority: 50,
    tags: [],
    retention: null,
    bigint: true,
    onDeathTx: null,
  }
}

/** What a timer of Node.js can wait: 24 days and a half. */
const LONGEST_TIMEOUT_MS = 2_147_483_647

function checkTimeout(ms: number | null): number | null {
  if (ms === null || ms <= LONGEST_TIMEOUT_MS) return ms
  throw new SpillwayError('invalid_option', `cannot use ${ms} ms as timeout: at most 24 days are accepted`)
}

export function checkOnConflict(value: OnConflict): OnConflict {
  if (value === 'fail' || value === 'skip' || value === 'replace') return value
  throw new SpillwayError(
    'invalid_option',
    `cannot use ${JSON.stringify(value)} as onConflict: fail, skip or replace is accepted`,
  )
}

function checkOnQuarantine(value: 'refuse' | 'park'): 'refuse' | 'park' {
  if (value === 'refuse' || value === 'park') return value
  throw new SpillwayError(
    'invalid_option',
    `cannot use ${JSON.stringify(value)} as onQuarantine: refuse or park is accepted`,
  )
}

function tagsOf(spec: JobSpec, tags: readonly string[] | undefined): readonly string[] | null {
  const all = tags === undefined ? spec.tags : checkTags(spec.tags.length === 0 ? tags : [...spec.tags, ...tags])
  return all.length === 0 ? null : all
}

function retentionOf(spec: JobSpec, retention: JobSettings['retention']): string | null {
  const all = retention === undefined ? spec.retention : { ...spec.retention, ...checkRetention(retention) }
  return all === null ? null : JSON.stringify(all)
}
