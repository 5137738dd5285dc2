import { SpillwayError, shown } from './errors.js'
import { isMoment } from './moment.js'
import { isJobState, type JobState } from './states.js'
import { isStorable } from './text.js'

/** Which jobs an action is about. What is named narrows; nothing named is refused, never everything. */
export interface Selector {
  readonly kind?: string
  readonly queue?: string
  /** Any of these; narrows only. */
  readonly queues?: readonly string[]
  readonly tag?: string
  readonly reason?: string
  readonly cause?: string
  /** Text in the error's message; narrows only. */
  readonly error?: string
  /** As given: one that is no number is answered as not found, alone. */
  readonly ids?: readonly string[]
  /** Died at or after. */
  readonly since?: Date
  /** Died before. */
  readonly until?: Date
  /** Narrows only. */
  readonly state?: JobState
  /** Everything in reach; beside a filter it widens nothing. */
  readonly all?: boolean
}

/** More are refused; name a filter instead. */
export const MAX_IDS = 100_000

/**
 * Reads a selector a person or program sent. camelCase and snake_case keys, `allow_all` for `all`, times as ISO text.
 *
 * @throws {@link SpillwayError} `selector_refused` for an empty one, one that has only `state` or `error`, empty
 *   `ids` or texts, values of the wrong type, and unknown keys. Nothing is ever ignored.
 */
export function checkSelector(input: unknown): Selector {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw refused('the selector', input, 'an object')
  const selector: Record<string, unknown> = {}
  for (const [given, value] of Object.entries(input)) {
    const key = ALIASES.get(given) ?? given
    const check = Object.hasOwn(CHECKS, key) ? CHECKS[key as keyof Selector] : undefined
    if (check === undefined)
      throw new SpillwayError(
        'selector_refused',
        `cannot select by ${JSON.stringify(given.slice(0, 60))}: it is unknown; known are ${Object.keys(CHECKS).join(', ')}`,
      )
    selector[key] = check(value, given)
  }

  if (!SUFFICIENT.some((key) => selector[key] !== undefined && selector[key] !== false)) {
    throw new SpillwayError(
      'selector_refused',
      `cannot select jobs: ${nothingNamed(Object.keys(selector))}; name one of ${SUFFICIENT.join(', ')} (all: true for everything)`,
    )
  }
  return selector as Selector
}

const ALIASES: ReadonlyMap<string, keyof Selector> = new Map([
  ['allow_all', 'all'],
  ['allowAll', 'all'],
  ['dlq_reason', 'reason'],
  ['dlqReason', 'reason'],
])

/** One of these must be named: `state` and `error` alone would select nearly everything. */
const SUFFICIENT = ['kind', 'queue', 'tag', 'reason', 'cause', 'ids', 'since', 'until', 'all'] as const

const CHECKS: { readonly [K in keyof Selector]-?: (value: unknown, key: string) => Selector[K] } = {
  kind: text,
  queue: text,
  queues: textList,
  tag: text,
  reason: text,
  cause: text,
  error: text,
  ids: idList,
  since: time,
  until: time,
  state,
  all: (value, key) => {
    if (typeof value !== 'boolean') throw refused(key, value, 'true')
    return value
  },
}

function text(value: unknown, key: string): string {
  if (typeof value !== 'string' || value.trim() === '') throw refused(key, value, 'a text that is not empty')
  if (!isStorable(value)) throw refused(key, value, 'a text without U+0000 and half surrogate pairs')
  return value
}

function textList(value: unknown, key: string): string[] {
  if (!Array.isArray(value) || value.length === 0) throw refused(key, value, 'a list of at least one text')
  return value.map((it: unknown) => text(it, key))
}

function idList(value: unknown, key: string): string[] {
  if (!Array.isArray(value) || value.length === 0) throw refused(key, value, 'a list of at least one id')
  if (value.length > MAX_IDS)
    throw new SpillwayError(
      'selector_refused',
      `cannot select ${value.length} ids: the limit is ${MAX_IDS}; name a filter instead`,
    )
  return value.map((id: unknown) => {
    if (typeof id === 'string' && id !== '') return id
    if (typeof id === 'number' && Number.isSafeInteger(id)) return String(id)
    throw refused(`an id in ${key}`, id, 'its decimal digits as a text')
  })
}

function time(value: unknown, key: string): Date {
  const date =
    value instanceof Date
      ? value
      : typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value)
        ? new Date(value)
        : undefined
  if (!isMoment(date)) throw refused(key, value, 'a time as 2030-01-31T12:00:00Z')
  return date
}

function state(value: unknown, key: string): JobState {
  if (typeof value !== 'string' || !isJobState(value)) throw refused(key, value, 'the name of a state')
  return value
}

function nothingNamed(keys: readonly string[]): string {
  return keys.length === 0 ? 'the selector is empty' : `it names only ${keys.join(' and ')}, which is not enough`
}

function refused(key: string, value: unknown, accepted: string): SpillwayError {
  return new SpillwayError(
    'selector_refused',
    `cannot select by ${key}: it is ${shown(value)}; ${accepted} is accepted`,
  )
}
