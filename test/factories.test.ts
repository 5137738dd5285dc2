import { isolatedStore, type JobSeed, signal, until } from 'spillway/testing'
import { describe, expect, inject, it } from 'vitest'
import { JOB_STATES } from '../src/job/states.js'
import { isolateQueries } from '../src/store/postgres/queries/isolate.js'
import { shiftQueries } from '../src/store/postgres/queries/shift.js'
import { testDatabase } from './support/database.js'
import { onServer } from './support/server.js'
import { describeStore } from './support/store.js'

describeStore('making jobs for tests', ({ store, given, db, checker }) => {
  it.each(JOB_STATES)('makes a %s job that every inspection sees as such', async (state) => {
    const job = await given.job({ state, tags: ['urgent', 'mail'], uniqueKey: 'order-1' })

    expect(job).toMatchObject({ state, queue: 'default', kind: 'test', payload: {}, tags: ['urgent', 'mail'] })
    expect(await checker.faults()).toEqual([])
    expect(await checker.census()).toEqual({ [state]: 1 })
  })

  it('takes every field of a job', async () => {
    const seed = {
      id: '9007199254740993',
      queue: 'billing',
      kind: 'charge_card',
      version: 2,
      priority: 7,
      attempt: 4,
      crashAttempt: 1,
      maxAttempts: 9,
      runLease: 6,
      generation: 2,
      handbacks: 3,
      createdAt: new Date('2026-01-02T03:04:05.678Z'),
      runAt: new Date('2026-01-02T04:00:00Z'),
      deadline: new Date('2030-01-01T00:00:00Z'),
      timeoutMs: 30_000,
      uniqueKey: 'order-1',
      tags: ['a "quoted" tag', 'ünï,code'],
      metadata: { tenant: 'acme' },
      leaseId: '17',
      startedAt: new Date('2026-01-02T05:00:00Z'),
    } satisfies JobSeed

    const job = await given.job({ state: 'running', ...seed, payload: { cents: 4200 } })

    expect(job).toMatchObject({ ...seed, state: 'running', payload: { cents: 4200 } })
  })

  it('keeps the text of a payload as it is given', async () => {
    const [id] = await given.jobs(1, { state: 'archived', payloadText: '{"id": 9007199254740993,  "id": 2}' })

    const [row] = await db.runRaw<[], [string]>(
      { name: 'payload', text: `select payload from spillway.dlq_entries where id = ${id}` },
      [],
    )
    expect(row).toEqual(['{"id": 9007199254740993,  "id": 2}'])
  })

  it('makes many at once, each with an id of its own', async () => {
    const ids = await given.jobs(1_000, { state: 'archived', tags: ['x'] })

    expect(new Set(ids).size).toBe(1_000)
    await expect(checker.expectExactly(ids)).resolves.toMatchObject({ present: 1_000, left: 0 })
  })

  it('refuses a field that the state does not have', async () => {
    await expect(given.job({ state: 'completed', dueAt: new Date() })).rejects.toThrow('due_at')
  })

  it('registers a live worker for a running job', async () => {
    await given.job({ state: 'running', queue: 'mail', kind: 'send' })

    expect(await store.listWorkers()).toMatchObject([{ state: 'running', queues: ['mail'], running: 1 }])
  })
})

