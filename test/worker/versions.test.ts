import { defineJob, type JobHandler, Spillway } from 'spillway'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { sql } from '../../src/store/postgres/sql.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'
import { workerInfo } from '../support/worker-info.js'

/** Rows of the version that the old worker does not serve; the case itself speaks of 100,000. */
const AT_THE_HEAD = process.env['SPILLWAY_EFFORT'] === undefined ? 10_000 : 100_000

const third = z.object({ name: z.string(), age: z.number() })

describeStore('a payload of an older version', ({ store, given, db, url, checker }) => {
  const spillway = new Spillway({ url })
  afterAll(() => spillway.close())
  const start = async (...jobs: JobHandler[]) => {
    const worker = spillway.worker({ queues: { default: {} }, poll: 50, maintenance: false, jobs })
    onTestFinished(() => worker.stop({ grace: 100, abort: 100 }))
    await worker.start()
    return worker
  }
  const chain = {
    1: (v1: { n: string }) => ({ name: v1.n }),
    2: (v2: { name: string }) => ({ ...v2, age: 0 }),
  }

  it('is brought up step by step, for every attempt anew from what is stored', async () => {
    const seen: unknown[] = []
    const mutating = {
      ...chain,
      // Not idempotent, and it changes what it is given.
      1: (v1: { n: string; name?: string }) => {
        v1.name = `${v1.n}!`
        return v1
      },
    }
    const kind = defineJob({
      kind: 'test',
      version: 3,
      upcast: mutating,
      schema: third,
      backoff: () => 1,
      maxAttempts: 3,
    })
    const job = await given.job({ payload: { n: 'ada' }, maxAttempts: 3 })
    const worker = spillway.worker({
      queues: { default: {} },
      poll: 50,
      jobs: [
        kind.handle((payload) => {
          seen.push(payload)
          if (seen.length < 3) throw new Error('again')
        }),
      ],
    })
    onTestFinished(() => worker.stop())
    await worker.start()
    await until(async () => (await store.getJob(job.id))?.state === 'completed')

    expect(seen).toEqual(Array.from({ length: 3 }, () => ({ name: 'ada!', age: 0 })))
    expect((await store.getJob(job.id, { payload: true }))?.payloadText).toBe('{"n":"ada"}')
  })

  it.each([
    [
      'whose upcast throws',
      {
        1: () => {
          throw new Error('no name in it')
        },
        2: chain[2],
      },
      /the upcast from version 1 to 2 threw: no name in it/,
    ],
    [
      'whose upcast is wrong',
      { 1: () => ({ nome: 'ada' }), 2: chain[2] },
      /^name: after the upcast from version 1 to 3: /,
    ],
    ['whose upcast is async', { 1: async () => ({ name: 'ada' }), 2: chain[2] }, /version 1 to 2 is async/],
  ])('%s is parked with what went wrong, and runs after the next deploy', async (_, upcast, why) => {
    const broken = defineJob({ kind: 'test', version: 3, upcast, schema: third })
    const job = await given.job({ payload: { n: 'ada' }, attempt: 1 })
    const old = await start(broken.handle(() => undefined))
    await until(async () => (await store.getJob(job.id))?.state === 'undecodable')
    await old.stop()
    const parked = await store.getJob(job.id, { payload: true })

    const seen: unknown[] = []
    await start(
      defineJob({ kind: 'test', version: 3, upcast: chain, schema: third }).handle((it) => void seen.push(it)),
    )
    const checked = await spillway.undecodable.check()
    await spillway.undecodable.release({ all: true })
    await until(async () => (await store.getJob(job.id))?.state === 'completed')

    expect(parked).toMatchObject({ attempt: 1, reason: expect.stringMatching(why), payloadText: '{"n":"ada"}' })
    expect(checked).toMatchObject({ wouldDecode: 1, refused: 0 })
    expect(seen).toEqual([{ name: 'ada', age: 0 }])
  })

  it('with a gap in the way is not claimed, and refused by code that is asked', async () => {
    const gap = defineJob({ kind: 'test', version: 3, upcast: { 2: chain[2] } })
    const job = await given.job({ version: 1 })
    const reachable = await given.job({ version: 2 })
    await start(gap.handle(() => undefined))
    await until(async () => (await store.getJob(reachable.id))?.state === 'completed')

    const parked = await given.job({ state: 'undecodable', version: 1 })
    const { groups } = await spillway.undecodable.check({ ids: [parked.id] }, { jobs: [gap] })

    expect((await store.getJob(job.id))?.state).toBe('available')
    expect(groups[0]?.samples[0]?.message).toBe('there is no upcast from version 1 to 2')
  })

  it('is run by the worker that serves it, once, with an old worker beside it', async () => {
    const runs = new Map<string, number>()
    const count =
      (by: string) =>
      (_: unknown, { job }: { job: { id: string; version: number } }) => {
        runs.set(`${job.id} v${job.version} ${by}`, (runs.get(`${job.id} v${job.version} ${by}`) ?? 0) + 1)
      }
    const newer = await given.jobs(AT_THE_HEAD, { version: 2 })
    const older = await given.jobs(500, { version: 1 })

    const concurrency = { queues: { default: { concurrency: 200 } }, poll: 50 }
    const oldOne = spillway.worker({ ...concurrency, jobs: [defineJob({ kind: 'test' }).handle(count('old'))] })
    const newOne = spillway.worker({
      ...concurrency,
      jobs: [defineJob({ kind: 'test', version: 2 }).handle(count('new'))],
    })
    onTestFinished(async () => void (await Promise.all([oldOne.stop(), newOne.stop()])))
    await Promise.all([oldOne.start(), newOne.start()])
    await until(async () => (await checker.census())['completed'] === AT_THE_HEAD + 500, { within: '120s', every: 200 })

    const expected = [...newer.map((id) => `${id} v2 new`), ...older.map((id) => `${id} v1 old`)]
    expect(runs.size).toBe(expected.length)
    expect(expected.every((run) => runs.get(run) === 1)).toBe(true)
  }, 180_000)

  it('that nobody serves yet keeps no other job waiting, and is run once, soon after somebody serves it', async () => {
    const runs: string[] = []
    const count = (_: unknown, { job }: { job: { id: string } }) => void runs.push(job.id)
    const newer = await given.jobs(AT_THE_HEAD, { version: 2 })
    const older = await given.jobs(500, { version: 1 })
    const settings = { queues: { default: { concurrency: 200 } }, poll: 50 }

    const oldOne = spillway.worker({ ...settings, jobs: [defineJob({ kind: 'test' }).handle(count)] })
    onTestFinished(() => oldOne.stop())
    await oldOne.start()
    await until(async () => (await checker.census())['completed'] === 500)
    const before = [...runs]
    const newOne = spillway.worker({ ...settings, jobs: [defineJob({ kind: 'test', version: 2 }).handle(count)] })
    onTestFinished(() => newOne.stop())
    await newOne.start()
    await until(async () => (await checker.census())['completed'] === AT_THE_HEAD + 500, { within: '120s', every: 200 })

    expect(before.sort()).toEqual([...older].sort())
    expect(runs.sort()).toEqual([...older, ...newer].sort())
  }, 180_000)

  it('at the head of the queue, served by others or by nobody, keeps claims under twice their time', async () => {
    const batches = async () => {
      const session = await store.register(workerInfo())
      const startedAt = performance.now()
      const claimed: string[] = []
      while (claimed.length < 2_000) claimed.push(...(await session.claim('default', 100)).map(({ id }) => id))
      const tookMs = performance.now() - startedAt
      await session.close()
      return { tookMs, claimed }
    }
    await given.jobs(2_000)
    await batches()
    await given.jobs(2_000)
    const baseline = await batches()

    await given.jobs(AT_THE_HEAD, { version: 2 })
    await given.jobs(4_000)
    const other = await given.worker({ kinds: ['test@2'] })
    const servedByOthers = await batches()
    await db.run(sql<[string], []>`delete from spillway.workers where registration = $1`, [other])
    const servedByNobody = await batches()

    // Generous, because a busy machine is not what this is about: test/store/passing.test.ts counts the rows.
    expect(servedByOthers.tookMs).toBeLessThan(2 * baseline.tookMs + 300)
    expect(servedByNobody.tookMs).toBeLessThan(2 * baseline.tookMs + 300)
  }, 60_000)
})

