import { defineJob, type JobHandler, Spillway, type Worker } from 'spillway'
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'
import { workerInfo } from '../support/worker-info.js'

const MiB = 1024 * 1024

/** Things handlers have thrown at queues. Each is made anew, because some are spent by looking at them. */
const THROWN: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  'an empty text': () => '',
  'the number 0': () => 0,
  'a symbol': () => Symbol('x'),
  'a function': () => () => 1,
  'an empty object': () => ({}),
  'an object whose message is a number': () => ({ message: 5 }),
  'an object without prototype': () => Object.create(null),
  'an object whose getters throw': () =>
    Object.defineProperty({}, 'message', {
      get: () => {
        throw new Error('getter')
      },
    }),
  'an error whose message throws': () =>
    Object.defineProperty(new Error('x'), 'message', {
      get: () => {
        throw new Error('getter')
      },
    }),
  'a proxy that refuses everything': () =>
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('no')
        },
        has: () => {
          throw new Error('no')
        },
      },
    ),
  'an error that contains itself': () => {
    const error: Error & { response?: unknown } = new Error('circular')
    error.response = { request: { response: error } }
    return error
  },
  'an error that causes itself': () => {
    const error = new Error('circle')
    error.cause = error
    return error
  },
  'a thousand errors in one': () =>
    new AggregateError(
      Array.from({ length: 1_000 }, (_, n) => new Error(`error ${n}`)),
      'many',
    ),
  'text with U+0000': () => new Error('a\u0000b'),
  'half a surrogate pair': () => new Error('a\ud800b'),
  'text that spells U+0000': () => new Error('a\\u0000b'),
  'separators of the store': () => new Error('a\u001fb\u001ec'),
  'a message of 10 MiB': () => new Error('m'.repeat(10 * MiB)),
  'a stack of 50 MiB': () =>
    Object.assign(new Error('deep'), { stack: `Error: deep\n${'    at f (file.js:1:1)\n'.repeat(2 * MiB)}` }),
}

