import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { JOB_STATES } from '../../src/job/states.js'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'
import { type CallbackSession, callbackSession, newToken, waitEnd } from './callback-session.js'
import { lockWaits } from './heard.js'

const ACT = { actor: 'test' }
const FRESH = { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false } as const
const FAILURE = { name: 'CallbackFailed', message: 'no', code: null }
const code = (name: string, more: object = {}) => expect.objectContaining({ code: name, ...more })

describeStore('a job that waits for a callback', ({ store, given, db, checker, clock, inTransaction }) => {
  let worker: CallbackSession
  beforeEach(async () => {
    worker = await callbackSession(store, given)
  })
  afterEach(() => worker.session.close())

  it('has left its lease, uncharged, and shows what it waits for but not how to answer it', async () => {
    const job = await worker.running({ attempt: 1, handbacks: 3, uniqueKey: 'k', tags: ['t'] })
    await worker.session.progress(job, '{"step":"asked"}')
    const callback = await worker.open(job, 'approval', 60_000)

    const settled = await worker.session.settle([{ job, end: waitEnd(callback.id) }])

    expect(settled).toEqual([{ outcome: 'applied', state: 'waiting' }])
    const shown = await store.getJob(job.id, { payload: true })
    expect(shown).toMatchObject({
      state: 'waiting',
      attempt: 1,
      crashAttempt: 0,
      handbacks: 0,
      leaseId: job.leaseId,
      progress: { step: 'asked' },
      callback: { id: callback.id, name: 'approval', waitsUntil: callback.waitsUntil },
    })
    const { items } = await store.listJobs({ state: 'waiting' }, { limit: 10 })
    expect(items).toMatchObject([{ id: job.id, callback: { name: 'approval', waitsUntil: callback.waitsUntil } }])
    expect(JSON.stringify([shown, items])).not.toContain(callback.token)
    expect(await db.run(sql`select 1 from spillway.attempt_state`, [])).toEqual([])
    expect(await store.countJobs()).toMatchObject({ waiting: 1, running: 0 })
  })

  it('shows no callback in any other state', async () => {
    for (const state of JOB_STATES.filter((it) => it !== 'waiting')) {
      expect(await given.job({ state })).not.toHaveProperty('callback')
    }
  })

  it('is available again when it is answered, at the end of its priority and with the same attempt', async () => {
    const { job, callback } = await worker.waiting({ attempt: 2 })
    const [other] = await given.jobs(1)

    const answered = await store.completeCallback(callback.token, '{"ok": true}')

    expect(answered).toEqual({ callbackId: callback.id, name: 'approval', jobId: job.id, jobState: 'available' })
    const jobs = await worker.session.claim('default', 10)
    expect(jobs.map(({ id }) => id)).toEqual([other, job.id])
    const again = jobs[1]!
    expect(again).toMatchObject({ attempt: 2, crashAttempt: 0, runLease: job.runLease + 1 })
    // The text is kept as it was sent.
    expect(await worker.open(again)).toMatchObject({ id: callback.id, state: 'completed', answer: '{"ok": true}' })
  })

  it('goes on at once where the answer came before it waited', async () => {
    const job = await worker.running()
    const callback = await worker.open(job)

    const answered = await store.completeCallback(callback.token, '1')

    expect(answered).toMatchObject({ jobId: job.id, jobState: 'running' })
    expect(await worker.session.callbackAnswer(job, callback.id)).toEqual({ state: 'completed', answer: '1' })
    expect(await worker.wait(job, callback)).toBe('available')
    expect(await worker.open(await worker.claim(job.id))).toMatchObject({ answer: '1' })
  })

  it('goes on where its callback is no more', async () => {
    const job = await worker.running()

    expect(await worker.session.settle([{ job, end: waitEnd('999') }])).toEqual([
      { outcome: 'applied', state: 'available' },
    ])
  })

  it('is answered by every token that was given out for it', async () => {
    const job = await worker.running()
    const first = await worker.open(job)
    const second = await worker.open(job)
    await worker.wait(job, second)

    await store.completeCallback(first.token, '1')

    expect(first.id).toBe(second.id)
    await expect(store.completeCallback(second.token, '1')).rejects.toEqual(code('callback_settled'))
  })

  it('keeps other callbacks of the same job apart', async () => {
    const job = await worker.running()
    const [a, b] = [await worker.open(job, 'a'), await worker.open(job, 'b')]
    await worker.wait(job, a)

    const early = await store.completeCallback(b.token, '"b"')
    const waits = await store.getJob(job.id)
    await store.completeCallback(a.token, '"a"')

    expect(early.jobState).toBe('waiting')
    expect(waits).toMatchObject({ state: 'waiting', callback: { name: 'a' } })
    const again = await worker.claim(job.id)
    expect([(await worker.open(again, 'a')).answer, (await worker.open(again, 'b')).answer]).toEqual(['"a"', '"b"'])
  })

  it('makes two calls of one name the same callback, also where they meet', async () => {
    const job = await worker.running()

    const opened = await Promise.all([worker.open(job), worker.open(job), worker.open(job)])

    expect(new Set(opened.map(({ id }) => id)).size).toBe(1)
  })

  it('makes none for an attempt whose lease is lost', async () => {
    const job = await worker.running()
    const { id } = await worker.open(job)
    await store.cancelJob(job.id, ACT)

    const request = { name: 'b', tokenHash: newToken(), timeoutMs: null }
    expect(await worker.session.openCallback(job, request)).toBeUndefined()
    expect(await worker.session.callbackAnswer(job, id)).toBeUndefined()
  })

  it('makes none for an attempt whose job another attempt has by now', async () => {
    const job = await worker.running()
    await worker.session.beat([])
    const again = await worker.claim(job.id)
    const callback = await worker.open(again)
    await store.failCallback(callback.token, FAILURE)

    const request = { name: 'approval', tokenHash: newToken(), timeoutMs: null }
    expect(await worker.session.openCallback(job, request)).toBeUndefined()
    expect(await worker.session.callbackAnswer(job, callback.id)).toBeUndefined()
  })

  it('keeps the same callback through a crash', async () => {
    const job = await worker.running()
    const before = await worker.open(job)
    await worker.session.beat([])
    const again = await worker.claim(job.id)

    const after = await worker.open(again)
    await worker.wait(again, after)
    // The one who got the first token knows nothing of the crash.
    await store.completeCallback(before.token, 'true')

    expect(after.id).toBe(before.id)
    expect(await store.getJob(job.id)).toMatchObject({ state: 'available' })
  })

  it('stores nothing that could answer it', async () => {
    const { callback } = await worker.waiting()

    const [row] = await db.run(
      sql<[], [string, string]>`
        select (select json_agg(c) from spillway.callbacks c)::text || (select json_agg(w) from spillway.waiting_jobs w)::text,
               (select encode(token, 'hex') from spillway.callback_tokens)`,
      [],
    )

    expect(row?.[0]).not.toContain(callback.token)
    expect(row?.[1]).toBe(callback.token)
  })

  describe('whose wait was written, and the answer to that lost', () => {
    it('has waited, as long as it does and after it', async () => {
      const { job, callback } = await worker.waiting()
      const settlement = { job, end: waitEnd(callback.id) }

      expect(await worker.session.settle([settlement])).toEqual([{ outcome: 'already_applied', state: 'waiting' }])
      await store.completeCallback(callback.token, 'null')
      expect(await worker.session.settle([settlement])).toEqual([{ outcome: 'already_applied', state: 'waiting' }])
      expect(await checker.census()).toEqual({ available: 1 })
    })

    it('has lost its lease where that was taken away before', async () => {
      const job = await worker.running()
      const callback = await worker.open(job)
      await store.cancelJob(job.id, ACT)

      expect(await worker.session.settle([{ job, end: waitEnd(callback.id) }])).toEqual([
        { outcome: 'lost', state: null },
      ])
    })
  })

  describe('and an answer that comes', () => {
    it('twice: the second is told of the first, and whether it was the same', async () => {
      const { callback } = await worker.waiting()
      await store.completeCallback(callback.token, '{"ok":true}')

      const settled = (isSame: boolean) =>
        code('callback_settled', { state: 'completed', settledAt: expect.any(Date), isSame })
      await expect(store.completeCallback(callback.token, '{"ok":true}')).rejects.toEqual(settled(true))
      await expect(store.completeCallback(callback.token, '{"ok":false}')).rejects.toEqual(settled(false))
      await expect(store.failCallback(callback.token, FAILURE)).rejects.toEqual(settled(false))
      await expect(store.extendCallback(callback.token, 1_000)).rejects.toEqual(settled(false))
    })

    it('for a token nobody gave out: not found', async () => {
      const found = code('callback_not_found')
      await expect(store.completeCallback(newToken(), '1')).rejects.toEqual(found)
      await expect(store.failCallback(newToken(), FAILURE)).rejects.toEqual(found)
      await expect(store.extendCallback(newToken(), 1_000)).rejects.toEqual(found)
    })

    it.each([
      ['completed', (id: string) => ({ event: 'complete', result: null, id }) as const],
      ['gone', () => ({ event: 'revoke' }) as const],
    ])('after the job is %s: gone', async (state, end) => {
      const job = await worker.running()
      const callback = await worker.open(job)
      await worker.session.settle([{ job, end: end(job.id) }])

      await expect(store.completeCallback(callback.token, '1')).rejects.toEqual(
        code('callback_gone', { jobState: state === 'gone' ? null : state, state: 'open', isSame: false }),
      )
    })

    it.each([
      ['cancelled', (id: string) => store.cancelJob(id, ACT)],
      ['archived', (id: string) => store.killJob(id, ACT)],
    ])('after the job was %s while it waited: gone', async (jobState, act) => {
      const { job, callback } = await worker.waiting()
      await act(job.id)

      const gone = code('callback_gone', { jobState })
      await expect(store.completeCallback(callback.token, '1')).rejects.toEqual(gone)
      await expect(store.failCallback(callback.token, FAILURE)).rejects.toEqual(gone)
      await expect(store.extendCallback(callback.token, 1_000)).rejects.toEqual(gone)
    })

    it('again, after the job has ended with it: gone, and it says that it had this very answer', async () => {
      const { job, callback } = await worker.waiting()
      await store.completeCallback(callback.token, '1')
      await worker.session.settle([{ job: await worker.claim(job.id), end: { event: 'complete', result: null } }])

      await expect(store.completeCallback(callback.token, '1')).rejects.toEqual(
        code('callback_gone', { jobState: 'completed', state: 'completed', isSame: true }),
      )
    })

    it('after a redrive, to the token of an attempt that never waited: gone', async () => {
      const job = await worker.running()
      const callback = await worker.open(job)
      await worker.session.beat([])
      await store.killJob(job.id, ACT)
      await store.retryJob(job.id, FRESH, ACT)

      await expect(store.completeCallback(callback.token, '1')).rejects.toEqual(
        code('callback_gone', { jobState: null }),
      )
      await expect(store.extendCallback(callback.token, 1)).rejects.toEqual(code('callback_gone'))
    })

    it('after a redrive, to the token of before: gone; the job has another callback', async () => {
      const { job, callback } = await worker.waiting()
      await store.killJob(job.id, ACT)
      await store.retryJob(job.id, FRESH, ACT)
      const again = await worker.claim(job.id)

      const anew = await worker.open(again)
      await worker.wait(again, anew)

      expect(anew).toMatchObject({ state: 'open', answer: null })
      expect(anew.id).not.toBe(callback.id)
      await expect(store.completeCallback(callback.token, '1')).rejects.toEqual(code('callback_gone'))
      expect(await store.getJob(job.id)).toMatchObject({ state: 'waiting', generation: 1 })
      await store.completeCallback(anew.token, '1')
    })
  })

  describe('is answered exactly once', () => {
    it('by the first of 20 who answer at the same time', async () => {
      const { job, callback } = await worker.waiting()
      let answers: Promise<PromiseSettledResult<unknown>[]> = Promise.resolve([])

      await inTransaction(async (tx) => {
        await tx.execute(`select from spillway.waiting_jobs where id = ${job.id} for update`)
        answers = Promise.allSettled(
          Array.from({ length: 20 }, (_, n) => store.completeCallback(callback.token, String(n))),
        )
        await lockWaits(db, 5)
      })

      const outcomes = await answers
      const refused = outcomes.flatMap((it) => (it.status === 'rejected' ? [it.reason as { code: string }] : []))
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(refused.map((error) => error.code)).toEqual(Array(19).fill('callback_settled'))
      expect(await checker.census()).toEqual({ available: 1 })
    })

    it('by the first of 20 who answer before it waits', async () => {
      const job = await worker.running()
      const callback = await worker.open(job)
      let answers: Promise<PromiseSettledResult<unknown>[]> = Promise.resolve([])

      await inTransaction(async (tx) => {
        await tx.execute(`select from spillway.callbacks where id = ${callback.id} for update`)
        answers = Promise.allSettled(
          Array.from({ length: 20 }, (_, n) => store.completeCallback(callback.token, String(n))),
        )
        await lockWaits(db, 5)
      })

      expect((await answers).filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    })

    it('by an answer that is under way while it begins to wait', async () => {
      const job = await worker.running()
      const callback = await worker.open(job)
      let settling: Promise<string | null | undefined> = Promise.resolve(null)

      await inTransaction(async (tx) => {
        await tx.execute(
          `update spillway.callbacks set state = 'completed', answer = '1', settled_at = now() where id = ${callback.id}`,
        )
        settling = worker.wait(job, callback)
        await lockWaits(db)
      })

      expect(await settling).toBe('available')
    })

    it('by an answer that comes while its wait is being written', async () => {
      const job = await worker.running()
      const callback = await worker.open(job)
      let settling: Promise<unknown> = Promise.resolve()
      let answering: Promise<unknown> = Promise.resolve()

      await inTransaction(async (tx) => {
        // The wait has written the callback, and stands before a row of its id that may or may not stay.
        await tx.execute(
          `savepoint s; insert into spillway.waiting_jobs (id, queue, kind, payload, lease_id) values (${job.id}, 'q', 'k', '1', 1)`,
        )
        settling = worker.wait(job, callback)
        await lockWaits(db)
        answering = store.completeCallback(callback.token, '1')
        await lockWaits(db, 2)
        await tx.execute('rollback to s')
      })

      expect(await settling).toBe('waiting')
      expect(await answering).toMatchObject({ jobState: 'available' })
      expect(await checker.census()).toEqual({ available: 1 })
    })

    it.each([
      ['cancelled', (id: string) => store.cancelJob(id, ACT)],
      ['killed', (id: string) => store.killJob(id, ACT)],
      ['given up for its deadline', () => store.expireDeadlines(10)],
      ['given up for its time-out', () => store.timeOutCallbacks(10)],
    ])('or not at all, where its job is just being %s', async (_, act) => {
      const { job, callback } = await worker.waiting({ uniqueKey: 'k', maxAttempts: 1 }, 1)
      await db.run(sql`update spillway.waiting_jobs set deadline = now() - interval '1 second'`, [])
      let acting: Promise<unknown> = Promise.resolve()
      let answering: Promise<unknown> = Promise.resolve()

      await inTransaction(async (tx) => {
        // Whoever ends the job has taken it, and stands before its key.
        await tx.execute(`select from spillway.unique_keys where key = 'k' for update`)
        acting = act(job.id)
        await lockWaits(db)
        answering = store.completeCallback(callback.token, '1').catch((error: unknown) => error)
        await lockWaits(db, 2)
      })

      await acting
      const { state } = (await store.getJob(job.id))!
      expect(await answering).toEqual(code('callback_gone', { jobState: state }))
      expect(await checker.census()).toEqual({ [state]: 1 })
    })

    it('by a time-out that is under way', async () => {
      const { callback } = await worker.waiting({}, 1)
      let sweeping: Promise<unknown> = Promise.resolve()
      let answering: Promise<unknown> = Promise.resolve()

      await inTransaction(async (tx) => {
        await tx.execute(`select from spillway.callbacks where id = ${callback.id} for update`)
        sweeping = store.timeOutCallbacks(10)
        await lockWaits(db)
        answering = store.completeCallback(callback.token, '1').catch((error: unknown) => error)
        await lockWaits(db, 2)
      })

      expect(await sweeping).toMatchObject({ timedOut: 1 })
      expect(await answering).toEqual(code('callback_settled', { state: 'timed_out' }))
      expect(await checker.census()).toEqual({ retryable: 1 })
    })

    it('by an answer that is under way when it times out', async () => {
      const { callback } = await worker.waiting({}, 1)
      let answering: Promise<unknown> = Promise.resolve()
      let swept: unknown

      await inTransaction(async (tx) => {
        await tx.execute(`select from spillway.callbacks where id = ${callback.id} for update`)
        answering = store.completeCallback(callback.token, '1')
        await lockWaits(db)
        swept = await store.timeOutCallbacks(10)
      })

      expect(swept).toMatchObject({ timedOut: 0 })
      expect(await answering).toMatchObject({ jobState: 'available' })
    })
  })

  describe('whose time-out is extended', () => {
    const until = async (id: string) => (await store.getJob(id))?.callback?.waitsUntil?.getTime() ?? 0

    it('waits longer, and is not taken for late', async () => {
      const { job, callback } = await worker.waiting({}, 1)

      const extended = await store.extendCallback(callback.token, 600_000)

      expect(extended).toMatchObject({ jobId: job.id, jobState: 'waiting', name: 'approval' })
      expect(extended.waitsUntil?.getTime()).toBe(await until(job.id))
      expect(await store.timeOutCallbacks(10)).toMatchObject({ timedOut: 0 })
    })

    it('waits as long again as it was made for, where nobody says how long', async () => {
      const { job, callback } = await worker.waiting({}, 600_000)
      await clock.advance('5m')
      const before = await until(job.id)

      await store.extendCallback(callback.token, null)

      expect((await until(job.id)) - before).toBeGreaterThan(290_000)
    })

    it('never waits less long by it, and for good where it had no time-out', async () => {
      const long = await worker.waiting({}, 600_000)
      const endless = await worker.waiting()
      const before = await until(long.job.id)

      await store.extendCallback(long.callback.token, 1_000)

      expect(await until(long.job.id)).toBe(before)
      expect(await store.extendCallback(endless.callback.token, 1_000)).toMatchObject({ waitsUntil: null })
    })

    it('before it waits, waits until then', async () => {
      const job = await worker.running()
      const callback = await worker.open(job, 'approval', 1_000)

      const extended = await store.extendCallback(callback.token, 600_000)
      await worker.wait(job, callback)

      expect(extended.jobState).toBe('running')
      expect(await until(job.id)).toBe(extended.waitsUntil?.getTime())
    })

    it('is not swept where the sweep had already seen it late', async () => {
      const { job, callback } = await worker.waiting({}, 1)
      let extending: Promise<unknown> = Promise.resolve()

      await inTransaction(async (tx) => {
        await tx.execute(`select from spillway.callbacks where id = ${callback.id} for update`)
        extending = store.extendCallback(callback.token, 600_000)
        await lockWaits(db)
        expect(await store.timeOutCallbacks(10)).toMatchObject({ timedOut: 0 })
      })

      await extending
      expect(await store.timeOutCallbacks(10)).toMatchObject({ timedOut: 0 })
      expect(await store.getJob(job.id)).toMatchObject({ state: 'waiting' })
    })
  })

  describe('leaves', () => {
    const rows = async () =>
      (await db.run(sql<[], [string]>`select count(*) from spillway.callbacks`, [])).concat(
        await db.run(sql<[], [string]>`select count(*) from spillway.callback_tokens`, []),
      )

    it('its callbacks as long as it is anywhere, and a day at least', async () => {
      const { job, callback } = await worker.waiting({ retention: { cancelled: 5 * 86_400_000 } })
      await store.cancelJob(job.id, ACT)

      await clock.advance('4d')
      await store.retain(100)
      const before = await rows()
      await clock.advance('4d')
      await store.retain(100)

      expect(before).toEqual([['1'], ['1']])
      expect(await rows()).toEqual([['0'], ['0']])
      await expect(store.completeCallback(callback.token, '1')).rejects.toEqual(code('callback_not_found'))
    })

    it('nothing of them when it is purged', async () => {
      const { job, callback } = await worker.waiting()
      await store.completeCallback(callback.token, '"a secret"')
      await store.killJob(job.id, ACT)

      await store.actOnIds(
        [job.id],
        {
          action: 'purge',
          selector: { ids: [job.id] },
          dryRun: false,
          rate: null,
          maxWaiting: 0,
          canary: null,
          abortAbove: 0,
          holdMs: 1_000,
          preview: null,
        },
        ACT,
      )

      expect(await rows()).toEqual([['0'], ['0']])
    })
  })
})
