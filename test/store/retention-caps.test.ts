import { expect, it } from 'vitest'
import { retainDeadQueries } from '../../src/store/postgres/queries/retain-dead.js'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'
import { someoneWaits } from '../support/waits.js'

const DAY = 86_400_000
const act = { actor: 'ann' }
const ago = (ms: number) => new Date(Date.now() - ms)

describeStore('a cap on dead letters', ({ store, given, db, url, schema, clock, inTransaction }) => {
  const cap = (dlqMaxRows: number | null) => store.setQueue('q', { dlqMaxRows }, act)
  const dead = (minutes: number, more = {}) =>
    given.job({
      state: 'archived',
      queue: 'q',
      dlqAt: ago(minutes * 60_000),
      retainFrom: ago(minutes * 60_000),
      ...more,
    })
  const ids = async () => (await store.listDlq({ queue: 'q' }, { limit: 100 })).items.map(({ id }) => id)
  const warnings = async () => (await store.listAudit({ action: 'dlq_nearly_full' }, { limit: 100 })).items

  it('of one keeps one: the newest', async () => {
    await cap(1)
    const old = await dead(3, { tags: ['a'] })
    const older = await dead(4)
    const newest = await dead(2)

    const { evicted } = await store.retain(1_000, 'evict')

    expect(evicted).toBe(2)
    expect(await ids()).toEqual([newest.id])
    const events = await db.run(
      sql<[], string[]>`select job_id from spillway.event_outbox where type = 'evicted' order by job_id`,
      [],
    )
    expect(events.flat()).toEqual([old.id, older.id])
    const flow = await store.dlqHistory({ since: ago(DAY), by: 'hour' })
    expect(flow.map(({ departedBy }) => departedBy)).toEqual([{ evicted: 2 }])
    expect(
      await db.run(sql`select reason, sum(n) from spillway.counters where what = 'expired' group by 1`, []),
    ).toEqual([['evicted', '2']])
  })

  it('removes the oldest death first, of one moment the lowest id, and nothing of another queue', async () => {
    await cap(2)
    const moment = ago(60_000)
    const same = await given.jobs(3, { state: 'archived', queue: 'q', dlqAt: moment, retainFrom: moment })
    const other = await given.job({ state: 'archived', queue: 'z', dlqAt: ago(DAY), retainFrom: ago(DAY) })
    const old = await dead(5)

    await store.retain(1_000, 'evict')

    expect(await ids()).toEqual([same[2], same[1]])
    expect((await store.getJob(old.id))?.state).toBeUndefined()
    expect((await store.getJob(other.id))?.state).toBe('archived')
  })

  it('is kept by bounded passes, and changes nothing below it or without it', async () => {
    await cap(5)
    for (let n = 0; n < 8; n++) await dead(n + 1)

    const passes = []
    for (let n = 0; n < 3; n++) passes.push((await store.retain(2, 'evict')).evicted)
    await cap(null)
    await dead(9)
    passes.push((await store.retain(2, 'evict')).evicted)

    expect(passes).toEqual([2, 1, 0, 0])
    expect(await ids()).toHaveLength(6)
  })

  it('never removes more than it must when two do it at once', async () => {
    await cap(2)
    for (let n = 0; n < 5; n++) await dead(n + 1)
    const { evict } = retainDeadQueries(schema)

    const { first, second } = await inTransaction(async (tx) => {
      const [row] = await tx.run(evict, ['q', 1_000])
      const other = store.retain(1_000, 'evict')
      await someoneWaits(url)
      return { first: row?.[0], second: { ended: other } }
    })

    expect([first, (await second.ended).evicted]).toEqual(['3', 0])
    expect(await ids()).toHaveLength(2)
  })

  it('that is taken away between the look and the removal removes nothing', async () => {
    await dead(5)

    const answer = await db.run(retainDeadQueries(schema).evict, ['q', 1_000])

    expect(answer).toEqual([['0']])
    expect(await ids()).toHaveLength(1)
  })

  it('spares for a day what somebody has brought back', async () => {
    await cap(1)
    const brought = await given.job({ state: 'archived', queue: 'q', dlqAt: ago(9 * DAY), retainFrom: ago(60_000) })
    await dead(5)

    await store.retain(1_000, 'evict')
    const first = await ids()
    await clock.advance('2d')
    const newest = await dead(1)
    await store.retain(1_000, 'evict')

    expect(first).toEqual([brought.id])
    expect(await ids()).toEqual([newest.id])
  })

  it('says so in the audit log at 80 %, once a day, and again after it had been well below', async () => {
    await cap(10)
    for (let n = 0; n < 7; n++) await dead(n + 1)
    await store.retain(1_000, 'evict')
    const below = await warnings()
    const eighth = await dead(9)
    await store.retain(1_000, 'evict')
    await store.retain(1_000, 'evict')
    const once = await warnings()
    await store.actOnIds([eighth.id], { ...purge }, act)
    await store.retain(1_000, 'evict')
    await dead(10)
    await store.retain(1_000, 'evict')
    const again = await warnings()
    await clock.advance('25h')
    await store.retain(1_000, 'evict')

    expect(below).toEqual([])
    expect(once).toMatchObject([{ actor: 'maintenance', target: { queue: 'q' }, result: { depth: 8, max_rows: 10 } }])
    expect([again.length, (await warnings()).length]).toEqual([2, 3])
    expect(await store.cappedQueues()).toEqual([{ queue: 'q', depth: 8, maxRows: 10, isNearlyFull: true }])
  })

  it('comes before keeping what nobody has looked at', async () => {
    await store.setQueue('q', { dlqMaxRows: 1, keepUnreviewed: true }, act)
    await dead(5)
    const newest = await dead(1)

    await store.retain(1_000, 'evict')

    expect(await ids()).toEqual([newest.id])
  })

  const purge = {
    action: 'purge',
    selector: { all: true },
    dryRun: false,
    rate: null,
    maxWaiting: 0,
    canary: null,
    abortAbove: 0,
    holdMs: 1,
    preview: null,
  } as const
})

describeStore('without a cap', ({ store, given }) => {
  it('50,001 failures in an hour are all kept, and all reached', async () => {
    await given.jobs(50_001, { state: 'archived', queue: 'q', dlqAt: ago(30 * 60_000), retainFrom: ago(30 * 60_000) })
    await store.retain(1_000)

    const seen = new Set<string>()
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: Awaited<ReturnType<typeof store.listDlq>> = await store.listDlq(
        { queue: 'q' },
        { limit: 1_000, ...(cursor === undefined ? {} : { cursor }) },
      )
      for (const { id } of page.items) seen.add(id)
      cursor = page.cursor
    }

    expect(seen.size).toBe(50_001)
    expect((await store.dlqDepth('q')).total).toBe(50_001)
  })
})
