import { Spillway } from 'spillway'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { postgresStore } from '../../src/store/postgres/store.js'
import type { Store } from '../../src/store/store.js'
import { type CallbackSession, callbackSession, waitEnd } from '../store/callback-session.js'
import { effort } from '../support/effort.js'
import { until } from '../support/patience.js'
import { type CutAt, type DatabaseProxy, startProxy } from '../support/proxy.js'
import { finished, hurry } from '../support/settling-down.js'
import { describeStore } from '../support/store.js'
import { workerProcesses } from '../support/worker-process.js'

const MOMENTS: CutAt[] = ['before', 'answered', 'sent']
const EACH = Math.ceil(effort.cuts / MOMENTS.length)
const FAILURE = { name: 'CallbackFailed', message: 'no', code: null }

describeStore('a worker that is killed', ({ url, checker }) => {
  const spillway = new Spillway({ url })
  const workers = workerProcesses()
  afterAll(() => spillway.close())
  afterEach(() => workers.killAll())

  it('changes nothing for a job that waits for a callback', async () => {
    const worker = await workers.start({ url })
    const { id } = await spillway.enqueue('work', { do: 'ask' })
    await until(async () => (await spillway.jobs.get(id))?.state === 'waiting')
    const before = await spillway.jobs.get(id)

    await worker.kill('SIGKILL')
    await workers.start({ url })
    await until(async () => (await spillway.workers.list()).length === 1, { what: 'the end of its registration' })
    const meanwhile = await spillway.jobs.get(id)
    await spillway.callbacks.complete(workers.tokens()[0] as string, 'answer')
    await finished(checker)

    expect(meanwhile).toEqual(before)
    expect(await spillway.jobs.get(id)).toMatchObject({ state: 'completed', result: 'answer', crashAttempt: 0 })
    await checker.expectExactly([id])
  })

  it('between making its callback and waiting for it leaves an answer to its token valid', async () => {
    const worker = await workers.start({ url })
    const { id } = await spillway.enqueue('work', { do: 'ask', die: true })
    await worker.exited

    const { jobState } = await spillway.callbacks.complete(workers.tokens()[0] as string, 'answer')
    await workers.start({ url })
    const calm = hurry(url)
    await finished(checker)
    await calm()

    expect(['running', 'retryable']).toContain(jobState)
    expect(await spillway.jobs.get(id)).toMatchObject({
      state: 'completed',
      result: 'answer',
      attempt: 0,
      crashAttempt: 1,
    })
    expect(workers.noted().filter(({ what }) => what === 'end')).toHaveLength(1)
    await checker.expectExactly([id])
  })
})

describeStore('workers that are killed while jobs ask, wait and are answered', ({ url, checker }) => {
  const spillway = new Spillway({ url })
  const workers = workerProcesses()
  afterAll(() => spillway.close())
  afterEach(() => workers.killAll())

  it('lose no job and no answer', async () => {
    let [one, two] = [await workers.start({ url }), await workers.start({ url })]
    const jobs = await spillway.enqueueMany(
      Array.from({ length: 60 }, () => ({ job: 'work', payload: { do: 'ask', wait: 40 } })),
    )
    const answers = new Map<string, number>()
    const refused = new Set<string>()
    let answered = 0
    const answerAll = async () => {
      for (const token of workers.tokens().slice(answered)) {
        answered++
        const { jobId } = await spillway.callbacks.complete(token, 'answer').catch((error: { code: string }) => {
          refused.add(error.code)
          return { jobId: '' }
        })
        if (jobId !== '') answers.set(jobId, (answers.get(jobId) ?? 0) + 1)
      }
    }

    const calm = hurry(url)
    // Twice: a third crash could hold a job.
    await until(async () => {
      await answerAll()
      return answers.size > 10
    })
    await one.kill('SIGKILL')
    one = await workers.start({ url })
    await answerAll()
    await two.kill('SIGKILL')
    two = await workers.start({ url })
    await until(
      async () => {
        await answerAll()
        return (await checker.census())['completed'] === jobs.length
      },
      { what: 'the end of all jobs' },
    )
    await calm()

    await checker.expectExactly(jobs.map(({ id }) => id))
    expect(await spillway.jobs.get(jobs[0]!.id)).toMatchObject({ result: 'answer', attempt: 0 })
    expect([answers.size, Math.max(...answers.values())]).toEqual([jobs.length, 1])
    expect([...refused].filter((code) => code !== 'callback_settled' && code !== 'callback_gone')).toEqual([])
    expect([one.isAlive, two.isAlive]).toEqual([true, true])
  })
})

