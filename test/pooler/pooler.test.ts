import { defineJob, Spillway, skip, type Worker } from 'spillway'
import { factories, onePlace } from 'spillway/testing'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { Maintenance } from '../../src/maintenance/maintenance.js'
import { Database } from '../../src/store/postgres/database.js'
import { sql } from '../../src/store/postgres/sql.js'
import { postgresStore } from '../../src/store/postgres/store.js'
import { testDatabase } from '../support/database.js'
import { until } from '../support/patience.js'
import { hasPgbouncer, losesNames, type Pooler, startPgbouncer } from '../support/pgbouncer.js'
import { withDatabase } from '../support/server.js'

const HOW_TO = 'these suites need pgbouncer: apt-get install pgbouncer'

it('there is a pgbouncer to test with', ({ skip: leaveOut }) => {
  if (!hasPgbouncer && !process.env['CI']) leaveOut(HOW_TO)
  expect(hasPgbouncer, HOW_TO).toBe(true)
})

const job = defineJob<{ n: number; how?: string }>({ kind: 'act', queue: 'billing', maxAttempts: 2, backoff: () => 1 })
const handled = job.handle(async (payload, ctx) => {
  await ctx.progress({ at: payload.n })
  if (payload.how === 'fail') throw new Error('gateway said no')
  if (payload.how === 'skip') return skip('no_such_user')
  if (payload.how === 'hold') await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
  return payload.n
})

