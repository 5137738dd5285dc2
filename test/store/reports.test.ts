import { expect, it } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'

const act = { actor: 'ann', reason: 'a test', requestId: 'r1' }
const FRESH = { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false } as const
const page = { limit: 10 }

describeStore('dead letters by cause', ({ store, given, db, inTransaction }) => {
  it('say how many there are, since when, and one of them; the largest first', async () => {
    await given.jobs(2, {
      state: 'archived',
      queue: 'a',
      cause: 'c1',
      errorClass: 'TypeError',
      errorMessage: 'x is <n>',
    })
    await given.jobs(3, { state: 'archived', queue: 'b', kind: 'mail', cause: 'c2', dlqReason: 'skipped' })
    await given.jobs(1, { state: 'archived', queue: 'b', cause: 'c1' })

    const { items, cursor } = await store.dlqGroups({}, page)

    expect(items.map(({ queue, cause, count }) => [queue, cause, count])).toEqual([
      ['b', 'c2', 3],
      ['a', 'c1', 2],
      ['b', 'c1', 1],
    ])
    expect(items[0]).toMatchObject({ kind: 'mail', reason: 'skipped' })
    expect(items[1]).toMatchObject({ errorClass: 'TypeError', title: 'x is <n>', kind: 'test' })
    for (const { queue, cause, sampleId } of items) {
      expect(await store.getJob(sampleId!)).toMatchObject({ queue, dlq: { cause } })
    }
    expect(cursor).toBeNull()
  })

  it('of one queue, or one kind', async () => {
    await given.jobs(1, { state: 'archived', queue: 'a', kind: 'mail', cause: 'c1' })
    await given.jobs(1, { state: 'archived', queue: 'b', kind: 'mail', cause: 'c1' })
    await given.jobs(1, { state: 'archived', queue: 'b', kind: 'sms', cause: 'c2' })

    const groups = async (filter: object) =>
      (await store.dlqGroups(filter, page)).items.map(({ queue, cause }) => queue + cause)

    expect(await groups({ queue: 'b' })).toEqual(['bc1', 'bc2'])
    expect(await groups({ kind: 'mail' })).toEqual(['ac1', 'bc1'])
    expect(await groups({ queue: 'a', kind: 'sms' })).toEqual([])
  })

  it('go on where the page ended, among groups of one size too', async () => {
    for (const cause of ['c1', 'c2', 'c3', 'c4', 'c5']) await given.jobs(2, { state: 'archived', cause })

    const causes: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const next: Awaited<ReturnType<typeof store.dlqGroups>> = await store.dlqGroups(
        {},
        { limit: 2, ...(cursor ? { cursor } : {}) },
      )
      causes.push(...next.items.map(({ cause }) => cause))
      cursor = next.cursor
    }

    expect(causes).toEqual(['c1', 'c2', 'c3', 'c4', 'c5'])
  })

  it('count the same before and after folding, and leave out what has gone', async () => {
    const [id] = await given.jobs(2, { state: 'archived', cause: 'c1' })
    const { id: only } = await given.job({ state: 'archived', cause: 'c2' })
    await store.retryJob(only, FRESH, act)
    await store.retryJob(id!, FRESH, act)

    const before = await store.dlqGroups({}, page)
    await store.fold(100)
    const after = await store.dlqGroups({}, page)

    expect(before.items.map(({ cause, count }) => [cause, count])).toEqual([['c1', 1]])
    expect(after).toEqual(before)
    expect(before.items[0]?.sampleId).not.toBe(id)
  })

  it('say when the last one came, and how many in each hour, before and after folding', async () => {
    await given.jobs(3, { state: 'archived', cause: 'c1' })
    await inTransaction((tx) =>
      tx.execute(`update spillway.cause_deltas set at = now() - interval '2 hours';
                  update spillway.dlq_causes set first_at = now() - interval '5 hours', last_at = now() - interval '5 hours'`),
    )
    await store.fold(100)
    await given.jobs(2, { state: 'archived', cause: 'c1' })

    const before = (await store.dlqGroups({}, page)).items[0]!
    await store.fold(100)
    const after = (await store.dlqGroups({}, page)).items[0]!

    expect(before.trend).toHaveLength(24)
    expect(before.trend.slice(-3)).toEqual([3, 0, 2])
    expect(before.lastAt.getTime() - before.firstAt.getTime()).toBeGreaterThan(4.9 * 3_600_000)
    expect(after).toEqual(before)
  })

  it('forget hours of before yesterday', async () => {
    await given.jobs(1, { state: 'archived', cause: 'c1' })
    await store.fold(100)
    await inTransaction((tx) => tx.execute(`update spillway.cause_hours set hour = hour - interval '3 days'`))
    await given.jobs(1, { state: 'archived', cause: 'c1' })

    await store.fold(100)

    expect(await db.run(sql`select n from spillway.cause_hours`, [])).toEqual([['1']])
  })
})

