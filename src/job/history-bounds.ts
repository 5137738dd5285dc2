import { clipBytes } from './text.js'

/** Entries kept whole: the first and the newest. */
export const KEPT_FIRST = 5
export const KEPT_NEWEST = 45
export const MAX_HISTORY_BYTES = 256 * 1024

/** An entry as it is stored: snake_case keys, times as ISO text. */
export type StoredEntry = { type: string; count?: number; [key: string]: unknown }

/** Whether `value` can be an entry: one written by a newer version too. */
export function isStoredEntry(value: unknown): value is StoredEntry {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/**
 * The entries that may be stored: the first 5 and the newest 45, with those between counted in one `dropped`; above
 * 256 KiB the stacks between the first and the newest go first, then what is long in them, then they are counted too.
 */
export function withinBounds(entries: StoredEntry[]): StoredEntry[] {
  let kept = dropMiddle(entries, KEPT_NEWEST)
  const sizes = kept.map(bytesOf)
  let bytes = sizes.reduce((sum, size) => sum + size, 2)
  for (const slim of [withoutStack, slimmed]) {
    // Oldest of the middle first: the first entry and the newest say most.
    for (let i = 1; i < kept.length - 1 && bytes > MAX_HISTORY_BYTES; i++) {
      kept[i] = slim(kept[i]!)
      const size = bytesOf(kept[i]!)
      bytes += size - sizes[i]!
      sizes[i] = size
    }
  }
  for (let newest = KEPT_NEWEST - 1; newest > 0 && bytes > MAX_HISTORY_BYTES; newest--) {
    kept = dropMiddle(kept, newest)
    bytes = kept.reduce((sum, one) => sum + bytesOf(one), 2)
  }
  return kept
}

/** Leaves the first 5 and the `newest`, with one `dropped` between them that also counts an earlier one's count. */
function dropMiddle(entries: StoredEntry[], newest: number): StoredEntry[] {
  const real = entries.filter((entry) => entry.type !== 'dropped')
  const gone = real.slice(KEPT_FIRST, Math.max(KEPT_FIRST, real.length - newest))
  if (gone.length === 0) return entries

  const before = entries.filter((entry) => entry.type === 'dropped').reduce((sum, { count }) => sum + (count ?? 1), 0)
  const rest = real.slice(KEPT_FIRST + gone.length)
  return [...real.slice(0, KEPT_FIRST), droppedEntry(gone.at(-1)!, before + gone.length), ...rest]
}

/** Stands for `count` entries, of which `latest` was the last. */
export function droppedEntry(latest: StoredEntry, count: number): StoredEntry {
  const { at, generation, attempt } = latest
  return { type: 'dropped', at, started_at: null, generation, attempt, lease_id: null, worker: null, count }
}

/** With the comma behind it. */
function bytesOf(entry: StoredEntry): number {
  return Buffer.byteLength(JSON.stringify(entry)) + 1
}

function withoutStack(entry: StoredEntry): StoredEntry {
  if (!('stack' in entry)) return entry
  const cause = Array.isArray(entry.cause) ? entry.cause.map((one) => ({ ...one, stack: null })) : []
  return { ...entry, stack: null, cause, truncated: true }
}

/** What is left when an entry has to be small: everything short, and the beginnings of long texts. Never throws. */
export function slimmed(entry: StoredEntry): StoredEntry {
  const slim: StoredEntry = { ...entry, truncated: true }
  for (const [key, value] of Object.entries(slim)) {
    if (key === 'stack') slim.stack = null
    else if (key === 'cause') slim.cause = []
    else if (typeof value === 'string') slim[key] = clipBytes(value, 1024)
    else if (!isShortJson(value)) slim[key] = { spillway_omitted: 'too large, or no JSON' }
  }
  return slim
}

function isShortJson(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint'
  try {
    return JSON.stringify(value).length <= 1024
  } catch {
    // Circular, a BigInt inside, or a toJSON that throws.
    return false
  }
}
