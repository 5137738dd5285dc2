import { describe, expect, it } from 'vitest'
import { appendEntry, entryJson, type FailureEntry, type HistoryEntry, lastFailure, parseHistory } from './history.js'
import { MAX_HISTORY_BYTES } from './history-bounds.js'
import { describeThrown } from './thrown.js'

const at = new Date('2030-01-01T00:00:00Z')
const base = { at, startedAt: at, generation: 0, attempt: 0, leaseId: '7:1', worker: 'w1' }

function failed(message: string, attempt = 0): FailureEntry {
  return { ...base, attempt, type: 'error', ...describeThrown(new Error(message)) }
}

function appended(entries: readonly HistoryEntry[], current: string | null = null): string {
  return entries.reduce(appendEntry, current) ?? ''
}

describe('an entry', () => {
  it('is stored with snake_case keys and read with camelCase ones', () => {
    const entry: HistoryEntry = { ...base, type: 'crash', lastHeartbeatAt: at }

    expect(JSON.parse(entryJson(entry))).toEqual({
      type: 'crash',
      at: '2030-01-01T00:00:00.000Z',
      started_at: '2030-01-01T00:00:00.000Z',
      generation: 0,
      attempt: 0,
      lease_id: '7:1',
      worker: 'w1',
      last_heartbeat_at: '2030-01-01T00:00:00.000Z',
    })
    expect(parseHistory(`[${entryJson(entry)}]`)).toEqual([entry])
  })

  it('keeps what a user gave as its keys were', () => {
    const entry: HistoryEntry = { ...base, type: 'skipped', code: 'gone', details: { userId: 1, last_seen_at: 'x' } }

    expect(parseHistory(appendEntry(null, entry))).toEqual([entry])
  })

  it.each([
    ['circular', circular()],
    ['a BigInt', { n: 1n }],
    ['a toJSON that throws', { toJSON: () => fail() }],
    ['too large', { text: 'x'.repeat(100_000) }],
  ])('leaves out details that are %s', (_, details) => {
    const [entry] = parseHistory(appendEntry(null, { ...base, type: 'skipped', code: 'gone', details }))

    expect(entry).toMatchObject({ type: 'skipped', code: 'gone', details: { spillway_omitted: expect.any(String) } })
  })

  it('shows U+0000 and half surrogate pairs in whatever a user gave, and leaves text that only spells them', () => {
    const details = { 'a\u0000': 'b\ud800', spelled: '\\u0000 \\ud800', emoji: '😀' }
    const text = entryJson({ ...base, type: 'skipped', code: 'c\u0000', details })

    expect(JSON.parse(text)).toMatchObject({
      code: 'c␀',
      details: { 'a␀': 'b\ufffd', spelled: '\\u0000 \\ud800', emoji: '😀' },
    })
  })
})

