import { type Callback, CallbackPending, defineJob, type HandlerContext, Spillway, type Worker } from 'spillway'
import { type Signal, signal } from 'spillway/testing'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'

const work = defineJob<unknown>({ kind: 'work', backoff: () => 5, maxAttempts: 3 })

describeStore('a handler that waits for a callback', ({ url, db, store, checker }) => {
  const spillway = new Spillway({ url, callbackUrl: 'https://jobs.example.com/callbacks/' })
  afterAll(() => spillway.close())

  let worker: Worker | undefined
  let made: Signal<Callback>
  let ran: Signal<string>
  beforeEach(() => {
    made = signal<Callback>()
    ran = signal<string>()
  })
  afterEach(async () => {
    await worker?.stop({ grace: 100, abort: 100 })
    worker = undefined
  })

  type Run = (context: HandlerContext) => unknown
  const start = async (run: Run, definition = work, concurrency = 2) => {
    worker = spillway.worker({
      queues: { default: { concurrency } },
      poll: 50,
      heartbeat: 500,
      stale: 1_500,
      jobs: [
        definition.handle((_, context) => {
          ran.fire(context.job.id)
          return run(context)
        }),
      ],
    })
    await worker.start()
    return worker
  }
  const enqueue = async (definition = work) => (await spillway.enqueue(definition, {})).id
  const inState = (id: string, state: string) =>
    until(async () => (await spillway.jobs.get(id))?.state === state, { what: `job ${id} to be ${state}` })
  /** Asks for an answer, and waits for it. */
  const ask = async (context: HandlerContext, name = 'approval', timeout?: number) => {
    const callback = await context.callback<unknown>(name, timeout === undefined ? {} : { timeout })
    made.fire(callback)
    return callback.result()
  }

  it('is entered again when the answer has come, and completes with it', async () => {
    await start(async (context) => ({ answer: await ask(context) }))
    const waiting = signal<string>()
    worker?.on('waiting', ({ callback }) => waiting.fire(callback))
    const id = await enqueue()
    const callback = await made.next()
    const told = await waiting.next()

    const answered = await spillway.callbacks.complete(callback.token, { ok: true })

    expect(told).toBe('approval')
    expect(answered).toMatchObject({ jobId: id, callbackId: callback.id, name: 'approval', jobState: 'available' })
    await inState(id, 'completed')
    expect(await spillway.jobs.get(id)).toMatchObject({ result: { answer: { ok: true } }, attempt: 0, runLease: 2 })
    expect(ran.count).toBe(2)
  })

  it('holds no slot meanwhile', async () => {
    await start((context) => (context.job.tags.includes('waits') ? ask(context) : 'done'), work, 1)
    const waits = await spillway.enqueue(work, {}, { tags: ['waits'] })
    await inState(waits.id, 'waiting')

    const other = await enqueue()

    await inState(other, 'completed')
    expect(worker?.running).toBe(0)
  })

  it('has an address that its callbackUrl and token make, and a token nobody can guess', async () => {
    await start(ask)
    await enqueue()

    const callback = await made.next()

    expect(callback.url).toBe(`https://jobs.example.com/callbacks/${callback.token}`)
    expect(Buffer.from(callback.token, 'base64url')).toHaveLength(32)
  })

  it('fails clearly where the address is asked for and none was configured', async () => {
    const plain = new Spillway({ url })
    const once = defineJob({ kind: 'once', maxAttempts: 1 })
    worker = plain.worker({
      queues: { default: {} },
      jobs: [once.handle(async (_, context) => (await context.callback('approval')).url)],
    })
    await worker.start()

    const { id } = await spillway.enqueue(once, {})
    await inState(id, 'archived')

    expect((await spillway.jobs.get(id))?.dlq?.errorMessage).toMatch(
      /callback "approval" has no url: give `callbackUrl`/,
    )
    await worker.stop()
    await plain.close()
  })

  it('refuses a callbackUrl that is none', () => {
    expect(() => spillway.worker({ queues: { q: {} }, jobs: [work.handle(() => 1)], callbackUrl: 'ftp://x' })).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    )
  })

  it('gets an answer at once that came before it asked for the result', async () => {
    await start(async (context) => {
      const callback = await context.callback('approval')
      await spillway.callbacks.complete(callback.token, 'early')
      return callback.result()
    })

    const id = await enqueue()

    await inState(id, 'completed')
    expect(await spillway.jobs.get(id)).toMatchObject({ result: 'early', runLease: 1 })
    expect(ran.count).toBe(1)
  })

  it('waits for one after the other, and keeps the answers it has', async () => {
    await start(async (context) => [await ask(context, 'first'), await ask(context, 'second')])
    const id = await enqueue()

    // Answered earlier, the handler would not have to be entered again.
    await inState(id, 'waiting')
    await spillway.callbacks.complete((await made.next()).token, 1)
    await until(async () => {
      const job = await spillway.jobs.get(id)
      return job?.state === 'waiting' && job.callback?.name === 'second'
    })
    const second = await until(async () => {
      const it = await made.next()
      return it.name === 'second' ? it : undefined
    })
    await spillway.callbacks.complete(second.token, 2)

    await inState(id, 'completed')
    expect(await spillway.jobs.get(id)).toMatchObject({ result: [1, 2] })
    expect(ran.count).toBe(3)
  })

  it('waits for several at the same time, in whatever order they are answered', async () => {
    const names = ['a', 'b', 'c']
    const tokens = new Map<string, string>()
    await start(async (context) => {
      const callbacks = await Promise.all(names.map((name) => context.callback(name)))
      for (const { name, token } of callbacks) tokens.set(name, token)
      return Promise.all(callbacks.map((it) => it.result()))
    })
    const id = await enqueue()

    for (const name of ['c', 'a', 'b']) {
      await inState(id, 'waiting')
      await spillway.callbacks.complete(tokens.get(name) as string, name)
    }

    await inState(id, 'completed')
    expect(await spillway.jobs.get(id)).toMatchObject({ result: names })
  })

  it('gets the same callback for the same name, also twice in one run', async () => {
    const ids = new Set<string>()
    await start(async (context) => {
      const [one, two] = [await context.callback('approval'), await context.callback('approval')]
      ids.add(one.id).add(two.id)
      made.fire(one)
      return [await one.result(), await two.result()]
    })
    const id = await enqueue()

    await spillway.callbacks.complete((await made.next()).token, 1)

    await inState(id, 'completed')
    expect(await spillway.jobs.get(id)).toMatchObject({ result: [1, 1] })
    expect(ids.size).toBe(1)
  })

  it('may never ask for the result: the job completes, and its token answers nothing', async () => {
    await start(async (context) => {
      made.fire(await context.callback('approval'))
    })
    const id = await enqueue()
    await inState(id, 'completed')

    await expect(spillway.callbacks.complete((await made.next()).token)).rejects.toMatchObject({
      code: 'callback_gone',
      jobState: 'completed',
    })
  })

  it('runs its finally blocks, and changes nothing by catching what ends it', async () => {
    const seen: unknown[] = []
    await start(async (context) => {
      try {
        return await ask(context)
      } catch (error) {
        seen.push(error)
        return 'swallowed'
      } finally {
        seen.push('finally')
      }
    })
    const id = await enqueue()
    await inState(id, 'waiting')

    await spillway.callbacks.complete((await made.next()).token, 'answer')

    await inState(id, 'completed')
    expect(seen).toEqual([expect.any(CallbackPending), 'finally', 'finally'])
    expect(await spillway.jobs.get(id)).toMatchObject({ result: 'answer', attempt: 0 })
  })

  it('waits also where nobody awaits the result, without an unhandled rejection', async () => {
    await start(async (context) => {
      const callback = await context.callback('approval')
      made.fire(callback)
      void callback.result()
      // Goes the same way behind it, so it is known by then that there is no answer.
      await context.progress('asked')
      return 'returned'
    })
    const id = await enqueue()

    await inState(id, 'waiting')
    await spillway.callbacks.complete((await made.next()).token, 1)

    await inState(id, 'completed')
  })

  it('has its own time-out stand still while it waits', async () => {
    const limited = defineJob({ kind: 'limited', timeout: 150, maxAttempts: 1 })
    await start(ask, limited)
    const id = await enqueue(limited)
    await inState(id, 'waiting')

    const waited = Date.now()
    await until(() => Date.now() - waited > 200, { what: 'more than its time-out' })
    await spillway.callbacks.complete((await made.next()).token, 1)

    await inState(id, 'completed')
    expect(await spillway.jobs.get(id)).toMatchObject({ attempt: 0 })
  })

  describe('and whose callback fails', () => {
    it('has failed, and asks anew in its next attempt', async () => {
      await start(ask)
      const id = await enqueue()
      const first = await made.next()
      await inState(id, 'waiting')

      const { jobState } = await spillway.callbacks.fail(first.token, new TypeError('declined'))
      const second = await made.next()
      await inState(id, 'waiting')
      await spillway.callbacks.complete(second.token, 'approved')

      await inState(id, 'completed')
      expect(jobState).toBe('retryable')
      expect(second.id).not.toBe(first.id)
      const job = await spillway.jobs.get(id)
      expect(job).toMatchObject({ attempt: 1, result: 'approved' })
      expect(job?.history).toMatchObject([{ type: 'callback_failed', name: 'TypeError', message: 'declined' }])
    })

    it('dies of it on its last attempt, in one group whether it waited or not', async () => {
      const once = defineJob({ kind: 'once', maxAttempts: 1 })
      await start(async (context) => {
        const callback = await context.callback('approval')
        made.fire(callback)
        if (context.job.tags.includes('early')) await spillway.callbacks.fail(callback.token, 'declined')
        return callback.result()
      }, once)
      const early = await spillway.enqueue(once, {}, { tags: ['early'] })
      await made.next()
      const late = await enqueue(once)
      const callback = await made.next()
      await inState(late, 'waiting')

      await spillway.callbacks.fail(callback.token, 'declined')

      await inState(early.id, 'archived')
      const [one, two] = [await spillway.jobs.get(early.id), await spillway.jobs.get(late)]
      expect(one?.dlq).toMatchObject({ reason: 'attempts_exhausted', errorClass: 'CallbackFailed' })
      expect(two?.dlq).toMatchObject({ reason: 'attempts_exhausted', cause: one?.dlq?.cause })
      expect(one?.history?.at(-1)).toMatchObject({ type: 'callback_failed', message: 'declined', callback: 'approval' })
    })

    it('cannot catch it, as it could not had it waited', async () => {
      const once = defineJob({ kind: 'once', maxAttempts: 1 })
      await start(async (context) => {
        const callback = await context.callback('approval')
        await spillway.callbacks.fail(callback.token, 'declined')
        await callback.result().catch(() => undefined)
        return 'fine'
      }, once)

      const id = await enqueue(once)

      await inState(id, 'archived')
    })

    it('is tried again after a time-out, and archived with callback_timeout in the end', async () => {
      await start((context) => ask(context, 'approval', 20))
      const id = await enqueue()

      await inState(id, 'archived')

      const job = await spillway.jobs.get(id)
      expect(job).toMatchObject({ attempt: 3, dlq: { reason: 'callback_timeout', errorClass: 'CallbackTimeout' } })
      expect(job?.history?.map(({ type }) => type)).toEqual(Array(3).fill('callback_failed'))
      expect(ran.count).toBe(3)
    })
  })

  it('waits no more when its job is cancelled', async () => {
    await start(ask)
    const id = await enqueue()
    const callback = await made.next()
    await inState(id, 'waiting')

    await spillway.jobs.cancel(id)

    await expect(spillway.callbacks.complete(callback.token)).rejects.toMatchObject({ jobState: 'cancelled' })
    expect(ran.count).toBe(1)
  })

  it('is left alone by a heartbeat that asks for more time', async () => {
    await start((context) => ask(context, 'approval', 60_000))
    const id = await enqueue()
    const callback = await made.next()
    await inState(id, 'waiting')

    const { waitsUntil } = await spillway.callbacks.heartbeat(callback.token, { timeout: '1h' })

    expect((waitsUntil?.getTime() ?? 0) - Date.now()).toBeGreaterThan(3_000_000)
    expect((await spillway.jobs.get(id))?.callback).toMatchObject({ name: 'approval', waitsUntil })
  })

  it('goes to the dead letters where its deadline has passed, not to the waiting ones', async () => {
    await start(async (context) => {
      await db.run(sql`select pg_sleep(0.2)`, [])
      return ask(context)
    })

    const { id } = await spillway.enqueue(work, {}, { deadline: new Date(Date.now() + 100) })

    await inState(id, 'archived')
    expect((await spillway.jobs.get(id))?.dlq?.reason).toBe('deadline_exceeded')
  })

  it('makes no callback once it has lost its job', async () => {
    const errors: unknown[] = []
    await start(async (context) => {
      await store.cancelJob(context.job.id, { actor: 'test' })
      await context.callback('approval').catch((error: unknown) => errors.push(error))
    })
    const id = await enqueue()

    await until(() => errors.length === 1)

    expect(errors).toMatchObject([{ code: 'lease_lost' }])
    expect(await spillway.jobs.get(id)).toMatchObject({ state: 'cancelled' })
  })

  it.each([
    ['a name', (context: HandlerContext) => context.callback('')],
    ['a timeout', (context: HandlerContext) => context.callback('approval', { timeout: 0 })],
  ])('is told of %s that is none', async (_, make) => {
    const once = defineJob({ kind: 'once', maxAttempts: 1 })
    await start(async (context) => make(context).catch((error: { code: string }) => error.code), once)

    const id = await enqueue(once)

    await inState(id, 'completed')
    expect(await spillway.jobs.get(id)).toMatchObject({ result: 'invalid_option' })
  })

  describe('an answer', () => {
    it.each([
      ['too large', 'x'.repeat(70_000), 'payload_too_large'],
      ['with U+0000', { a: ['\0'] }, 'payload_refused'],
      ['with half a surrogate pair', '\ud800', 'payload_refused'],
      ['that is no JSON', { n: 1n }, 'payload_refused'],
    ])('%s is refused, and the job waits on', async (_, value, code) => {
      await start(ask)
      const id = await enqueue()
      const callback = await made.next()
      await inState(id, 'waiting')

      await expect(spillway.callbacks.complete(callback.token, value)).rejects.toMatchObject({ code })

      expect(await checker.census()).toEqual({ waiting: 1 })
    })

    it.each(['', 'x', 'x'.repeat(10_000), '\0', 7 as unknown as string])(
      'to a token that is none (%j) finds nothing',
      async (token) => {
        await expect(spillway.callbacks.complete(token)).rejects.toMatchObject({ code: 'callback_not_found' })
        await expect(spillway.callbacks.fail(token)).rejects.toMatchObject({ code: 'callback_not_found' })
        await expect(spillway.callbacks.heartbeat(token)).rejects.toMatchObject({ code: 'callback_not_found' })
      },
    )
  })
})
