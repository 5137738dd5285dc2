import { causeOf, normaliseMessage } from '../job/cause.js'
import { checkMaxAttempts, checkPriority, checkTags } from '../job/definition.js'
import { SpillwayError, shown } from '../job/errors.js'
import { checkText, decodePayload, encodePayload } from '../job/payload.js'
import { checkRetention } from '../job/policy.js'
import { rawMembers } from '../job/raw-members.js'
import { isStorable, storableJson } from '../job/text.js'
import type { IncomingDeath } from '../store/store.js'

/** A job with its history and a payload at the limit, with room for what JSON escapes. */
const MAX_LINE_CHARS = 16 * 1024 * 1024
const MAX_HISTORY_BYTES = 256 * 1024
/** Ids above are kept free, so that one that comes from elsewhere cannot use up those that are given out here. */
const HIGHEST_ID = 2n ** 62n
const MAX_COUNT = 2_147_483_647

type Document = Readonly<Record<string, unknown>>

/**
 * Checks one line of an export and writes it down as the store takes it. Payload and metadata are taken as they are
 * written, to the last digit. What is left out has a default; `kind` and `payload` cannot be.
 *
 * @throws `invalid_option`, `payload_refused`, `payload_too_large`: what is wrong, with the name of the field.
 */
export function incomingDeath(line: string, maxBytes: number, now: Date): IncomingDeath {
  if (line.length > MAX_LINE_CHARS)
    throw refused('line', `it has ${line.length} characters`, `at most ${MAX_LINE_CHARS}`)
  const document = documentOf(line)
  for (const key of Object.keys(document)) {
    if (!KNOWN.has(key)) throw refused(JSON.stringify(key.slice(0, 60)), 'it is unknown', `${[...KNOWN].join(', ')}`)
  }
  if (document['state'] !== undefined && document['state'] !== 'archived') {
    throw refused('state', `it is ${shown(document['state'])}`, 'archived')
  }
  const raw = rawMembers(line)
  const text = (key: string) => jsonOf(key, document, raw)
  const payload = text('payload')
  if (payload === null) throw refused('payload', 'it is missing', 'anything JSON')

  const kind = checkText('kind', document['kind'])
  const reason = longText(document, 'dlq_reason', 1_000) ?? 'imported'
  const errorClass = longText(document, 'error_class', 500)
  const errorMessage = longText(document, 'error_message', 8_192)
  const own = causeOf({ kind, errorClass, message: errorMessage, stack: null, reason })
  const attempts = count(document, 'attempt', 0)
  const columns = {
    queue: document['queue'] === undefined ? 'default' : checkText('queue', document['queue']),
    kind,
    unique_key: optional(document, 'unique_key', (value) => checkText('unique_key', value)),
    dlq_reason: reason,
    cause: optional(document, 'cause', (value) => checkText('cause', value)) ?? own.cause,
    error_class: errorClass,
    error_message: errorMessage,
    lease_id: idOf('lease_id', document['lease_id']),
    origin_id: idOf('origin_id', document['origin_id']),
    schema_version: Math.max(1, count(document, 'schema_version', 1, 32_767)),
    priority: optional(document, 'priority', checkPriority) ?? 50,
    attempt: attempts,
    crash_attempt: count(document, 'crash_attempt', 0),
    max_attempts: optional(document, 'max_attempts', checkMaxAttempts) ?? Math.max(1, attempts),
    charge_base: count(document, 'charge_base', 0),
    run_lease: count(document, 'run_lease', 0),
    generation: count(document, 'generation', 0),
    handbacks: count(document, 'handbacks', 0, 32_767),
    timeout_ms: optional(document, 'timeout_ms', (value) => whole('timeout_ms', value, 1, MAX_COUNT)),
    original_run_lease: count(document, 'original_run_lease', 0),
    created_at: time(document, 'created_at') ?? now.toISOString(),
    run_at: time(document, 'run_at') ?? now.toISOString(),
    deadline: time(document, 'deadline'),
    started_at: time(document, 'started_at'),
    dlq_at: time(document, 'dlq_at') ?? now.toISOString(),
  }
  return {
    id: idOf('id', document['id']),
    columns,
    tags: optional(document, 'tags', checkTags),
    payload: checkedJson('payload', payload, maxBytes),
    metadata: checkedJson('metadata', text('metadata'), maxBytes),
    progress: checkedJson('progress', text('progress'), maxBytes),
    retention: retentionOf(document['retention']),
    history: historyOf(document['history'], raw.get('history')),
    title: document['cause'] === undefined ? own.title : titleOf(errorClass, errorMessage, reason),
  }
}

const KNOWN: ReadonlySet<string> = new Set([
  ...['state', 'id', 'queue', 'kind', 'unique_key', 'dlq_reason', 'cause', 'error_class', 'error_message', 'lease_id'],
  ...[
    'origin_id',
    'schema_version',
    'priority',
    'attempt',
    'crash_attempt',
    'max_attempts',
    'charge_base',
    'run_lease',
  ],
  ...['generation', 'handbacks', 'timeout_ms', 'original_run_lease', 'created_at', 'run_at', 'deadline', 'started_at'],
  ...['dlq_at', 'tags', 'metadata', 'metadata_text', 'retention', 'progress', 'history', 'payload', 'payload_text'],
])

