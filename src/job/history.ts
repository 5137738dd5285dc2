import {
  droppedEntry,
  isStoredEntry,
  KEPT_FIRST,
  KEPT_NEWEST,
  MAX_HISTORY_BYTES,
  type StoredEntry,
  slimmed,
  withinBounds,
} from './history-bounds.js'
import { storableJson } from './text.js'
import type { ThrownCause } from './thrown.js'

/** What every entry says: when, of which run, and by whom. */
interface EntryBase {
  readonly at: Date
  /** When the attempt it is about was claimed; null for what was not an attempt. */
  readonly startedAt: Date | null
  readonly generation: number
  /** Returned failures before it. */
  readonly attempt: number
  readonly leaseId: string | null
  /** The worker that ran it, or null. */
  readonly worker: string | null
}

/** What went wrong, as `describeThrown` records it, and a remark of the runtime (a backoff that was clamped). */
export interface Failure {
  readonly name: string
  readonly message: string
  readonly stack: string | null
  readonly code: string | null
  readonly cause: readonly ThrownCause[]
  readonly truncated: boolean
  readonly originalLength?: number
  readonly note?: string
  /** Of `callback_failed`: which callback. */
  readonly callback?: string
}

/** Who did it, and why; both as the operator gave them. */
interface ByOperator {
  readonly by: string | null
  readonly why: string | null
}

/** An attempt that failed, or something that failed in its place. */
export type FailureEntry = EntryBase &
  Failure & { readonly type: 'error' | 'timeout' | 'deadline' | 'callback_failed' | 'death_tx_failed' }

/** One thing that happened to a job. Stored as JSON with snake_case keys, shown with camelCase ones. */
export type HistoryEntry =
  | FailureEntry
  | (EntryBase & { readonly type: 'crash' | 'disconnected'; readonly lastHeartbeatAt: Date | null })
  | (EntryBase & { readonly type: 'skipped'; readonly code: string; readonly details?: unknown })
  | (EntryBase & { readonly type: 'undecodable'; readonly path: string; readonly message: string })
  | (EntryBase & { readonly type: 'no_handler'; readonly message: string })
  | (EntryBase & { readonly type: 'handed_back'; readonly handbacks: number })
  | (EntryBase & ByOperator & { readonly type: 'moved' | 'killed' | 'cancelled'; readonly reason: string | null })
  | (EntryBase & ByOperator & RetriedPart & { readonly type: 'retried' })
  | (EntryBase &
      ByOperator & { readonly type: 'edited'; readonly changed: readonly string[]; readonly version?: number })
  | (EntryBase &
      ByOperator & { readonly type: 'released'; readonly releaseId: string | null; readonly forced?: boolean })
  | (EntryBase & ByOperator & { readonly type: 'restored' | 'imported' | 'undone'; readonly operation: string | null })
  | (EntryBase & { readonly type: 'dropped'; readonly count: number })

/** What a retry takes off the dead row, kept here. */
interface RetriedPart {
  readonly operation: string | null
  readonly reason: string | null
  readonly dlqAt: Date | null
  readonly originalRunLease: number
  readonly progress?: unknown
  /** `run_lease` the retry gave the job; as long as it has it, it was not claimed since. */
  readonly runLease?: number
  /** What the retry changed, as it was: what an undo restores. snake_case, as stored. */
  readonly before?: Readonly<Record<string, unknown>>
}

export type HistoryType = HistoryEntry['type']

const MAX_ENTRY_BYTES = 64 * 1024
/** Below so many characters a text cannot have more than the whole's bytes, whatever it holds. */
const SAFE_CHARS = Math.floor(MAX_HISTORY_BYTES / 3)

/**
 * The text of one entry as it is stored: at most 64 KiB, without U+0000 and lone surrogates. Never throws: details
 * or progress that cannot be written as JSON are left out, and it says so.
 */
export function entryJson(entry: HistoryEntry): string {
  const stored = toStored(entry)
  const text = tryJson(stored) ?? JSON.stringify(slimmed(stored))
  const clean = storableJson(text)
  if (clean.length * 3 <= MAX_ENTRY_BYTES || Buffer.byteLength(clean) <= MAX_ENTRY_BYTES) return clean
  return JSON.stringify(slimmed(JSON.parse(clean) as StoredEntry))
}

