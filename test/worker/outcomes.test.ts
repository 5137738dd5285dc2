import { defineJob, type Handler, type Job, rateLimited, retryAfter, revoke, Spillway, skip, snooze } from 'spillway'
import { signal } from 'spillway/testing'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import type { SpillwayWorkerOptions } from '../../src/index.js'
import { Executor } from '../../src/worker/executor.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'

const kind = defineJob({ kind: 'test', backoff: () => 3_600_000 })

describeStore('how an attempt ends', ({ store, given, url }) => {
  const spillway = new Spillway({ url })
  afterAll(() => spillway.close())

  const work = async (run: Handler<unknown>, options: Partial<SpillwayWorkerOptions> = {}) => {
    const worker = spillway.worker({
      queues: { default: {} },
      poll: 50,
      maintenance: false,
      jobs: [kind.handle(run)],
      ...options,
    })
    onTestFinished(() => worker.stop({ grace: 20, abort: 100 }))
    await worker.start()
    return worker
  }
  const inMs = (job: Job | undefined) => (job?.runAt.getTime() ?? 0) - Date.now()
  const ends = async (id: string, ...states: string[]) => {
    await until(async () => states.includes((await store.getJob(id))?.state ?? 'gone'))
    return store.getJob(id, { payload: true })
  }

  /** Each word of a handler, and what has become of a job with two failures of five. */
  const WORDS = [
    ['skip', () => skip('no_such_user', { id: 7 }), { state: 'archived', attempt: 2 }],
    ['revoke', () => revoke(), undefined],
    ['snooze', () => snooze('1h'), { state: 'scheduled', attempt: 2 }],
    ['retryAfter', () => retryAfter('1h', new Error('later')), { state: 'retryable', attempt: 3 }],
    ['rateLimited', () => rateLimited('1h'), { state: 'scheduled', attempt: 2 }],
  ] as const
  const TOLD = [
    ['returned', (word: () => unknown) => word()],
    ['returned later', async (word: () => unknown) => word()],
    [
      'thrown',
      (word: () => unknown) => {
        throw word()
      },
    ],
    ['thrown later', (word: () => unknown) => Promise.reject(word() as Error)],
  ] as const
  const each = WORDS.flatMap(([name, word, becomes]) =>
    TOLD.map(([how, tell]) => [name, how, word, tell, becomes] as const),
  )

  it.each(each)('is what %s says, %s', async (name, _, word, tell, becomes) => {
    const job = await given.job({ attempt: 2, maxAttempts: 5, handbacks: 3 })

    await work(() => tell(word))
    const after = await ends(job.id, becomes?.state ?? 'gone')

    expect(after && { state: after.state, attempt: after.attempt }).toEqual(becomes)
    if (after === undefined) return
    expect(after).toMatchObject({ crashAttempt: 0, handbacks: 0 })
    if (after.state === 'archived') {
      expect(after.dlq).toMatchObject({ reason: 'skipped', errorMessage: 'no_such_user' })
      expect(after.history?.at(-1)).toMatchObject({ type: 'skipped', code: 'no_such_user', details: { id: 7 } })
    } else {
      expect(inMs(after)).toBeGreaterThan(3_500_000)
      if (name === 'retryAfter') expect(after.history?.at(-1)).toMatchObject({ type: 'error', message: 'later' })
    }
  })

  it('is exhaustion where retryAfter was the last attempt', async () => {
    const job = await given.job({ attempt: 4, maxAttempts: 5 })

    await work(() => retryAfter('1h', new Error('later')))

    expect(await ends(job.id, 'archived')).toMatchObject({ attempt: 5, dlq: { reason: 'attempts_exhausted' } })
  })

  it('keeps this worker from the kind and queue until the limit is over, and no other', async () => {
    const ran: string[] = []
    const first = await given.job({ queue: 'a', payload: { limited: true } })
    await work(
      (payload, { job }) => {
        ran.push(`${job.queue} ${job.kind}`)
        return (payload as { limited?: boolean }).limited ? rateLimited('1h') : undefined
      },
      {
        queues: { a: { concurrency: 1 }, b: {} },
        jobs: [
          kind.handle((payload, { job }) => {
            ran.push(`${job.queue} ${job.kind}`)
            return (payload as { limited?: boolean }).limited ? rateLimited('1h') : undefined
          }),
          defineJob({ kind: 'other' }).handle((_, { job }) => void ran.push(`${job.queue} ${job.kind}`)),
        ],
      },
    )
    await ends(first.id, 'scheduled')

    const same = await given.job({ queue: 'a' })
    const others = [await given.job({ queue: 'a', kind: 'other' }), await given.job({ queue: 'b' })]
    for (const { id } of others) await ends(id, 'completed')

    expect((await store.getJob(same.id))?.state).toBe('available')
    expect(ran.sort()).toEqual(['a other', 'a test', 'b test'])
  })

  it('is a time-out where the handler never settles, and its late end changes nothing', async () => {
    const release = signal()
    const ended = signal()
    const job = await given.job({ timeoutMs: 150, maxAttempts: 3 })
    const reasons: unknown[] = []
    const worker = await work(async (_, { signal: aborted }) => {
      aborted.addEventListener('abort', () => reasons.push((aborted.reason as { why: string }).why))
      await release.next()
      ended.fire()
    })

    const after = await ends(job.id, 'retryable')

    expect(after).toMatchObject({ attempt: 1, history: [{ type: 'timeout', name: 'AttemptTimeout' }] })
    expect(reasons).toEqual(['timeout'])
    // The slot stays taken until the handler really ends.
    expect(worker.running).toBe(1)
    release.fire()
    await ended.next()
    await until(() => worker.running === 0)
    expect(await store.getJob(job.id)).toMatchObject({ state: 'retryable', attempt: 1 })
  })

  it('is the deadline where that comes first: at the claim, while it runs, and before what the handler says', async () => {
    const entered: string[] = []
    const late = await given.job({ deadline: new Date(Date.now() - 1_000), attempt: 1 })
    const soon = await given.job({ deadline: new Date(Date.now() + 1_000), attempt: 1 })
    const said = await given.job({ deadline: new Date(Date.now() + 1_000), payload: { returns: true } })

    await work(async (payload, { job, signal: aborted }) => {
      entered.push(job.id)
      await new Promise<void>((resolve) => aborted.addEventListener('abort', () => resolve()))
      return (payload as { returns?: boolean }).returns ? { result: 1 } : skip('too_late')
    })

    for (const { id, attempt } of [late, soon, said]) {
      expect(await ends(id, 'archived')).toMatchObject({ attempt, dlq: { reason: 'deadline_exceeded' } })
    }
    expect(entered.sort()).toEqual([soon.id, said.id].sort())
  })

  it('is the deadline again for a dead letter sent back with what it had, which is refused', async () => {
    const dead = await given.job({ state: 'archived', deadline: new Date(Date.now() - 1_000) })

    await expect(spillway.jobs.retry(dead.id)).rejects.toMatchObject({ code: 'deadline_passed' })
    const fresh = await spillway.dlq.retry(dead.id)
    await work(() => undefined)

    expect(fresh.state).toBe('available')
    expect(await ends(dead.id, 'completed')).toMatchObject({ deadline: null })
  })

  it('drains the worker when handlers that ignore their signal hold half its slots', async () => {
    const stuck: unknown[] = []
    const stopped = signal()
    const release = signal()
    const ids = await given.jobs(2, { timeoutMs: 100, maxAttempts: 1 })
    const worker = await work(async () => void (await release.next({ within: '60s' })), {
      queues: { default: { concurrency: 4 } },
      onStuck: (event) => stuck.push(event),
    })
    worker.on('stopped', () => stopped.fire())

    for (const id of ids) expect(await ends(id, 'archived')).toMatchObject({ dlq: { reason: 'attempts_exhausted' } })
    await until(() => stuck.length > 0)
    const after = await given.job({})

    expect(stuck).toEqual([{ slots: 2, of: 4 }])
    expect((await store.getJob(after.id))?.state).toBe('available')
    release.fire()
    release.fire()
    await stopped.next({ within: '30s' })
  })

  it('frees the slot of a handler that listens to its signal', async () => {
    const stuck: unknown[] = []
    const job = await given.job({ timeoutMs: 100, maxAttempts: 1 })
    const worker = await work(
      (_, { signal: aborted }) =>
        new Promise((_, reject) => aborted.addEventListener('abort', () => reject(aborted.reason as Error))),
      { queues: { default: { concurrency: 1 } }, onStuck: (event) => stuck.push(event) },
    )

    await ends(job.id, 'archived')
    await until(() => worker.running === 0)
    const next = await given.job({ timeoutMs: null })
    await ends(next.id, 'running')

    expect(stuck).toEqual([])
  })

  it.each(['scheduled', 'retryable'] as const)('kills a %s job that waits for its next attempt', async (state) => {
    const job = await given.job({ state, attempt: 1, uniqueKey: 'k' })

    await spillway.jobs.kill(job.id, { reason: 'not wanted' })

    expect(await store.getJob(job.id)).toMatchObject({ state: 'archived', attempt: 1, dlq: { reason: 'not wanted' } })
  })
})

it('a schema that never answers does not keep a slot for good', async () => {
  const schema = {
    '~standard': { version: 1, vendor: 'own', validate: () => new Promise<never>(() => undefined) },
  } as const
  const handler = defineJob({ kind: 'test', schema }).handle(() => undefined)
  const executor = new Executor({ handlers: new Map(), workerName: 'test', clockOffset: () => 0, decodeMs: 30 })

  const decoded = await executor.decode({ version: 1, payload: '{}' }, handler)

  expect(decoded).toMatchObject({ ok: false, message: expect.stringContaining('longer than 30 ms') })
})

it('an upcast that blocks the worker for too long is not waited for again', async () => {
  const block = (value: never) => {
    const until = performance.now() + 60
    while (performance.now() < until);
    return value
  }
  const handler = defineJob({ kind: 'test', version: 2, upcast: { 1: block } }).handle(() => undefined)
  const executor = new Executor({ handlers: new Map(), workerName: 'test', clockOffset: () => 0, decodeMs: 30 })

  expect(await executor.decode({ version: 1, payload: '{}' }, handler)).toMatchObject({ ok: false })
})
