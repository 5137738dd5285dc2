import { until } from 'spillway/testing'
import { expect, it } from 'vitest'
import { SLOTS } from '../../src/store/postgres/queries/claim.js'
import { ringQueries } from '../../src/store/postgres/queries/rings.js'
import { sql } from '../../src/store/postgres/sql.js'
import { upkeep } from '../../src/store/postgres/upkeep.js'
import type { ClaimedJob, WorkerSession } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'

describeStore('the rings', ({ store, given, db, schema, inTransaction }) => {
  const { carry, reclaim } = ringQueries(schema)
  const duties = upkeep(db, schema, { carryAfterMs: 0 })

  const slotOf = async (table: 'ready_entries' | 'leases', id: string) =>
    (
      (await db.run({ name: `slot_${table}`, text: `select slot from ${schema}.${table} where id = $1` }, [id]))[0] as
        | string[]
        | undefined
    )?.[0]
  const bytes = async (slot: string) =>
    Number(((await db.run({ name: '', text: `select pg_relation_size('${schema}.${slot}')` }, []))[0] as string[])[0])
  const setHead = (ring: string, head: number) =>
    db.run(sql<[string, number], []>`update spillway.ring_state set head = $2, rotated_at = now() where ring = $1`, [
      ring,
      head,
    ])
  const age = () =>
    db.run(sql`update spillway.ring_state set rotated_at = now() - interval '11 s', truncated_at = '-infinity'`, [])
  const headOf = async (ring: string) =>
    Number((await db.run(sql<[string], [string]>`select head from spillway.ring_state where ring = $1`, [ring]))[0]![0])
  const emptyRings = async () => {
    await db.run(sql`delete from spillway.ready_entries`, [])
    await db.run(sql`delete from spillway.leases`, [])
    for (const slot of SLOTS) for (const ring of ['ready', 'leases'] as const) await db.run(reclaim, [ring, slot])
    await setHead('ready', 0)
    await setHead('leases', 0)
  }
  const register = () =>
    store.register({
      name: 'w',
      host: 'h',
      bootId: 'b',
      pidNamespace: 'p',
      pid: 1,
      pidStarted: '1',
      queues: ['default'],
      serves: [{ kind: 'test', version: 1 }],
      concurrency: 10,
      version: '0',
    })
  const complete = (session: WorkerSession, job: ClaimedJob) =>
    session.settle([{ job, end: { event: 'complete', result: null } }])

  it('send new rows to the next empty slot when the head is old, and give drained slots back', async () => {
    await emptyRings()
    await given.jobs(500, { slot: 0 })
    await age()

    const turned = await store.turnRings()
    const [enqueued] = await store.enqueue([newJob()])
    await db.run(sql`delete from spillway.ready_entries where slot = 0`, [])
    const drained = await until(async () => {
      const pass = await store.turnRings()
      return pass.truncated > 0 ? pass : undefined
    })

    expect(turned.rotated).toBe(1)
    expect(await headOf('ready')).toBe(1)
    expect(await slotOf('ready_entries', enqueued!.id)).toBe('1')
    expect(drained.truncated).toBe(1)
    expect(await bytes('ready_0')).toBe(0)
  })

  it('leave no dead row of a drain behind', async () => {
    await emptyRings()
    await given.jobs(3_000, { slot: 0 })
    await given.jobs(3_000, { slot: 3 })
    await given.jobs(2_000, { state: 'running', slot: 0 })
    await db.run(sql`delete from spillway.ready_entries`, [])
    await db.run(sql`delete from spillway.leases`, [])
    await db.run(sql`update spillway.ring_state set rotated_at = now() - interval '1 s'`, [])

    const left = async () => {
      await store.turnRings()
      const sizes = await Promise.all(SLOTS.flatMap((slot) => [bytes(`ready_${slot}`), bytes(`leases_${slot}`)]))
      return sizes.reduce((sum, size) => sum + size, 0)
    }
    await until(async () => (await left()) === 0, { within: '5s', what: 'the last dead row to go' })
  })

  it('do nothing while nothing moves', async () => {
    await emptyRings()
    await store.turnRings()

    expect(await store.turnRings()).toEqual({ rotated: 0, truncated: 0, carried: 0, moving: false })
    await given.job()
    expect(await store.turnRings()).toMatchObject({ moving: true })
  })

  it('wait for nobody: a reader that has read every table costs space and nothing else', async () => {
    await emptyRings()
    await given.jobs(500, { slot: 3 })
    await inTransaction(async (tx) => {
      await tx.execute('set transaction isolation level repeatable read')
      await tx.run(
        sql`select (select count(*) from spillway.ready_entries), (select count(*) from spillway.leases)`,
        [],
      )
      await db.run(sql`delete from spillway.ready_entries`, [])

      expect(await store.turnRings()).toMatchObject({ truncated: 0 })
      expect(await db.run(reclaim, ['ready', 3])).toEqual([['f']])
      await store.enqueue([newJob()])
    })

    expect(await db.run(reclaim, ['ready', 3])).toEqual([['t']])
  })

  it('never truncate a slot with a row that is not committed yet', async () => {
    await emptyRings()
    await inTransaction(async (tx) => {
      await tx.run(
        sql`
        insert into spillway.ready_3 (id, position, slot, queue, kind, payload) values (nextval('spillway.job_ids'), 1, 3, 'default', 'test', '{}')`,
        [],
      )

      expect(await db.run(reclaim, ['ready', 3])).toEqual([['f']])
    })

    expect(await db.run(reclaim, ['ready', 3])).toEqual([['f']])
    expect(await db.run(sql`select count(*) from spillway.ready_3`, [])).toEqual([['1']])
  })

  it('carry stragglers to the head when hardly an empty slot is left, so that theirs can be truncated', async () => {
    await emptyRings()
    const jobs = await Promise.all([1, 2, 3, 4, 5, 6, 7].map((slot) => given.job({ slot, position: String(slot) })))
    await duties.turnRings()

    const { carried, truncated } = await duties.turnRings()

    expect({ carried, truncated }).toEqual({ carried: 1, truncated: 1 })
    expect(await slotOf('ready_entries', jobs[0]!.id)).toBe('0')
    expect(await store.getJob(jobs[0]!.id, { payload: true })).toEqual(jobs[0])
    expect(await bytes('ready_1')).toBe(0)
  })

  it('leave a crowded slot where it is', async () => {
    await emptyRings()
    await given.jobs(1_001, { slot: 1 })

    expect(await db.run(carry.ready[1]!, [1_000])).toEqual([['0']])
    await db.run(sql`delete from spillway.ready_1 where ctid = (select ctid from spillway.ready_1 limit 1)`, [])
    expect(await db.run(carry.ready[1]!, [1_000])).toEqual([['1000']])
  })

  it('tell a settle that meets a carried lease to repeat, and it succeeds: the end is not lost', async () => {
    await emptyRings()
    await given.job()
    const session = await register()
    const [job] = await session.claim('default', 1)
    await setHead('leases', 4)

    const settled = await inTransaction(async (tx) => {
      const [[carried]] = (await tx.run(carry.leases[0]!, [1_000])) as [[string]]
      expect(carried).toBe('1')
      const settling = complete(session, job!)
      await until(async () => await waitsForLock(), { what: 'the settle to wait for the carried row' })
      return { settling }
    }).then(({ settling }) => settling)

    expect(settled).toEqual([{ outcome: 'applied', state: 'completed' }])
    await session.end()
    await session.close()
  })

  it('answer 40001 to a delete on the old slot that meets a carried row', async () => {
    await emptyRings()
    const job = await given.job({ slot: 1 })
    const remove = sql<[id: string], []>`delete from spillway.ready_1 where id = $1 returning id`

    const met = await inTransaction(async (tx) => {
      await tx.run(carry.ready[1]!, [1_000])
      const raw = db.runRaw(remove, [job.id]).then(
        () => 'no error',
        (error: { code: string }) => error.code,
      )
      await until(waitsForLock, { what: 'the delete to wait for the carried row' })
      return { raw }
    }).then(({ raw }) => raw)

    expect(met).toBe('40001')
    expect(await slotOf('ready_entries', job.id)).toBe('0')
  })

  async function waitsForLock(): Promise<boolean> {
    const [row] = await db.run(
      sql<[], [string]>`
      select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      [],
    )
    return row![0] !== '0'
  }
})

function newJob() {
  return {
    queue: 'default',
    kind: 'test',
    version: 1,
    payload: '{}',
    priority: 50,
    maxAttempts: 20,
    runAt: null,
    deadline: null,
    timeoutMs: null,
    uniqueKey: null,
    onConflict: 'fail',
    tags: null,
    metadata: null,
    retention: null,
  } as const
}