describe.runIf(hasPgbouncer)('behind a transaction pooler', () => {
  const { url: direct, name } = testDatabase()
  const db = new Database({ url: direct, max: 4, prepare: true })
  const checker = onePlace(db, 'spillway')
  let pooler: Pooler
  let url: string
  beforeAll(async () => {
    pooler = await startPgbouncer(inject('server').url)
    url = withDatabase(pooler.url, name)
  })
  afterAll(async () => {
    await db.close()
    await pooler.stop()
  })

  const opened = (options: { prepare?: boolean; maxConnections?: number } = {}) => {
    const warnings: string[] = []
    const spillway = new Spillway({ url, onError: (error) => warnings.push(error.message), ...options })
    onTestFinished(() => spillway.close())
    return { spillway, warnings }
  }
  const working = async (spillway: Spillway, concurrency = 20): Promise<{ worker: Worker; trouble: unknown[] }> => {
    const worker = spillway.worker({ queues: { billing: { concurrency } }, jobs: [handled] })
    const trouble: unknown[] = []
    worker.on('error', (event) => trouble.push(event))
    onTestFinished(() => worker.stop({ grace: 1_000 }))
    await worker.start()
    return { worker, trouble }
  }

  it('finds out that sessions do not survive: no names, no notices', async () => {
    const { spillway } = opened()

    const { diagnosis, findings } = await spillway.doctor()

    expect(diagnosis?.connection).toMatchObject({ isPooled: true, hearsNotices: false })
    if (losesNames) expect(diagnosis?.connection.keepsNames).toBe(false)
    expect(findings.map(({ code }) => code)).toContain('transaction_pooler')
  })

  it('runs jobs of every kind of ending, many at a time, without one error', async () => {
    const { spillway } = opened({ maxConnections: 20 })
    const hows = ['work', 'work', 'work', 'fail', 'skip']
    const { worker, trouble } = await working(spillway)

    const ids = (
      await Promise.all(
        Array.from({ length: 400 }, (_, n) => spillway.enqueue(job, { n, how: hows[n % 5]! }, { tags: [`t${n % 3}`] })),
      )
    ).map(({ id }) => id)
    await until(async () => (await spillway.dlq.depth()) === 160)
    await worker.idle()

    expect(await checker.census()).toEqual({ completed: 240, archived: 160 })
    await checker.expectExactly(ids)
    expect(trouble).toEqual([])
  })

  it('does bulk work, keyed enqueues, idempotent requests and every duty', async () => {
    const { spillway } = opened()
    const store = postgresStore({ url })
    onTestFinished(() => store.close())
    const given = factories(db, 'spillway', store)
    await given.jobs(300, { state: 'archived', queue: 'mail', kind: 'send' })
    await given.job({ state: 'completed', finalizedAt: new Date(Date.now() - 60 * 86_400_000) })

    const retried = await (await spillway.dlq.retryMany({ queue: 'mail' }, { rate: 10_000 })).done()
    const keyed = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        spillway.enqueue(job, { n }, { unique: 'the key', onConflict: 'skip' } as never),
      ),
    )
    const maintenance = new Maintenance(store)
    const duties = ['promote', 'rescue', 'deadlines', 'rings', 'fold', 'retain', 'partitions', 'operations'] as const
    for (const duty of duties) await maintenance.runOnce(duty)
    await maintenance.stop()

    expect(retried).toMatchObject({ state: 'done', succeeded: 300 })
    expect(new Set(keyed.map(({ id }) => id)).size).toBe(1)
    await checker.expectClean()
  })

  it('polls instead of listening, warns of it once, and still picks up and aborts within bounds', async () => {
    const { spillway, warnings } = opened()
    const other = opened()
    const { worker } = await working(spillway)
    await worker.idle()

    const enqueuedAt = performance.now()
    const { id } = await other.spillway.enqueue(job, { n: 1, how: 'hold' })
    await until(async () => (await spillway.jobs.get(id))?.state === 'running')
    const pickedUpMs = performance.now() - enqueuedAt
    await other.spillway.jobs.cancel(id)
    await until(() => worker.running === 0)
    const abortedMs = performance.now() - enqueuedAt - pickedUpMs

    expect(warnings.filter((it) => it.includes('polling instead'))).toHaveLength(1)
    expect(pickedUpMs).toBeLessThan(2_500)
    expect(abortedMs).toBeLessThan(2_500)
  })

  it('goes on without names where somebody insisted on them', async () => {
    const { spillway, warnings } = opened({ prepare: true, maxConnections: 10 })

    const all = await Promise.all(Array.from({ length: 200 }, (_, n) => spillway.jobs.get(String(n + 1))))

    expect(all).toHaveLength(200)
    expect(warnings.filter((it) => it.includes('without names'))).toHaveLength(1)
  })

  it('finishes with one server connection for everybody', async () => {
    const narrow = await startPgbouncer(inject('server').url, { connections: 1 })
    onTestFinished(() => narrow.stop())
    const spillway = new Spillway({ url: withDatabase(narrow.url, name) })
    onTestFinished(() => spillway.close())
    const { worker, trouble } = await working(spillway, 5)

    const { id } = await spillway.enqueue(job, { n: 1 })
    await until(async () => (await spillway.jobs.get(id))?.state === 'completed')
    await worker.idle()

    expect(trouble).toEqual([])
  })

  it('leaves no statement prepared under a name of a query on the server', async () => {
    const { spillway } = opened()
    await spillway.jobs.counts()

    const through = new Database({ url, max: 1, prepare: false })
    onTestFinished(() => through.close())
    const names = await through.run(sql<[], [name: string]>`select name from pg_prepared_statements`, [])

    expect(names.filter(([it]) => !it.startsWith('sw_way_'))).toEqual([])
  })
})

describe.runIf(hasPgbouncer)('behind a session pooler', () => {
  const { name } = testDatabase()
  let pooler: Pooler
  beforeAll(async () => {
    pooler = await startPgbouncer(inject('server').url, { mode: 'session', connections: 50 })
  })
  afterAll(() => pooler.stop())

  it('keeps names and hears notices', async () => {
    const spillway = new Spillway({ url: withDatabase(pooler.url, name) })
    onTestFinished(() => spillway.close())

    const { diagnosis } = await spillway.doctor()

    expect(diagnosis?.connection).toEqual({ isPooled: true, keepsNames: true, hearsNotices: true })
  })
})