describeStore('a kind that was renamed', ({ store, given, url }) => {
  const spillway = new Spillway({ url })
  afterAll(() => spillway.close())

  it('runs what is stored under its old name: jobs that wait, and dead letters that are sent back', async () => {
    const ran: string[] = []
    const renamed = defineJob({ kind: 'send_mail', aliases: ['mail', 'email'] })
    const waiting = await given.job({ kind: 'email' })
    const dead = await given.job({ kind: 'mail', state: 'archived' })
    const worker = spillway.worker({
      queues: { default: {} },
      poll: 50,
      jobs: [renamed.handle((_, { job }) => void ran.push(job.kind))],
    })
    onTestFinished(() => worker.stop())
    await worker.start()

    const fresh = await spillway.enqueue(renamed, {})
    await spillway.dlq.retry(dead.id)
    for (const id of [waiting.id, dead.id, fresh.id]) {
      await until(async () => (await store.getJob(id))?.state === 'completed')
    }

    expect(ran.sort()).toEqual(['email', 'mail', 'send_mail'])
    expect((await store.getJob(dead.id))?.kind).toBe('mail')
  })

  it('cannot have two handlers under one name', () => {
    const jobs = [defineJob({ kind: 'a', aliases: ['b'] }), defineJob({ kind: 'b' })].map((it) =>
      it.handle(() => undefined),
    )

    expect(() => spillway.worker({ queues: { default: {} }, jobs })).toThrow(/two handlers for kind "b"/)
    expect(() => defineJob({ kind: 'a', aliases: ['a'] })).toThrow(/alias of itself/)
  })
})
