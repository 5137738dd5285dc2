/** What users gave as JSON, and counts by names that are theirs or ours: their keys stay as they are. */
const VERBATIM: ReadonlySet<string> = new Set([
  ...['payload', 'metadata', 'result', 'progress', 'details', 'target', 'before'],
  ...['counts', 'arrived_by', 'departed_by'],
])
const TIME = /(^at|_at|_until|^deadline)$/

/** A document of the API as this package's own values: keys in camelCase, times as Dates. The way back of `toWire`. */
export function fromWire<T>(value: unknown): T {
  return read(value) as T
}

function read(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(read)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, it]: [string, unknown]) => {
    if (VERBATIM.has(key)) return [camel(key), it]
    return [camel(key), TIME.test(key) && typeof it === 'string' ? new Date(it) : read(it)]
  })
  return Object.fromEntries(entries) as unknown
}

function camel(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