describeStore('moving the clock', ({ given, clock, store, db }) => {
  it('brings what is due nearer, and makes what is done older', async () => {
    const now = Date.now()
    const scheduled = await given.job({
      state: 'scheduled',
      dueAt: new Date(now + 3_600_000),
      runAt: new Date(now + 3_600_000),
    })
    const completed = await given.job({ state: 'completed' })

    await clock.advance('1h')

    expect(await store.promote(10)).toMatchObject({ moved: 1 })
    expect(await store.getJob(scheduled.id)).toMatchObject({ state: 'available' })
    expect((await store.getJob(completed.id))?.finalizedAt?.getTime()).toBeCloseTo(
      (completed.finalizedAt as Date).getTime() - 3_600_000,
      -2,
    )
  })

  it('moves counts that are kept by the hour past each other', async () => {
    const hours = (n: number) =>
      `insert into spillway.cause_hours select 'q', 'c', date_trunc('hour', now()) - n * interval '1 hour', n from generate_series(0, ${n}) n`
    await db.transaction((tx) => tx.execute(hours(5)))

    await clock.advance('1h')

    const [row] = await db.runRaw<[], [string]>(
      {
        name: 'hours',
        text: `select string_agg(n || ':' || extract(hour from date_trunc('hour', now()) - hour), ' ' order by n) from spillway.cause_hours`,
      },
      [],
    )
    expect(row).toEqual(['0:1 1:2 2:3 3:4 4:5 5:6'])
  })

  it('moves finished jobs across days', async () => {
    const completed = await given.job({ state: 'completed' })

    await clock.advance('40d')

    expect((await store.getJob(completed.id))?.finalizedAt?.getTime()).toBeLessThan(Date.now() - 39 * 86_400_000)
  })

  it('leaves the heartbeats of living processes alone where it is told to', async () => {
    await given.worker()

    await clock.advance('5m', { workers: 'beating' })
    const beating = await store.listWorkers()
    await clock.advance('5m')
    const silent = await store.listWorkers()

    expect(Date.now() - (beating[0]?.heartbeatAt.getTime() ?? 0)).toBeLessThan(60_000)
    expect(Date.now() - (silent[0]?.heartbeatAt.getTime() ?? 0)).toBeGreaterThan(290_000)
  })
})

describe('what the helpers know of the schema', () => {
  const { url } = testDatabase()
  const ask = (text: string) =>
    onServer(url, async (client) => (await client.query<{ name: string }>(text)).rows.map(({ name }) => name))

  it('is every time a row has', async () => {
    const times = await ask(`
      select c.table_name || '.' || c.column_name as name
        from information_schema.columns c
       where c.table_schema = 'spillway' and c.data_type = 'timestamp with time zone'
         and not exists (select from pg_inherits where inhrelid = format('spillway.%I', c.table_name)::regclass)`)
    const { tables } = shiftQueries('spillway')

    const unmoved = times.filter((name) => {
      const [table, column] = name.split('.') as [keyof typeof tables, string]
      return !tables[table]?.text.includes(`"${column}" =`)
    })

    const notOfARow = /^(job_snapshot|migrations)\./
    const freshInOffice = ['leaders.expires_at', 'leaders.written_at']
    expect(unmoved.filter((name) => !notOfARow.test(name)).sort()).toEqual(freshInOffice)
  })

  it('is every table with rows', async () => {
    const tables = await ask(`
      select relname as name from pg_class
       where relnamespace = 'spillway'::regnamespace and relkind in ('r', 'p') and not relispartition`)
    const { empty } = isolateQueries('spillway')

    const kept = tables.filter((table) => !empty.text.includes(`delete from "spillway"."${table}"`))

    expect(kept.sort()).toEqual(['control', 'event_head', 'job_snapshot', 'migrations', 'ring_state'])
  })
})

describe('an isolated store', () => {
  it('shares nothing with another one, and leaves nothing behind', async () => {
    const { url } = inject('server')
    const one = await isolatedStore({ url })
    const two = await isolatedStore({ url })

    await one.given.job({ state: 'archived' })
    const seen = [await one.checker.census(), await two.checker.census()]
    await one.drop()
    await two.drop()

    expect(seen).toEqual([{ archived: 1 }, {}])
    await expect(one.drop()).resolves.toBeUndefined()
  })
})

describe('waiting', () => {
  it('does not miss a signal that came before', async () => {
    const started = signal<string>()
    started.fire('first')
    started.fire('second')

    expect([await started.next(), await started.next(), started.count]).toEqual(['first', 'second', 2])
  })

  it('ends with what was seen last when the moment does not come', async () => {
    await expect(until(() => 0, { within: 30, what: 'the first job' })).rejects.toThrow(
      /the first job did not come within 30 ms; last seen: 0/,
    )
    await expect(signal().next({ within: 10, what: 'the start' })).rejects.toThrow(
      /the start did not come within 10 ms/,
    )
  })
})