describe('appending', () => {
  it('keeps order', () => {
    const text = appended([failed('A'), failed('B', 1), { ...base, type: 'handed_back', handbacks: 1 }])

    expect(parseHistory(text).map((entry) => entry.type)).toEqual(['error', 'error', 'handed_back'])
  })

  it.each([null, '', '[]', ' [] '])('begins from %j', (current) => {
    expect(parseHistory(appended([failed('A')], current))).toHaveLength(1)
  })

  it.each(['{', '{}', '5', '[1,2', 'null'])('replaces %s, which is no history, by a count', (current) => {
    expect(parseHistory(appended([failed('A')], current))).toMatchObject([
      { type: 'dropped', count: 1 },
      { message: 'A' },
    ])
  })

  it('accepts a text that the store wrote with spaces', () => {
    const current = '[{"at": "2030-01-01T00:00:00Z", "type": "moved", "by": "ada"} , {"type": "crash"}]\n'

    expect(parseHistory(appended([failed('A')], current)).map(({ type }) => type)).toEqual(['moved', 'crash', 'error'])
  })

  it('keeps the first 5 and the newest 45, and counts the rest', () => {
    const text = appended(Array.from({ length: 137 }, (_, i) => failed(`e${i}`, i)))
    const entries = parseHistory(text)

    expect(entries).toHaveLength(51)
    expect(entries.map((entry) => ('message' in entry ? entry.message : entry.type))).toEqual([
      ...['e0', 'e1', 'e2', 'e3', 'e4', 'dropped'],
      ...Array.from({ length: 45 }, (_, i) => `e${92 + i}`),
    ])
    expect(entries[5]).toMatchObject({ type: 'dropped', count: 87, attempt: 91 })
  })

  it('counts entries that the store wrote too', () => {
    const current = JSON.stringify(
      Array.from({ length: 60 }, () => ({ at, type: 'moved', by: null, why: null })),
      null,
      1,
    )

    expect(parseHistory(appended([failed('A')], current))).toHaveLength(51)
  })

  it('stays within 256 KiB: stacks of the middle go first, the first and the newest stay whole', () => {
    const large = Array.from({ length: 25 }, (_, i) => {
      const error = new Error(`e${i} ${'m'.repeat(1_000_000)}`)
      error.stack = `Error\n${'    at f (file:///a.js:1:1)\n'.repeat(40_000)}`
      return { ...base, type: 'error' as const, ...describeThrown(error) }
    })
    const started = process.cpuUsage()
    const text = appended(large)
    const entries = parseHistory(text) as FailureEntry[]

    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_HISTORY_BYTES)
    expect(entries.map(({ message }) => message.slice(0, 3).trim())).toEqual(large.map((_, i) => `e${i}`))
    expect(entries[0]?.stack).toHaveLength(large[0]?.stack?.length ?? -1)
    expect(entries.at(-1)?.stack).toHaveLength(large[0]?.stack?.length ?? -1)
    expect(entries[1]).toMatchObject({ stack: null, truncated: true })
    expect(process.cpuUsage(started).user).toBeLessThan(2_000_000)
  })

  it('stays within 256 KiB where every entry is as large as one can be', () => {
    const details = { text: '\u{1f600}'.repeat(15_000) }
    const text = appended(
      Array.from({ length: 80 }, () => ({ ...base, type: 'skipped' as const, code: 'x'.repeat(255), details })),
    )

    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_HISTORY_BYTES)
    expect(parseHistory(text).at(-1)).toMatchObject({ details })
  })
})

describe('a history over 256 KiB', () => {
  it('leaves the newest failure whole even where every other stack has to go', () => {
    const error = Object.assign(new Error('m'.repeat(8000)), { stack: 'at f (file:///a.js:1:1)\n'.repeat(600) })
    const text = appended(
      Array.from({ length: 50 }, () => ({ ...base, type: 'error' as const, ...describeThrown(error) })),
    )
    const entries = parseHistory(text) as FailureEntry[]

    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_HISTORY_BYTES)
    expect(entries).toHaveLength(50)
    expect(entries[25]).toMatchObject({ stack: null })
    expect(entries.at(-1)).toMatchObject({ stack: error.stack, message: error.message, truncated: false })
  })

  it('counts entries of the middle where even their beginnings are too much', () => {
    const long = 'x'.repeat(20_000)
    const entry: HistoryEntry = { ...base, type: 'restored', by: long, why: long, operation: long }
    const text = appended(Array.from({ length: 50 }, () => entry))

    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_HISTORY_BYTES)
    expect(parseHistory(text)[5]).toMatchObject({ type: 'dropped' })
    expect(parseHistory(text).at(-1)).toEqual(entry)
  })
})

describe('reading', () => {
  it.each([null, '', '{', '5', '{}'])('%j is an empty history', (text) => {
    expect(parseHistory(text)).toEqual([])
  })

  it('finds the newest failure, across retries', () => {
    const retried: HistoryEntry = {
      ...base,
      type: 'retried',
      by: 'ada',
      why: null,
      operation: '9',
      reason: 'attempts_exhausted',
      dlqAt: at,
      originalRunLease: 3,
    }
    const history = parseHistory(appended([failed('A'), retried, failed('B'), retried]))

    expect(lastFailure(history)?.message).toBe('B')
    expect(lastFailure([retried])).toBeUndefined()
  })
})

function circular(): unknown {
  const self: Record<string, unknown> = {}
  self.self = self
  return self
}

function fail(): never {
  throw new Error('toJSON')
}