describeStore('an attempt that ends badly', ({ store, given, db, url, checker }) => {
  const spillway = new Spillway({ url, maxPayloadBytes: 2 * MiB })
  let worker: Worker | undefined
  const job = defineJob<{ how: string }>({ kind: 'test', backoff: () => 1, maxAttempts: 1 })

  afterAll(() => spillway.close())
  afterEach(async () => {
    await worker?.stop({ grace: 100, abort: 100 })
    worker = undefined
  })

  const start = async (...jobs: JobHandler[]) => {
    worker = spillway.worker({ queues: { default: { concurrency: 5 } }, poll: 100, jobs })
    await worker.start()
  }

  it.each(Object.keys(THROWN))('is recorded, and the next job runs, whatever is thrown: %s', async (how) => {
    const { id } = await spillway.enqueue(job, { how })
    const next = await spillway.enqueue(job, { how: 'well' })

    await start(
      job.handle((payload) => {
        if (payload.how !== 'well') throw THROWN[payload.how]?.()
      }),
    )
    await until(async () => (await checker.census())['archived'] === 1 && (await checker.census())['completed'] === 1)

    const dead = await spillway.dlq.get(id)
    expect(dead?.dlq?.reason).toBe('attempts_exhausted')
    const [entry] = dead?.history ?? []
    expect(entry).toMatchObject({ type: 'error', attempt: 0, message: expect.stringMatching(/./) })
    expect(JSON.stringify(entry).length).toBeLessThan(66_000)
    expect((await spillway.jobs.get(next.id))?.state).toBe('completed')
  })

  it('keeps the first and the last of 25 attempts of a megabyte each, within the bound', async () => {
    const patient = defineJob({ kind: 'patient', backoff: () => 1, maxAttempts: 25 })
    const { id } = await spillway.enqueue(patient, {})

    await start(
      patient.handle((_, { job: { attempt } }) => {
        throw new Error(`attempt ${attempt}: ${'x'.repeat(MiB)}`)
      }),
    )
    await until(async () => (await checker.census())['archived'] === 1)

    const history = (await spillway.dlq.get(id))?.history ?? []
    const messages = history.map((entry) => ('message' in entry ? entry.message.slice(0, 10) : entry.type))
    expect([messages[0], messages.at(-1)]).toEqual(['attempt 0:', 'attempt 24'])
    const [size] = await db.runRaw<[], [string]>(
      { name: 'size', text: 'select octet_length(history::text) from spillway.dlq_entries' },
      [],
    )
    expect(Number(size?.[0])).toBeLessThanOrEqual(256 * 1024)
  })

  it('does not end those of others: 1 payload of 100 that cannot be read is parked, 99 run', async () => {
    const exact = defineJob<{ n: number }>({ kind: 'test' })
    await given.jobs(99, { payloadText: '{"n":1}' })
    const [id] = await given.jobs(1, { payloadText: '{"n":9007199254740993}' })

    await start(exact.handle(() => undefined))
    await until(
      async () => (await checker.census())['completed'] === 99 && (await checker.census())['undecodable'] === 1,
    )

    const parked = await spillway.jobs.get(id as string)
    expect(parked).toMatchObject({
      state: 'undecodable',
      attempt: 0,
      crashAttempt: 0,
      history: [{ type: 'undecodable', path: 'n' }],
    })
    expect(await spillway.jobs.list({}, { limit: 200 })).toMatchObject({ items: { length: 100 } })
  })

  it('makes two dead letters of one payload that two kinds could not handle, each for itself', async () => {
    const [mail, bill] = [defineJob({ kind: 'mail', maxAttempts: 1 }), defineJob({ kind: 'bill', maxAttempts: 1 })]
    const ids = (
      await spillway.enqueueMany([
        { job: mail, payload: { order: 1 } },
        { job: bill, payload: { order: 1 } },
      ])
    ).map(({ id }) => id)
    const fail = () => {
      throw new Error('it failed')
    }
    await start(mail.handle(fail), bill.handle(fail))
    await until(async () => (await checker.census())['archived'] === 2)
    await worker?.stop()

    await spillway.dlq.retry(ids[0] as string)

    expect(await checker.census()).toEqual({ archived: 1, available: 1 })
    expect((await spillway.dlq.get(ids[1] as string))?.kind).toBe('bill')
  })

  it('takes only the word of the attempt from the worker, and everything else from the stored job', async () => {
    const [id] = await given.jobs(1, { payload: { cents: 1 }, maxAttempts: 5 })
    const session = await store.register(workerInfo())
    const [claimed] = await session.claim('default', 1)
    const forged = Object.create(claimed as object, {
      payload: { value: '{"cents":1000000}' },
      kind: { value: 'forged' },
      queue: { value: 'forged' },
      attempt: { value: 99 },
    })
    const end = {
      event: 'dead',
      reason: 'skipped',
      charge: 0,
      entry: null,
      cause: 'c',
      errorClass: null,
      errorMessage: null,
      title: 'no_such_user',
    } as const

    const stranger = Object.create(forged, { id: { value: '999999999' } })
    const settled = await session.settle([
      { job: forged, end },
      { job: stranger, end },
    ])

    expect(settled.map(({ outcome }) => outcome)).toEqual(['applied', 'lost'])
    expect(await store.getJob(id as string, { payload: true })).toMatchObject({
      state: 'archived',
      kind: 'test',
      queue: 'default',
      attempt: 0,
      payload: { cents: 1 },
    })
    expect(await checker.census()).toEqual({ archived: 1 })
    await session.close()
  })

  it('keeps the key of a job that runs and fails, so that no other takes it meanwhile', async () => {
    let free: (() => void) | undefined
    const held = new Promise<void>((resolve) => {
      free = resolve
    })
    const keyed = defineJob({ kind: 'test', backoff: () => 3_600_000, maxAttempts: 3 })
    const first = await spillway.enqueue(keyed, {}, { unique: 'order-1' })
    await start(
      keyed.handle(async () => {
        await held
        throw new Error('it failed')
      }),
    )
    await until(async () => (await checker.census())['running'] === 1)

    const meanwhile = await spillway.enqueue(keyed, {}, { unique: 'order-1' })
    free?.()
    await until(async () => (await checker.census())['retryable'] === 1)

    expect(meanwhile).toEqual({ id: first.id, inserted: false })
    expect(await spillway.jobs.get(first.id)).toMatchObject({ state: 'retryable', attempt: 1, uniqueKey: 'order-1' })
    expect(await checker.census()).toEqual({ retryable: 1 })
  })
})

describeStore('a worker that does not know everything', ({ store, given, url, checker }) => {
  let spillway: Spillway
  beforeEach(() => {
    spillway = new Spillway({ url, listen: false })
  })
  afterEach(() => spillway.close())

  it('leaves kinds and versions alone that it does not serve, and one that does runs them', async () => {
    const [newer] = await given.jobs(1, { version: 2 })
    await given.jobs(1, { kind: 'other' })
    const [known] = await given.jobs(1)
    const old = await store.register(workerInfo())
    const young = await store.register(
      workerInfo({
        serves: [
          { kind: 'test', version: 1 },
          { kind: 'test', version: 2 },
        ],
      }),
    )

    const byOld = await old.claim('default', 10)
    const byYoung = await young.claim('default', 10)

    expect(byOld.map(({ id }) => id)).toEqual([known])
    expect(byYoung.map(({ id, attempt }) => [id, attempt])).toEqual([[newer, 0]])
    await Promise.all([old.close(), young.close()])
  })

  it('finds what was retried although no notice reaches it', async () => {
    const dead = await given.job({ state: 'archived' })
    const worker = spillway.worker({
      queues: { default: {} },
      maintenance: false,
      jobs: [defineJob({ kind: 'test' }).handle(() => undefined)],
    })
    await worker.start()

    await store.retryJob(
      dead.id,
      { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false },
      { actor: 'test' },
    )

    await until(async () => (await checker.census())['completed'] === 1)
    await worker.stop()
  })
})