describeStore('a connection that is cut', ({ url, given, checker }) => {
  let proxy: DatabaseProxy
  let store: Store
  let worker: CallbackSession
  beforeAll(async () => {
    proxy = await startProxy(url)
    store = postgresStore({ url: proxy.url, listen: false, maxConnections: 2 })
  })
  afterAll(async () => {
    await store.close()
    await proxy.close()
  })
  beforeEach(async () => {
    worker = await callbackSession(store, given)
  })
  afterEach(() => worker.session.close())

  /** Runs `act` with its statement cut at every moment; `prepare` is left in peace. */
  async function cutting<T>(statement: RegExp, prepare: () => Promise<T>, act: (it: T) => Promise<void>) {
    for (const at of MOMENTS) {
      for (let n = 0; n < EACH; n++) {
        const it = await prepare()
        const cut = proxy.cut({ at, statement: (text) => statement.test(text) })
        try {
          await act(it)
          expect(cut.count, `no connection was cut ${at} ${statement}`).toBe(1)
        } finally {
          cut.lift()
        }
      }
    }
  }

  it('around a wait: the job waits, and the worker is told so', async () => {
    const prepare = async () => {
      const job = await worker.running()
      return { job, callback: await worker.open(job) }
    }

    await cutting(/insert into "spillway"\."waiting_jobs"/, prepare, async ({ job, callback }) => {
      const [settled] = await worker.session.settle([{ job, end: waitEnd(callback.id) }])
      expect(settled).toMatchObject({ state: 'waiting' })
      expect(settled?.outcome).toMatch(/applied/)
    })

    expect(await checker.census()).toEqual({ waiting: EACH * MOMENTS.length })
  })

  describe('around an answer: it is written once, and is not its own rival', () => {
    it('to a job that waits', async () => {
      await cutting(
        /set state = 'completed'/,
        () => worker.waiting(),
        async ({ job, callback }) => {
          expect(await store.completeCallback(callback.token, '1')).toMatchObject({
            jobId: job.id,
            jobState: 'available',
          })
          expect(await store.getJob(job.id)).toMatchObject({ state: 'available', runLease: 1 })
        },
      )
    })

    it('that is a failure', async () => {
      await cutting(
        /set state = 'failed'/,
        () => worker.waiting(),
        async ({ callback }) => {
          expect(await store.failCallback(callback.token, FAILURE)).toMatchObject({ jobState: 'retryable' })
        },
      )

      expect(await checker.census()).toEqual({ retryable: EACH * MOMENTS.length })
    })

    it('that comes early', async () => {
      const prepare = async () => {
        const job = await worker.running()
        return { job, callback: await worker.open(job) }
      }

      await cutting(/not c\.waiting/, prepare, async ({ job, callback }) => {
        expect(await store.completeCallback(callback.token, '1')).toMatchObject({ jobState: 'running' })
        expect(await worker.session.callbackAnswer(job, callback.id)).toEqual({ state: 'completed', answer: '1' })
        await worker.session.settle([{ job, end: { event: 'complete', result: null } }])
      })
    })
  })

  it('around a sweep of time-outs: each is charged once', async () => {
    await cutting(
      /set state = 'timed_out'/,
      () => given.jobs(3, { state: 'waiting', waitsUntil: new Date(0) }),
      async () => {
        await store.timeOutCallbacks(100).catch(() => undefined)
        await store.timeOutCallbacks(100)
      },
    )

    expect(await checker.census()).toEqual({ retryable: 3 * EACH * MOMENTS.length })
  })
})