function documentOf(line: string): Document {
  let document: unknown
  try {
    document = JSON.parse(line)
  } catch (error) {
    throw refused('line', `it is no JSON (${(error as Error).message.slice(0, 100)})`, 'one JSON document on each line')
  }
  if (typeof document === 'object' && document !== null && !Array.isArray(document)) return document as Document
  throw refused('line', 'it is no object', 'one JSON object on each line')
}

/** A member as it was stored: its exact text where that came along beside it. Null where there is none. */
function jsonOf(key: string, document: Document, raw: ReadonlyMap<string, string>): string | null {
  const exact = document[`${key}_text`]
  if (exact === undefined) return raw.get(key) ?? null
  if (typeof exact !== 'string') throw refused(`${key}_text`, `it is ${shown(exact)}`, 'JSON as text')
  return exact
}

/** Null stays null, but for a payload: there it is a value. */
function checkedJson(what: 'payload', text: string, maxBytes: number): string
function checkedJson(what: string, text: string | null, maxBytes: number): string | null
function checkedJson(what: string, text: string | null, maxBytes: number): string | null {
  if (text === null || (text === 'null' && what !== 'payload')) return null
  const decoded = decodePayload(text, { bigint: true })
  if (!decoded.ok) throw new SpillwayError('payload_refused', `cannot store the ${what}: ${decoded.message}`)
  encodePayload(decoded.value, { bigint: true, maxBytes: Math.max(maxBytes, Buffer.byteLength(text)), what })
  if (Buffer.byteLength(text) > maxBytes) encodePayload(text, { maxBytes, what })
  return text
}

function historyOf(entries: unknown, raw: string | undefined): string {
  if (entries === undefined || raw === undefined) return '[]'
  const isHistory =
    Array.isArray(entries) &&
    entries.every(
      (entry: unknown) =>
        typeof entry === 'object' && entry !== null && typeof (entry as Document)['type'] === 'string',
    )
  if (!isHistory) throw refused('history', 'it is no list of entries', 'a list of objects with a type')
  if (Buffer.byteLength(raw) > MAX_HISTORY_BYTES + 16_384 || entries.length > 51) {
    throw refused(
      'history',
      `it has ${entries.length} entries in ${Buffer.byteLength(raw)} bytes`,
      '51 entries in 256 KiB',
    )
  }
  return raw.includes('\\u') || !isStorable(raw) ? storableJson(JSON.stringify(entries)) : raw
}

function retentionOf(value: unknown): string | null {
  if (value === undefined || value === null) return null
  return JSON.stringify(checkRetention(value as Parameters<typeof checkRetention>[0]))
}

/** Decimal digits and nothing else: an id becomes part of addresses and of file names. */
function idOf(key: string, value: unknown): string | null {
  if (value === undefined || value === null) return null
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  if (typeof text === 'string' && /^[1-9]\d{0,18}$/.test(text) && (key === 'lease_id' || BigInt(text) < HIGHEST_ID))
    return text
  throw refused(key, `it is ${shown(value)}`, 'decimal digits below 2^62, as text')
}

function longText(document: Document, key: string, maxChars: number): string | null {
  return optional(document, key, (value) => {
    if (typeof value === 'string' && value !== '' && value.length <= maxChars && isStorable(value)) return value
    throw refused(key, `it is ${shown(value)}`, `text of 1 to ${maxChars} characters without U+0000`)
  })
}

/** With microseconds, which a Date would lose. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$/

function time(document: Document, key: string): string | null {
  return optional(document, key, (value) => {
    if (typeof value === 'string' && TIME.test(value) && Date.parse(value) >= Date.UTC(1900, 0, 1)) return value
    throw refused(key, `it is ${shown(value)}`, 'a time in UTC as 2030-01-31T12:00:00.000000Z')
  })
}

function count(document: Document, key: string, fallback: number, max = MAX_COUNT): number {
  return optional(document, key, (value) => whole(key, value, 0, max)) ?? fallback
}

function whole(key: string, value: unknown, min: number, max: number): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number
  throw refused(key, `it is ${shown(value)}`, `a whole number from ${min} to ${max}`)
}

function optional<T>(document: Document, key: string, check: (value: unknown) => T): T | null {
  const value = document[key]
  return value === undefined || value === null ? null : check(value)
}

function titleOf(errorClass: string | null, message: string | null, reason: string): string {
  return (
    [errorClass, message === null ? null : normaliseMessage(message)].filter(Boolean).join(': ').slice(0, 300) ||
    reason.slice(0, 300)
  )
}

function refused(what: string, problem: string, accepted: string): SpillwayError {
  return new SpillwayError('invalid_option', `cannot import ${what}: ${problem}; accepted: ${accepted}`)
}