/**
 * `current` with `entry` at its end: the stored text of a history. The first 5 and the newest 45 stay, the rest is
 * counted; above 256 KiB the stacks between the first and the newest go first, then their messages are cut, then
 * they are counted too.
 *
 * Never throws, so that recording can never fail a transition: a `current` that is no history is replaced by a count
 * of one. While nothing has to go, `current` is not parsed.
 */
export function appendEntry(current: string | null, entry: HistoryEntry): string {
  const text = entryJson(entry)
  const body = current === null ? '' : current.trim()
  if (body === '' || body === '[]') return `[${text}]`

  const fits =
    body.length + text.length < SAFE_CHARS || Buffer.byteLength(body) + Buffer.byteLength(text) < MAX_HISTORY_BYTES
  if (fits && body.endsWith(']') && !hasMany(body)) return `${body.slice(0, -1)},${text}]`
  return JSON.stringify(withinBounds([...parseStored(body, entry), JSON.parse(text) as StoredEntry]))
}

/** A stored history as entries, oldest first; empty for null and for what is no history. */
export function parseHistory(text: string | null): HistoryEntry[] {
  if (text === null) return []
  try {
    const stored: unknown = JSON.parse(text)
    return Array.isArray(stored) ? stored.filter(isStoredEntry).map(fromStored) : []
  } catch {
    // Shown as empty rather than making the whole job unreadable; the stored text is untouched.
    return []
  }
}

/** The newest entry that says what went wrong, or undefined: what lists and causes are about. */
export function lastFailure(history: readonly HistoryEntry[]): FailureEntry | undefined {
  return history.findLast((entry): entry is FailureEntry => FAILURES.has(entry.type))
}

const FAILURES: ReadonlySet<HistoryType> = new Set(['error', 'timeout', 'deadline', 'callback_failed'] as const)

function toStored(entry: HistoryEntry): StoredEntry {
  const stored: StoredEntry = { type: entry.type }
  for (const [key, value] of Object.entries(entry)) {
    stored[snake(key)] = key.endsWith('At') || key === 'at' ? isoOf(value) : value
  }
  return stored
}

/** An entry of the types above; one written by a newer version comes as it is, with its keys in camelCase. */
function fromStored(stored: StoredEntry): HistoryEntry {
  const entry: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(stored)) {
    const isTime = key === 'at' || key.endsWith('_at')
    entry[camel(key)] = isTime && typeof value === 'string' ? new Date(value) : value
  }
  return entry as unknown as HistoryEntry
}

function tryJson(stored: StoredEntry): string | undefined {
  try {
    return JSON.stringify(stored)
  } catch {
    // Circular, a BigInt, or a toJSON that throws, in what a user gave: the caller leaves it out.
    return undefined
  }
}

function isoOf(value: unknown): unknown {
  return value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString() : null
}

/** The keys that differ, written out: replacing is what takes the time. */
const SNAKES: Readonly<Record<string, string>> = {
  startedAt: 'started_at',
  leaseId: 'lease_id',
  originalLength: 'original_length',
  lastHeartbeatAt: 'last_heartbeat_at',
  dlqAt: 'dlq_at',
  originalRunLease: 'original_run_lease',
  releaseId: 'release_id',
  runLease: 'run_lease',
}

function snake(key: string): string {
  return SNAKES[key] ?? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function camel(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/**
 * Whether there may be no room for one more. Each entry has one key `type`; inside a string its quotes would be
 * escaped, so the count is never too low. Too high only costs the parsing.
 */
function hasMany(body: string): boolean {
  let count = 0
  for (let at = body.indexOf('"type"'); at >= 0; at = body.indexOf('"type"', at + 6)) {
    if (++count >= KEPT_FIRST + KEPT_NEWEST) return true
  }
  return false
}

function parseStored(body: string, entry: HistoryEntry): StoredEntry[] {
  try {
    const stored: unknown = JSON.parse(body)
    if (Array.isArray(stored)) return stored.filter(isStoredEntry)
  } catch {
    // Falls through: what is no history is counted, not kept.
  }
  return [droppedEntry(toStored(entry), 1)]
}
