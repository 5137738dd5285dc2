import { describe, expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import type { ImportedLine } from '../../src/client/import.js'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'

const PAYLOADS = [
  '{"id":9007199254740993,"n":1.10,"e":1E+2}',
  '"caf\\u00e9 \\/ \\ud83d\\ude00"',
  'null',
  '9007199254740993',
  '[ ]',
  '{\n  "pretty": true\r\n}',
  '{"a":1,"a":2}',
]

async function all(lines: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = []
  for await (const line of lines) found.push(line)
  return found
}

describeStore('exported dead letters', ({ store, given, db }) => {
  const client = new Client({ store, actor: 'ann' })
  const remove = (ids: readonly string[]) => client.dlq.purgeIds(ids)

  it.each(PAYLOADS)('come back with the payload %s to the last byte', async (payloadText) => {
    const metadata = { big: 'x', list: [1, { a: null }] }
    const own = { tags: ['b', 'a'], uniqueKey: 'k', priority: 7, timeoutMs: 5, version: 3, generation: 2, runLease: 4 }
    const times = { deadline: new Date('2031-01-01T00:00:00.123Z'), retention: { dlq: 86_400_000 } }
    const { id } = await given.job({ state: 'archived', metadata, progress: { at: 3 }, ...own, ...times })
    await db.run(sql<[payload: string], []>`update spillway.dlq_entries set payload = $1::json`, [payloadText])
    const before = (await store.getJob(id, { payload: true }))!
    const lines = await all(client.dlq.export())
    await remove([before.id])

    const report = await client.dlq.import(lines, { reason: 'moved here' })

    expect(report).toEqual({ imported: 1, refused: [] })
    const { history = [], ...after } = (await store.getJob(before.id, { payload: true }))!
    const stored = sql<[], string[]>`select payload, dlq_xid, retention from spillway.dlq_entries`
    expect(await db.run(stored, [])).toEqual([[payloadText, null, '{"dlq":86400000}']])
    expect({ ...after, history: history.slice(0, -1) }).toEqual(before)
    expect(history.at(-1)).toMatchObject({ type: 'imported', by: 'ann', why: 'moved here' })
    expect(await all(client.dlq.export({ tag: 'a' }))).toHaveLength(1)
    expect((await client.dlq.groups()).items.map(({ count }) => count)).toEqual([1])
  })

  it('are the same lines again, but for what says that they were imported', async () => {
    const ids = await given.jobs(120, { state: 'archived', tags: ['t'] })
    const before = await all(client.dlq.export())
    await remove(ids)

    await client.dlq.import(before)

    const after = await all(client.dlq.export())
    const withoutHistory = (line: string) => line.replace(/"history":\[.*\],"payload"/, '"history":[],"payload"')
    expect(before).toHaveLength(120)
    expect(after.map(withoutHistory)).toEqual(before.map(withoutHistory))
  })

  it('are those of the filter, under the names other documents use too', async () => {
    await given.job({ state: 'archived', queue: 'a', dlqReason: 'attempts_exhausted' })
    await given.job({ state: 'archived', queue: 'a', dlqReason: 'skipped' })
    await given.job({ state: 'archived', queue: 'b', dlqReason: 'attempts_exhausted' })

    const lines = await all(client.dlq.export({ queue: 'a', reason: 'max_attempts' }))

    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({ state: 'archived', queue: 'a', dlq_reason: 'attempts_exhausted' }),
    ])
    expect(() => client.dlq.export({ quue: 'a' } as object)).toThrow()
  })
})

