import { type DeathEvent, type DeathTxHandler, defineJob, Spillway } from 'spillway'
import { signal } from 'spillway/testing'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'
import { workerInfo } from '../support/worker-info.js'

describeStore('what goes along with a death, of a job that waits for a callback', ({ store, db, url }) => {
  const spillway = new Spillway({ url })
  afterAll(() => spillway.close())
  beforeAll(() => db.script('create table public.incidents (job_id text, reason text)'))
  beforeEach(() => db.script('delete from public.incidents'))

  const incidents = () =>
    db.run(
      sql<[], [id: string, reason: string]>`select job_id, reason from public.incidents order by job_id::bigint`,
      [],
    )
  const note: DeathTxHandler = (tx, { job, reason }) =>
    tx.query('insert into public.incidents (job_id, reason) values ($1, $2)', [job.id, reason])
  const asking = defineJob({ kind: 'test', maxAttempts: 1, onDeathTx: note, backoff: () => 1 })

  /** A worker whose handler waits for a callback; how often it was entered, and the tokens it gave out. */
  const start = async (timeout: number | undefined, more: object = {}) => {
    const tokens = signal<string>()
    const deaths: DeathEvent[] = []
    let entered = 0
    const handler = asking.handle(async (_, context) => {
      entered++
      const callback = await context.callback('approval', timeout === undefined ? {} : { timeout })
      tokens.fire(callback.token)
      return callback.result()
    })
    const worker = spillway.worker({
      ...{ queues: { default: {} }, jobs: [handler], poll: 50, onDeath: [(event) => void deaths.push(event)] },
      ...more,
    })
    onTestFinished(() => worker.stop({ grace: 1, abort: 1 }))
    await worker.start()
    return { worker, deaths, tokens, entered: () => entered }
  }
  const reaches = (id: string, state: string) => until(async () => (await store.getJob(id))?.state === state)

  it('is there when nobody answers in time: its worker writes the death, and does not enter the handler for it', async () => {
    const { deaths, entered } = await start(300)
    const { id } = await spillway.enqueue(asking, {})

    await reaches(id, 'archived')
    await until(() => deaths.length > 0)

    expect(await incidents()).toEqual([[id, 'callback_timeout']])
    expect(entered()).toBe(1)
    expect(deaths.map(({ job, reason, error }) => [job.id, reason, error])).toEqual([
      [id, 'callback_timeout', 'the callback "approval" was not answered in time'],
    ])
    const job = await store.getJob(id)
    expect(job).toMatchObject({ attempt: 1, crashAttempt: 0, dlq: { reason: 'callback_timeout' } })
    expect(job?.history).toMatchObject([{ type: 'callback_failed', name: 'CallbackTimeout', callback: 'approval' }])
    expect((await spillway.events.list()).items.map(({ type, jobId }) => [type, jobId])).toEqual([['died', id]])
  })

  it('is not called for a time-out that leaves an attempt', async () => {
    const { tokens } = await start(100)
    const { id } = await spillway.enqueue(asking, {}, { maxAttempts: 2 })
    await tokens.next({ within: '30s' })
    await tokens.next({ within: '30s' })
    const before = await incidents()

    await reaches(id, 'archived')

    expect(before).toEqual([])
    expect(await store.getJob(id)).toMatchObject({ attempt: 2 })
    expect(await incidents()).toEqual([[id, 'callback_timeout']])
  })

  it('is there when the deadline passes meanwhile', async () => {
    const { entered } = await start(undefined)
    const { id } = await spillway.enqueue(asking, {}, { deadline: '1h' })
    await reaches(id, 'waiting')
    await db.script(`update spillway.waiting_jobs set deadline = now()`)

    await reaches(id, 'archived')

    expect(await incidents()).toEqual([[id, 'deadline_exceeded']])
    expect(entered()).toBe(1)
  })

  it('is left out, in the same group of causes, where no worker of the queue has the definition', async () => {
    const { worker, tokens } = await start(500)
    const first = await spillway.enqueue(asking, {})
    await reaches(first.id, 'archived')
    const second = await spillway.enqueue(asking, {})
    await tokens.next({ within: '30s' })
    await tokens.next({ within: '30s' })
    await reaches(second.id, 'waiting')
    await worker.stop()
    // Of another queue, and of another version: neither could take it.
    const others = [
      await store.register(workerInfo({ queues: ['other'], deathTxKinds: ['test'] })),
      await store.register(workerInfo({ serves: [{ kind: 'test', version: 2 }], deathTxKinds: ['test'] })),
    ]

    await until(async () => (await store.timeOutCallbacks(10)).timedOut === 1)

    const [one, two] = [await store.getJob(first.id), await store.getJob(second.id)]
    expect(two?.dlq).toMatchObject({ reason: 'callback_timeout', cause: one?.dlq?.cause })
    expect(await incidents()).toEqual([[first.id, 'callback_timeout']])
    for (const session of others) await session.close()
  })

  it('is left out of a death by an answer, which is nobody’s but whose it was', async () => {
    const { deaths, tokens } = await start(undefined)
    const { id } = await spillway.enqueue(asking, {})
    const token = await tokens.next({ within: '30s' })
    await reaches(id, 'waiting')

    await spillway.callbacks.fail(token, 'declined')

    expect((await store.getJob(id))?.state).toBe('archived')
    expect((await spillway.events.list()).items).toHaveLength(1)
    expect([deaths, await incidents()]).toEqual([[], []])
  })

  it('is left to a worker that has come up when one dies on the way', async () => {
    const first = await start(undefined, { maintenance: false })
    const { id } = await spillway.enqueue(asking, {}, { maxAttempts: 1 })
    await first.tokens.next({ within: '30s' })
    await reaches(id, 'waiting')
    await first.worker.stop()
    await db.script(`update spillway.waiting_jobs set waits_until = now()`)
    const left = await store.register(workerInfo({ deathTxKinds: ['test'] }))
    await store.timeOutCallbacks(10)
    const [claimed] = await left.claim('default', 1)
    const name = await left.lateCallback(claimed!)
    // Gone without a word: its job is taken back, charged with a crash, and is as late as before.
    await left.close()
    await db.script('delete from spillway.workers')
    await store.rescue(45_000, 3)
    await db.script(`update spillway.deferred_jobs set due_at = now()`)
    const next = await start(undefined)

    await reaches(id, 'archived')

    expect(name).toBe('approval')
    expect(next.entered()).toBe(0)
    expect(await incidents()).toEqual([[id, 'callback_timeout']])
    expect(await store.getJob(id)).toMatchObject({ attempt: 1, crashAttempt: 1 })
  })
})