describeStore('what came and left', ({ store, given, inTransaction }) => {
  it('is told by hour and by minute, with its reasons', async () => {
    const [killed, purged] = [await given.job({ queue: 'a' }), await given.job({ queue: 'a' })]
    const since = new Date(Date.now() - 3_600_000)
    await store.killJob(killed.id, act)
    await store.killJob(purged.id, { actor: 'ann' })
    await store.retryJob(killed.id, FRESH, act)
    await inTransaction((tx) => tx.execute(`update spillway.counters set minute = date_trunc('hour', now())`))

    const [hours, minutes, other] = [
      await store.dlqHistory({ since, by: 'hour' }),
      await store.dlqHistory({ queue: 'a', since, by: 'minute' }),
      await store.dlqHistory({ queue: 'b', since, by: 'hour' }),
    ]

    const at = expect.any(Date)
    const arrivedBy = { 'a test': 1, manual: 1 }
    expect(hours).toEqual([{ at, arrived: 2, departed: 1, arrivedBy, departedBy: { retried: 1 } }])
    expect(minutes).toEqual(hours)
    expect(other).toEqual([])
  })

  it('counts what retention took away', async () => {
    const dlqAt = new Date(Date.now() - 40 * 86_400_000)
    const { id } = await given.job({ state: 'archived', dlqAt, retainFrom: dlqAt })
    await store.editPayload(id, '2', act)

    await store.retain(100)

    const [flow] = await store.dlqHistory({ since: new Date(Date.now() - 3_600_000), by: 'hour' })
    expect(flow).toMatchObject({ arrived: 0, departed: 1, departedBy: { expired: 1 } })
    expect(await store.payloadVersions(id)).toEqual([])
  })
})

describeStore('the audit log', ({ store, given }) => {
  it('is listed newest first, page by page', async () => {
    const ids = [(await given.job()).id, (await given.job()).id, (await given.job()).id]
    for (const id of ids) await store.cancelJob(id, act)

    const first = await store.listAudit({}, { limit: 2 })
    const second = await store.listAudit({}, { limit: 2, cursor: first.cursor! })

    expect(first.items.map(({ target }) => target)).toEqual([{ id: ids[2] }, { id: ids[1] }])
    expect(second.items.map(({ target }) => target)).toEqual([{ id: ids[0] }])
    expect(second.cursor).toBeNull()
    expect(first.items[0]).toEqual({
      id: expect.any(String),
      at: expect.any(Date),
      actor: 'ann',
      action: 'cancel',
      target: { id: ids[2] },
      reason: 'a test',
      result: { from: 'available', state: 'cancelled' },
      requestId: 'r1',
    })
  })

  it('is narrowed by action, actor and time', async () => {
    const [a, b] = [await given.job(), await given.job()]
    await store.cancelJob(a.id, act)
    await store.killJob(b.id, { actor: 'bob' })

    const actions = async (filter: object) => (await store.listAudit(filter, page)).items.map(({ action }) => action)

    expect(await actions({ action: 'kill' })).toEqual(['kill'])
    expect(await actions({ actor: 'ann' })).toEqual(['cancel'])
    expect(await actions({ actor: 'ann', action: 'kill' })).toEqual([])
    expect(await actions({ since: new Date(Date.now() + 60_000) })).toEqual([])
    expect(await actions({ since: new Date(Date.now() - 60_000) })).toEqual(['kill', 'cancel'])
  })
})