describeStore('imported lines', ({ store, given, db }) => {
  const client = new Client({ store, actor: 'ann', maxPayloadBytes: 1_000 })
  const line = (over: object = {}) => JSON.stringify({ id: '7', kind: 'k', payload: { n: 1 }, ...over })

  it('need no more than a kind and a payload, and then get an id', async () => {
    const seen: ImportedLine[] = []

    const report = await client.dlq.import(['', '{"kind":"k","payload":[1]}', '  '], { onLine: (it) => seen.push(it) })

    expect(report.imported).toBe(1)
    expect(seen).toEqual([{ line: 2, imported: true, id: expect.stringMatching(/^\d+$/) }])
    const [first] = seen
    const id = first?.imported ? first.id : ''
    expect(await client.dlq.get(id)).toMatchObject({
      kind: 'k',
      queue: 'default',
      payload: [1],
      dlq: { reason: 'imported' },
    })
  })

  it.each([
    ['../../x', line({ id: '../../x' })],
    ['NUL', '{"id":"1\\u0000","kind":"k","payload":1}'],
    ['10,000 digits', line({ id: '9'.repeat(10_000) })],
    ['one beyond the range', line({ id: '4611686018427387904' })],
    ['a negative one', line({ id: -1 })],
    ['an empty one', line({ id: '' })],
    ['one with a zero before it', line({ id: '07' })],
  ])('with the id %s are refused by number', async (_, text) => {
    const report = await client.dlq.import([line({ id: '5' }), text])

    expect(report.imported).toBe(1)
    expect(report.refused).toEqual([
      { line: 2, imported: false, code: 'invalid_option', message: expect.stringMatching(/^line 2: cannot import id/) },
    ])
  })

  it.each([
    ['no JSON', '{', 'invalid_option'],
    ['a list', '[]', 'invalid_option'],
    ['no kind', '{"payload":1}', 'invalid_option'],
    ['no payload', '{"kind":"k"}', 'invalid_option'],
    ['an unknown field', line({ colour: 'red' }), 'invalid_option'],
    ['another state', line({ state: 'completed' }), 'invalid_option'],
    ['a priority out of range', line({ priority: 101 }), 'invalid_option'],
    ['a count that is no number', line({ attempt: '3' }), 'invalid_option'],
    ['a time that is none', line({ dlq_at: 'yesterday' }), 'invalid_option'],
    ['a history that is none', line({ history: [1] }), 'invalid_option'],
    ['NUL in the payload', '{"kind":"k","payload":{"a":"\\u0000"}}', 'payload_refused'],
    ['half a character in the payload', '{"kind":"k","payload":["\\ud800"]}', 'payload_refused'],
    ['a payload that is too large', line({ payload: 'x'.repeat(1_001) }), 'payload_too_large'],
    ['a text that is no JSON', line({ payload_text: '{' }), 'payload_refused'],
    ['too deep a payload', `{"kind":"k","payload":${'['.repeat(2_000)}${']'.repeat(2_000)}}`, 'payload_refused'],
  ])('with %s are refused alone', async (_, text, code) => {
    const report = await client.dlq.import([text, line({ id: '5' })])

    expect(report).toMatchObject({ imported: 1, refused: [{ line: 1, code }] })
    expect(await store.countJobs()).toMatchObject({ archived: 1 })
  })

  it.each(['available', 'running', 'completed', 'archived', 'discarded', 'quarantined'] as const)(
    'with the id of a job that is %s are refused, and leave it alone',
    async (state) => {
      const before = await given.job({ state })

      const report = await client.dlq.import([line({ id: before.id }), line({ id: '5000' }), line({ id: '5000' })])

      expect(report.imported).toBe(1)
      expect(report.refused.map(({ line, code }) => [line, code])).toEqual([
        [1, 'invalid_state'],
        [3, 'invalid_state'],
      ])
      expect(await store.getJob(before.id, { payload: true })).toEqual(before)
    },
  )

  it('with ids that were not given out yet keep others from getting them', async () => {
    const { id: last } = await client.enqueue('k', 1)
    const next = String(BigInt(last) + 1n)

    await client.dlq.import([line({ id: next })])

    const { id } = await client.enqueue('k', 1)
    expect(BigInt(id)).toBeGreaterThan(BigInt(next))
  })

  it('are accounted for, batch by batch', async () => {
    const lines = Array.from({ length: 250 }, (_, n) => line({ id: String(9_000_000 + n) }))

    const report = await client.dlq.import(lines, { reason: 'moved', requestId: 'r1' })

    expect(report.imported).toBe(250)
    const audit = sql<[], string[]>`
      select actor, action, reason, request_id, result::jsonb ->> 'imported' from spillway.audit_log order by id`
    expect(await db.run(audit, [])).toEqual([
      ['ann', 'import', 'moved', 'r1', '200'],
      ['ann', 'import', 'moved', 'r1', '50'],
    ])
    const [flow] = await client.dlq.history()
    expect(flow).toMatchObject({ arrived: 250, arrivedBy: { imported: 250 } })
  })

  it('can be retried like others', async () => {
    await client.dlq.import([line({ id: '5' })])

    expect(await client.dlq.retry('5')).toMatchObject({ state: 'available' })
  })
})

describe('an import', () => {
  it('of nothing asks for nothing', async () => {
    const none = new Client({ store: {} as never })

    expect(await none.dlq.import([])).toEqual({ imported: 0, refused: [] })
  })
})
