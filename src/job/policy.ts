import { type Duration, parseDuration } from './duration.js'
import { SpillwayError, shown } from './errors.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** How long jobs are kept after they ended, in ms. 0 keeps none; null keeps them for good. */
export interface Retention {
  readonly completed: number | null
  readonly failed: number | null
  readonly cancelled: number | null
  /** In the dead-letter queue. */
  readonly dlq: number | null
  /** Discarded, while they can be taken back. */
  readonly bin: number | null
  /** Quarantined and undecodable. */
  readonly held: number | null
  /** In the cold archive, counted from the moment a job went there. */
  readonly archive: number | null
}

/** What an operator sets per queue; kept in the database and followed by every process. */
export interface QueuePolicy {
  /** false: jobs that are given up become `failed` instead of `archived`. */
  readonly dlqEnabled: boolean
  readonly retention: Retention
  /** Most dead letters kept, reviewed or not; the oldest deaths go first. null: no limit. */
  readonly dlqMaxRows: number | null
  /** Dead letters nobody has acknowledged, noted, muted or resolved outlive their retention. */
  readonly keepUnreviewed: boolean
  /** Rows whose retention lapsed are copied to the cold archive. */
  readonly coldArchive: boolean
  /** Retries of one job before one needs `force`. */
  readonly maxGenerations: number
  /** Crashes of one fingerprint within {@link QueuePolicy.crashWindowMs} that convict it. */
  readonly crashLimit: number
  readonly crashWindowMs: number
  /** How long a job may wait while workers take its queue and none serves its kind. */
  readonly noHandlerAfterMs: number
}

export type QueuePolicyPatch = Partial<Omit<QueuePolicy, 'retention'>> & { readonly retention?: Partial<Retention> }

export const DEFAULT_POLICY: QueuePolicy = {
  dlqEnabled: true,
  retention: {
    completed: DAY,
    failed: 3 * DAY,
    cancelled: DAY,
    dlq: 30 * DAY,
    bin: 7 * DAY,
    held: null,
    archive: 365 * DAY,
  },
  dlqMaxRows: null,
  keepUnreviewed: false,
  coldArchive: false,
  maxGenerations: 10,
  crashLimit: 3,
  crashWindowMs: DAY,
  noHandlerAfterMs: HOUR,
}

/** `policy` with what `patch` names in its place. */
export function patchedPolicy(policy: QueuePolicy, patch: QueuePolicyPatch): QueuePolicy {
  return { ...policy, ...patch, retention: { ...policy.retention, ...patch.retention } }
}

/**
 * Which partitions of finished jobs a retention belongs to, so that a partition can be dropped whole: 0 up to a day,
 * 1 up to 7 days, 2 up to 30 days, 3 longer or for good.
 */
export function retentionClass(ms: number | null): 0 | 1 | 2 | 3 {
  if (ms === null || ms > 30 * DAY) return 3
  if (ms > 7 * DAY) return 2
  return ms > DAY ? 1 : 0
}

/**
 * A policy patch as an operator sends it: camelCase or snake_case keys, durations in ms or as `'30d'`, null for no
 * limit. `dlq_retention` stands for `retention.dlq`, `archive_retention` for `retention.archive`, `archive` for
 * `cold_archive`, and `retention_ms` for every end a job can have by itself: completed, failed, cancelled, dead.
 *
 * @throws {@link SpillwayError} `invalid_option` for an unknown key, a value out of range, or an empty patch.
 */
export function checkPolicyPatch(input: unknown): QueuePolicyPatch {
  const patch: Record<string, unknown> = {}
  let retention: Record<string, number | null> = {}
  for (const [given, value] of entriesOf(input, 'a policy')) {
    const key = camel(given)
    if (key === 'retention') retention = { ...retention, ...checkRetention(value) }
    else if (key.startsWith('retention.'))
      retention = { ...retention, ...checkRetention({ [key.slice('retention.'.length)]: value }) }
    else if (key === 'dlqRetention') retention.dlq = kept(value, given)
    else if (key === 'archiveRetention') retention.archive = kept(value, given)
    else if (key === 'archive') patch.coldArchive = flag(value, given)
    else if (key === 'retentionMs') {
      const ms = kept(value, given)
      // What is named by itself has the last word, wherever it stands.
      retention = { completed: ms, failed: ms, cancelled: ms, dlq: ms, ...retention }
    } else {
      const check = Object.hasOwn(CHECKS, key) ? CHECKS[key] : undefined
      if (check === undefined) throw unknownKey('a policy', given, [...Object.keys(CHECKS), 'retention'])
      patch[key] = check(value, given)
    }
  }

  const isEmpty = Object.keys(patch).length === 0 && Object.keys(retention).length === 0
  if (isEmpty)
    throw new SpillwayError('invalid_option', 'cannot set the policy: the patch is empty; name at least one setting')
  return Object.keys(retention).length === 0 ? patch : { ...patch, retention }
}

/**
 * Retention as a job or a queue sets it: a part of {@link Retention}.
 *
 * @throws {@link SpillwayError} `invalid_option` for an unknown key or a value that is neither a duration, 0 nor null.
 */
export function checkRetention(input: unknown): Partial<Retention> {
  const retention: Record<string, number | null> = {}
  for (const [key, value] of entriesOf(input, 'retention')) {
    if (!Object.hasOwn(DEFAULT_POLICY.retention, key))
      throw unknownKey('retention', key, Object.keys(DEFAULT_POLICY.retention))
    retention[key] = kept(value, `retention.${key}`)
  }
  return retention
}

type Check = (value: unknown, name: string) => boolean | number | null

const CHECKS: Readonly<Record<string, Check>> = {
  dlqEnabled: flag,
  dlqMaxRows: (value, name) => (value === null ? null : count(value, name)),
  keepUnreviewed: flag,
  coldArchive: flag,
  maxGenerations: count,
  crashLimit: count,
  crashWindowMs: (value, name) => parseDuration(value as Duration, name),
  noHandlerAfterMs: (value, name) => parseDuration(value as Duration, name),
}

function flag(value: unknown, name: string): boolean {
  if (typeof value === 'boolean') return value
  throw new SpillwayError('invalid_option', `cannot set ${name} to ${shown(value)}: true or false is accepted`)
}

function count(value: unknown, name: string): number {
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 2_147_483_647) return value as number
  throw new SpillwayError(
    'invalid_option',
    `cannot set ${name} to ${shown(value)}: a whole number of at least 1 is accepted`,
  )
}

function kept(value: unknown, name: string): number | null {
  return value === null || value === 0 ? value : parseDuration(value as Duration, name)
}

function entriesOf(input: unknown, name: string): [string, unknown][] {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return Object.entries(input)
  throw new SpillwayError('invalid_option', `cannot read ${name} from ${shown(input)}: an object is accepted`)
}

function unknownKey(name: string, key: string, known: readonly string[]): SpillwayError {
  return new SpillwayError(
    'invalid_option',
    `cannot set ${JSON.stringify(key)} in ${name}: it is unknown; known are ${known.join(', ')}`,
  )
}

function camel(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
