import { expect, it } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import { upkeep } from '../../src/store/postgres/upkeep.js'
import { describeStore } from '../support/store.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const ago = (ms: number) => new Date(Date.now() - ms)

describeStore('retention', ({ store, given, db, schema, clock, inTransaction }) => {
  const { retain } = upkeep(db, schema, { partitionsMs: 0 })
  const left = async (ids: readonly string[]) => {
    const found = await Promise.all(ids.map((id) => store.getJob(id)))
    return found.map((job) => job?.state ?? 'gone')
  }
  const setRetention = (retention: object) =>
    db.run(
      sql<[string], []>`
      insert into spillway.queues (queue, retention) values ('default', $1::jsonb)
      on conflict (queue) do update set retention = excluded.retention`,
      [JSON.stringify(retention)],
    )
  const partition = (days: number) =>
    db.run(sql<[string], []>`select spillway.ensure_terminal_partitions(d, d) from (select $1::date as d) as day`, [
      ago(days * DAY)
        .toISOString()
        .slice(0, 10),
    ])
  const expiredCounts = () =>
    db.run(
      sql<[], string[]>`
      select queue, kind, reason, sum(n) from spillway.counters where what = 'expired' group by 1, 2, 3 order by 3`,
      [],
    )

  it.each([
    ['completed', 25 * HOUR, 23 * HOUR],
    ['cancelled', 25 * HOUR, 23 * HOUR],
    ['failed', 73 * HOUR, 71 * HOUR],
  ] as const)('deletes a %s job after its default retention', async (state, old, young) => {
    for (const days of [1, 2, 3, 4]) await partition(days)
    const lapsed = await given.job({ state, finalizedAt: ago(old) })
    const kept = await given.job({ state, finalizedAt: ago(young) })

    const deleted = await retain(1_000)

    expect(deleted.terminal).toBe(1)
    expect(await left([lapsed.id, kept.id])).toEqual(['gone', state])
    expect(await expiredCounts()).toEqual([['default', 'test', state, '1']])
  })

  it('deletes a dead letter after 30 days, with its tags and its count', async () => {
    const old = { dlqAt: ago(31 * DAY), retainFrom: ago(31 * DAY) }
    const lapsed = await given.job({ state: 'archived', tags: ['a', 'b'], dlqReason: 'skipped', ...old })
    const kept = await given.job({ state: 'archived', dlqAt: ago(29 * DAY), retainFrom: ago(29 * DAY) })
    const restored = await given.job({ state: 'archived', dlqAt: ago(31 * DAY), retainFrom: ago(DAY) })

    const deleted = await retain(1_000)

    expect(deleted.dlq).toBe(1)
    expect(await left([lapsed.id, kept.id, restored.id])).toEqual(['gone', 'archived', 'archived'])
    expect(await db.run(sql`select id from spillway.dlq_tags`, [])).toEqual([])
    expect(await expiredCounts()).toEqual([['default', 'test', 'skipped', '1']])
  })

  it('deletes a discarded job after 7 days, and a held one only where its queue says so', async () => {
    const bin = await given.job({ state: 'discarded', discardedAt: ago(8 * DAY) })
    const young = await given.job({ state: 'discarded', discardedAt: ago(6 * DAY) })
    const held = await given.job({ state: 'quarantined', heldAt: ago(400 * DAY), uniqueKey: 'k' })

    await retain(1_000)
    const before = await left([bin.id, young.id, held.id])
    await setRetention({ held: 30 * DAY })
    await retain(1_000)

    expect(before).toEqual(['gone', 'discarded', 'quarantined'])
    expect(await left([held.id])).toEqual(['gone'])
    expect(await expiredCounts()).toEqual([
      ['default', 'test', 'discarded', '1'],
      ['default', 'test', 'quarantined', '1'],
    ])
  })

  it('follows the job before the queue, the queue before the default, and keeps what null keeps', async () => {
    for (const days of [0, 1, 2, 3]) await partition(days)
    await setRetention({ completed: 2 * HOUR, dlq: null })
    const done = (age: number, retention?: Record<string, number>) =>
      given.job({ state: 'completed', finalizedAt: ago(age), ...(retention && { retention }) })
    const ofQueue = await done(3 * HOUR)
    const longer = await done(3 * HOUR, { completed: 5 * HOUR })
    const shorter = await done(HOUR, { completed: HOUR / 2 })
    const young = await done(HOUR)
    const dead = await given.job({ state: 'archived', dlqAt: ago(999 * DAY), retainFrom: ago(999 * DAY) })
    const ownDead = await given.job({
      state: 'archived',
      dlqAt: ago(2 * DAY),
      retainFrom: ago(2 * DAY),
      retention: { dlq: DAY },
    })

    await retain(1_000)

    expect(await left([ofQueue, longer, shorter, young, dead, ownDead].map((job) => job.id))).toEqual([
      'gone',
      'completed',
      'gone',
      'completed',
      'archived',
      'gone',
    ])
  })

  it('deletes a bounded number, oldest first, and reaches those behind rows that are kept longer', async () => {
    for (const days of [0, 1, 2]) await partition(days)
    await given.jobs(25, { state: 'completed', finalizedAt: ago(40 * HOUR), retention: { completed: 100 * DAY } })
    await db.run(sql`update spillway.terminal_entries set retention_class = 0`, [])
    const first = await given.job({ state: 'completed', finalizedAt: ago(30 * HOUR) })
    const second = await given.job({ state: 'completed', finalizedAt: ago(28 * HOUR) })
    const third = await given.job({ state: 'completed', finalizedAt: ago(26 * HOUR) })

    const seen: string[][] = []
    for (let pass = 0; pass < 40 && seen.at(-1)?.[2] !== 'gone'; pass++) {
      await retain(1)
      seen.push(await left([first.id, second.id, third.id]))
    }

    const distinct = [...new Set(seen.map(String))]
    expect(distinct.filter((states) => states !== 'completed,completed,completed')).toEqual([
      'gone,completed,completed',
      'gone,gone,completed',
      'gone,gone,gone',
    ])
  })

  it('drops a partition whose every row has outlived its retention, and counts what was in it', async () => {
    await partition(40)
    await partition(5)
    const old = await given.jobs(3, { state: 'completed', finalizedAt: ago(40 * DAY) })
    await setRetention({ completed: 30 * DAY })
    const kept = await given.job({ state: 'completed', finalizedAt: ago(5 * DAY) })
    // It ended while the queue kept jobs for a day.
    await db.run(sql<[string], []>`update spillway.terminal_entries set retention_class = 0 where id = $1`, [kept.id])

    const deleted = await retain(0)

    expect(deleted.partitions).toBeGreaterThan(0)
    expect(await left([...old, kept.id])).toEqual(['gone', 'gone', 'gone', 'completed'])
    expect(await expiredCounts()).toEqual([['default', 'test', 'completed', '3']])
    const tables = await db.run(
      sql<[], string[]>`
      select relname from pg_class where relname like 'terminal\_0\_%' and relkind = 'r' and not relispartition`,
      [],
    )
    expect(tables).toEqual([])
  })

  it('does not wait for a reader when it drops a partition, and ends the drop later', async () => {
    await partition(40)
    const old = await given.job({ state: 'completed', finalizedAt: ago(40 * DAY) })

    await inTransaction(async (tx) => {
      await tx.execute('set transaction isolation level repeatable read')
      await tx.run(sql`select count(*) from spillway.terminal_entries`, [])
      await retain(0)
    })
    await retain(0)

    expect(await left([old.id])).toEqual(['gone'])
    expect(await expiredCounts()).toEqual([['default', 'test', 'completed', '1']])
  })

  it('forgets bookkeeping that has served its time, and keeps the rest', async () => {
    const fill = sql`
      with a as (insert into spillway.requests (uuid, ids) values (gen_random_uuid(), '{}')),
           b as (insert into spillway.aborts (registration, lease_id, job_id, reason) select 1, n, n, '' from generate_series(1, 1) n),
           c as (insert into spillway.crashes (job_id, registration, alone) values (1, 1, true)),
           d as (insert into spillway.ended_workers (registration, name, host, state, heartbeat_at) values ((random() * 1e9)::bigint, '', '', 'running', now()))
      insert into spillway.counters (queue, kind, reason, what, n) values ('', '', '', '', 1)`
    await db.run(fill, [])
    await clock.advance('91d')
    await db.run(sql`update spillway.ended_workers set ended_at = now() - interval '26 hours'`, [])
    await db.run(sql`delete from spillway.aborts where false`, [])
    await db.run(sql`update spillway.aborts set job_id = 9`, [])
    await db.run(fill, [])

    const deleted = await retain(1_000)

    expect(deleted).toMatchObject({ requests: 1, aborts: 1, crashes: 1, counters: 1, endedWorkers: 1 })
    for (const table of ['requests', 'aborts', 'crashes', 'counters', 'ended_workers']) {
      expect([table, await rowsOf(table)]).toEqual([table, '1'])
    }
  })

  async function rowsOf(table: string): Promise<string> {
    const [row] = await db.run({ name: `count_${table}`, text: `select count(*) from ${schema}.${table}` }, [])
    return (row as string[])[0]!
  }
})

describeStore('folding counts of causes', ({ store, given, db }) => {
  const counts = () => db.run(sql<[], string[]>`select cause, count from spillway.dlq_causes order by cause`, [])

  it('adds deltas to their causes, each once', async () => {
    await given.jobs(3, { state: 'archived', cause: 'a' })
    await given.jobs(2, { state: 'archived', cause: 'b' })

    const folded = await store.fold(1_000)
    const again = await store.fold(1_000)

    expect(folded).toBeGreaterThan(0)
    expect(again).toBe(0)
    expect(await counts()).toEqual([
      ['a', '3'],
      ['b', '2'],
    ])
  })
})
