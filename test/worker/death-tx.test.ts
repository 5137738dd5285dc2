import { type DeathEvent, type DeathTxHandler, defineJob, type JobHandler, Spillway, skip } from 'spillway'
import { until } from 'spillway/testing'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'
import { workerInfo } from '../support/worker-info.js'

const follow = defineJob<{ of: string }>({ kind: 'follow', queue: 'later' })

describeStore('what goes along with a death, in its transaction', ({ store, given, db, url, checker }) => {
  const spillway = new Spillway({ url })
  afterAll(() => spillway.close())
  beforeAll(() => db.script('create table public.incidents (job_id text, reason text, n numeric default 1)'))

  const note = 'insert into public.incidents (job_id, reason) values ($1, $2) returning job_id, n::integer'
  const incidents = async () =>
    (await db.run(sql<[], [string]>`select job_id from public.incidents order by job_id::bigint`, [])).map(([id]) => id)
  const followers = async () => (await spillway.jobs.list({ queue: 'later' })).items.length

  /** A kind that dies, and what goes along with it. */
  const dying = (onDeathTx: DeathTxHandler, queue = 'default') => {
    const job = defineJob<{ skip?: boolean }>({ kind: 'test', queue, maxAttempts: 1, onDeathTx })
    const handler = job.handle((payload) => {
      if (payload.skip) return skip('no_use')
      throw new Error('no')
    })
    return { job, handler }
  }
  const start = async (jobs: readonly JobHandler[], more: object = {}) => {
    const deaths: DeathEvent[] = []
    const worker = spillway.worker({
      ...{
        queues: { default: {}, plain: {} },
        poll: 100,
        jobs,
        onDeath: [(event) => void deaths.push(event)],
        ...more,
      },
    })
    const troubles: string[] = []
    worker.on('error', ({ service, error }) => void troubles.push(`${service}: ${(error as Error).message}`))
    onTestFinished(() => worker.stop({ grace: 1, abort: 1 }))
    await worker.start()
    return { deaths, troubles, worker }
  }
  const ended = (id: string, state = 'archived') =>
    until(async () => (await store.getJob(id))?.state === state, { within: '15s' })
  const clear = () => db.script('delete from public.incidents')

  it('is there with it: statements of one’s own, and jobs', async () => {
    await clear()
    const seen: unknown[] = []
    const { job, handler } = dying(async (tx, event) => {
      const { rows } = await tx.query(note, [event.job.id, event.reason])
      seen.push(rows[0], await tx.execute('select true as yes, 1::bigint as large'))
      await spillway.enqueue(follow, { of: event.job.id }, { tx })
    })
    const { deaths, troubles } = await start([handler])
    const { id } = await spillway.enqueue(job, { skip: true })
    await ended(id)
    await until(() => deaths.length === 1)

    expect(troubles).toEqual([])
    expect(await incidents()).toEqual([id])
    expect(await followers()).toBe(1)
    // Values are as node-postgres gives them.
    expect(seen).toEqual([{ job_id: id, n: 1 }, [{ yes: true, large: '1' }]])
    expect((await store.getJob(id))?.history?.map(({ type }) => type)).toEqual(['skipped'])
    const { items } = await spillway.events.list()
    expect(items.map(({ type, jobId }) => [type, jobId])).toEqual([['died', id]])
  })

  it('is not visible before the death is', async () => {
    await clear()
    let inside: unknown
    const { job, handler } = dying(async (tx, event) => {
      await tx.query(note, [event.job.id, event.reason])
      inside = [(await store.getJob(event.job.id))?.state, await incidents(), event.state]
    })
    await start([handler])
    const { id } = await spillway.enqueue(job, {})
    await ended(id)

    expect(inside).toEqual(['running', [], 'archived'])
    expect(await incidents()).toEqual([id])
  })

  it.each<[string, DeathTxHandler, RegExp]>([
    ['throws', () => Promise.reject(new Error('pager is down')), /^pager is down$/],
    [
      'throws at once',
      () => {
        throw new Error('at once')
      },
      /^at once$/,
    ],
    ['meets an error of the database', (tx) => tx.query('select 1/0'), /division by zero/],
    [
      'swallows an error of the database',
      (tx) => tx.query('select 1/0').catch(() => undefined),
      /current transaction is aborted/,
    ],
    ['rolls back', (tx) => tx.query('rollback'), /ended the transaction/],
    ['never settles', () => new Promise(() => undefined), /took longer than 5000 ms/],
    ['hangs in the database', (tx) => tx.query('select pg_sleep(60)'), /took longer than 5000 ms|statement timeout/],
  ])('is left out, and said so, where it %s: the death is written', async (_, onDeathTx, message) => {
    await clear()
    const { job, handler } = dying(async (tx, event) => {
      await tx.query(note, [event.job.id, event.reason])
      await spillway.enqueue(follow, { of: event.job.id }, { tx })
      await onDeathTx(tx, event)
    })
    const { deaths, troubles } = await start([handler])
    const { id } = await spillway.enqueue(job, {})
    await ended(id)
    await until(() => deaths.length === 1)

    const dead = await store.getJob(id)
    expect(dead?.dlq?.reason).toBe('attempts_exhausted')
    expect(dead?.history?.map(({ type }) => type)).toEqual(['error', 'death_tx_failed'])
    expect(dead?.history?.at(-1)).toMatchObject({ message: expect.stringMatching(message), attempt: 0 })
    expect(await incidents()).toEqual([])
    expect(await followers()).toBe(0)
    expect(troubles).toHaveLength(1)
    expect(troubles[0]).toMatch(/^onDeathTx: /)
    const { items } = await spillway.events.list()
    expect(items.map(({ jobId }) => jobId)).toEqual([id])
  })

  it('also goes along on a queue without a dead-letter queue, and says there what failed', async () => {
    await clear()
    await spillway.queues.set('plain', { dlqEnabled: false })
    let fails = false
    const states: string[] = []
    const { job, handler } = dying(async (tx, event) => {
      states.push(event.state)
      await tx.query(note, [event.job.id, event.reason])
      if (fails) throw new Error('no')
    }, 'plain')
    await start([handler])
    const good = await spillway.enqueue(job, {})
    await ended(good.id, 'failed')
    fails = true
    const bad = await spillway.enqueue(job, {})
    await ended(bad.id, 'failed')

    expect(states).toEqual(['failed', 'failed'])
    expect(await incidents()).toEqual([good.id])
    expect((await store.getJob(bad.id))?.history?.map(({ type }) => type)).toEqual(['error', 'death_tx_failed'])
  })

  it('is done over where another transaction was in the way, and is there once', async () => {
    await clear()
    let calls = 0
    const { job, handler } = dying(async (tx, event) => {
      await tx.query(note, [event.job.id, event.reason])
      if (++calls === 1) await tx.query(`do $$ begin raise exception 'in the way' using errcode = '40001'; end $$`)
    })
    const { troubles } = await start([handler])
    const { id } = await spillway.enqueue(job, {})
    await ended(id)

    expect([calls, await incidents(), troubles]).toEqual([2, [id], []])
  })

  it('is done over where the connection was lost in the middle, and is there once', async () => {
    await clear()
    let calls = 0
    const { job, handler } = dying(async (tx, event) => {
      await tx.query(note, [event.job.id, event.reason])
      if (++calls === 1) await tx.query('select pg_terminate_backend(pg_backend_pid())')
    })
    await start([handler])
    const { id } = await spillway.enqueue(job, {})
    await ended(id)

    expect([calls, await incidents()]).toEqual([2, [id]])
    expect((await store.getJob(id))?.history?.map(({ type }) => type)).toEqual(['error'])
  })

  it('keeps nobody else waiting', async () => {
    await clear()
    let release: () => void = () => undefined
    const { job, handler } = dying(
      () =>
        new Promise<void>((resolve) => {
          release = resolve
        }),
    )
    const other = defineJob({ kind: 'other', maxAttempts: 1 })
    await start([handler, other.handle(() => Promise.reject(new Error('no')))])
    const slow = await Promise.all([1, 2, 3].map(() => spillway.enqueue(job, {})))
    const quick = await Promise.all(Array.from({ length: 20 }, () => spillway.enqueue(other, {})))
    for (const { id } of quick) await ended(id)
    const states = await Promise.all(slow.map(async ({ id }) => (await store.getJob(id))?.state))

    expect(states).toContain('running')
    const letGo = setInterval(() => release(), 10)
    onTestFinished(() => clearInterval(letGo))
    for (const { id } of slow) await ended(id)
  })

  it('is run by no operator', async () => {
    await clear()
    const { handler } = dying((tx, event) => tx.query(note, [event.job.id, event.reason]))
    const { deaths } = await start([handler])
    const { id } = await given.job({ state: 'scheduled', dueAt: new Date(Date.now() + 3_600_000) })
    await spillway.jobs.kill(id, { reason: 'no' })

    expect(await incidents()).toEqual([])
    expect(deaths).toEqual([])
  })

  it('is run for deadlines that pass while jobs wait: the sweep leaves them to the worker', async () => {
    await clear()
    const { handler } = dying((tx, event) => tx.query(note, [event.job.id, event.reason]))
    const later = {
      state: 'scheduled',
      dueAt: new Date(Date.now() + 3_600_000),
      deadline: new Date(Date.now() - 1_000),
    } as const
    const { deaths } = await start([handler])
    const waiting = await given.job(later)
    const ready = await given.job({ deadline: new Date(Date.now() - 1_000) })
    const elsewhere = await given.job({ ...later, kind: 'other' })
    await store.expireDeadlines(100)
    await ended(waiting.id)
    await ended(ready.id)

    expect((await store.getJob(elsewhere.id))?.state).toBe('archived')
    expect(await incidents()).toEqual([waiting.id, ready.id].sort((a, b) => Number(a) - Number(b)))
    await until(() => deaths.filter(({ job }) => job.kind === 'test').length === 2)
    expect(new Set(deaths.map(({ reason }) => reason))).toEqual(new Set(['deadline_exceeded']))
  })

  it('is left out by the sweep once no worker has the definition any more', async () => {
    const session = await store.register(workerInfo({ deathTxKinds: ['test'] }))
    const seed = {
      state: 'scheduled',
      dueAt: new Date(Date.now() + 3_600_000),
      deadline: new Date(Date.now() - 1_000),
    } as const
    const ids = await given.jobs(3, seed)
    const states = () => Promise.all(ids.map(async (id) => (await store.getJob(id))?.state))
    await store.expireDeadlines(1)
    const first = await states()
    await store.expireDeadlines(100)
    const left = await states()
    await session.end()
    await session.close()

    await store.expireDeadlines(100)

    expect(first.sort()).toEqual(['available', 'scheduled', 'scheduled'])
    expect(left).toEqual(['available', 'available', 'available'])
    expect(await states()).toEqual(['archived', 'archived', 'archived'])
  })

  it('is written to its end when the worker stops', async () => {
    await clear()
    let entered: () => void = () => undefined
    const inside = new Promise<void>((resolve) => {
      entered = resolve
    })
    let release: () => void = () => undefined
    const { job, handler } = dying(async (tx, event) => {
      entered()
      await new Promise<void>((resolve) => {
        release = resolve
      })
      await tx.query(note, [event.job.id, event.reason])
    })
    const { worker } = await start([handler])
    const { id } = await spillway.enqueue(job, {})
    await inside
    const stopping = worker.stop({ grace: 5_000, abort: 1 })
    release()
    await stopping

    expect((await store.getJob(id))?.state).toBe('archived')
    expect(await incidents()).toEqual([id])
    await checker.expectClean()
  })
})
