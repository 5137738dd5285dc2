import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CallbackFailure } from '../../src/job/callback.js'
import { causeOf } from '../../src/job/cause.js'
import { failedCallbackQueries } from '../../src/store/postgres/queries/failed-callbacks.js'
import { sql } from '../../src/store/postgres/sql.js'
import { onServer } from '../support/server.js'
import { describeStore } from '../support/store.js'
import { type CallbackSession, callbackSession, waitEnd } from './callback-session.js'
import { lockWaits } from './heard.js'

const ACT = { actor: 'test' }
const FAILURE: CallbackFailure = { name: 'Declined', message: 'card "4711" was declined', code: 'E_CARD' }
const LATE = 'the callback "approval" was not answered in time'

/** The two ways a callback fails while its job waits, and what each leaves. */
const WAYS = [
  ['fails', FAILURE.name, FAILURE.message, FAILURE.code, 'attempts_exhausted', 'failed'],
  ['times out', 'CallbackTimeout', LATE, null, 'callback_timeout', 'timed_out'],
] as const

describeStore('a callback that fails', ({ store, given, db, url, checker, inTransaction }) => {
  let worker: CallbackSession
  beforeEach(async () => {
    worker = await callbackSession(store, given)
  })
  afterEach(() => worker.session.close())

  const counters = sql<[], string[]>`select queue, reason, what, n from spillway.counters order by queue`
  /** Makes a job wait, and its callback fail that way. */
  async function failed(how: string, seed: Parameters<typeof given.job>[0] = {}) {
    const { job, callback } = await worker.waiting(seed, how === 'fails' ? null : 1)
    if (how === 'fails') {
      const answered = await store.failCallback(callback.token, FAILURE)
      return { job, callback, state: answered.jobState as string }
    }
    expect(await store.timeOutCallbacks(10)).toMatchObject({ timedOut: 1 })
    return { job, callback, state: (await store.getJob(job.id))?.state ?? 'gone' }
  }

  describe.each(WAYS)('because it %s', (how, name, message, errorCode, reason, callbackState) => {
    it('is an error of the attempt: the job is tried again, as its worker said', async () => {
      const { job, state } = await failed(how, { attempt: 1, handbacks: 2, uniqueKey: 'k', tags: ['t'] })

      expect(state).toBe('retryable')
      const after = await store.getJob(job.id, { payload: true })
      expect(after).toMatchObject({ attempt: 2, crashAttempt: 0, handbacks: 0, uniqueKey: 'k', tags: ['t'] })
      expect(Math.abs((after?.runAt.getTime() ?? 0) - Date.now() - 60_000)).toBeLessThan(10_000)
      expect(after?.history?.at(-1)).toMatchObject({
        type: 'callback_failed',
        attempt: 1,
        leaseId: job.leaseId,
        startedAt: expect.any(Date),
        name,
        message,
        code: errorCode,
        stack: null,
        callback: 'approval',
      })
      // Its key is still its own.
      await checker.expectClean()
    })

    it('backs off as usual where no worker said how', async () => {
      const { id } = await given.job({
        state: 'waiting',
        attempt: 2,
        waitsUntil: new Date(Date.now() - 1_000),
        callbackToken: 'secret',
      })
      const { tokenHash } = await tokenOf()

      if (how === 'fails') await store.failCallback(tokenHash, FAILURE)
      else await store.timeOutCallbacks(10)

      const delay = ((await store.getJob(id))?.runAt.getTime() ?? 0) - Date.now()
      expect(Math.abs(delay - 60_000)).toBeLessThan(10_000)
    })

    it('is followed by a new callback in the next attempt; the old token answers neither', async () => {
      const { job, callback } = await failed(how)
      await store.promoteJob(job.id, ACT)
      const again = await worker.claim(job.id)

      const anew = await worker.open(again)

      expect(anew).toMatchObject({ state: 'open', answer: null })
      expect(anew.id).not.toBe(callback.id)
      await expect(store.completeCallback(callback.token, '1')).rejects.toMatchObject({
        code: 'callback_settled',
        state: callbackState,
      })
      await worker.wait(again, anew)
      await store.completeCallback(anew.token, '1')
      expect(await checker.census()).toEqual({ available: 1 })
    })

    it('makes a dead letter of a job that has no attempt left, with all that belongs to one', async () => {
      const seed = { maxAttempts: 3, attempt: 2, uniqueKey: 'k', tags: ['a', 'b'], kind: 'charge "card"' }
      const { job, state } = await failed(how, seed)

      expect(state).toBe('archived')
      const cause = causeOf({ kind: seed.kind, errorClass: name, message, stack: null, reason })
      const dead = await store.getJob(job.id, { payload: true })
      expect(dead).toMatchObject({ state: 'archived', attempt: 3, tags: ['a', 'b'], leaseId: job.leaseId })
      expect(dead?.dlq).toMatchObject({
        reason,
        originalRunLease: job.runLease,
        cause: cause.cause,
        errorClass: name,
        errorMessage: message,
      })
      expect(dead?.history?.at(-1)).toMatchObject({ type: 'callback_failed', name, message })
      expect(await db.run(sql`select title, reason from spillway.dlq_causes`, [])).toEqual([[cause.title, reason]])
      expect(await db.run(counters, [])).toEqual([['default', reason, 'arrived', '1']])
      expect(await db.run(sql`select type, job_id, reason from spillway.event_outbox`, [])).toEqual([
        ['died', job.id, reason],
      ])
      expect(await db.run(sql`select 1 from spillway.unique_keys`, [])).toEqual([])
    })

    it('ends a job whose crashes have used up all starts', async () => {
      const { state } = await failed(how, { maxAttempts: 2, attempt: 0, crashAttempt: 4 })

      expect(state).toBe('archived')
    })

    it('makes it failed where the queue has no dead-letter queue, and gone where that keeps none', async () => {
      await store.setQueue('plain', { dlqEnabled: false }, ACT)
      await store.setQueue('bare', { dlqEnabled: false, retention: { failed: 0 } }, ACT)
      await db.run(sql`delete from spillway.counters`, [])

      const plain = await failed(how, { queue: 'plain', maxAttempts: 1 })
      const bare = await failed(how, { queue: 'bare', maxAttempts: 1 })

      expect([plain.state, bare.state]).toEqual(['failed', 'gone'])
      expect(await store.getJob(plain.job.id)).toMatchObject({ state: 'failed', reason })
      expect(await db.run(counters, [])).toEqual([
        ['bare', reason, 'gone', '1'],
        ['plain', reason, 'failed', '1'],
      ])
    })
  })

  describe('before the job waits for it', () => {
    it('is kept for the attempt, and for the next one while that was not charged with it', async () => {
      const job = await worker.running()
      const callback = await worker.open(job)

      expect(await store.failCallback(callback.token, FAILURE)).toMatchObject({ jobState: 'running' })

      const answer = { state: 'failed', answer: JSON.stringify(FAILURE) }
      expect(await worker.session.callbackAnswer(job, callback.id)).toEqual(answer)
      // The worker is lost before it could say that the attempt failed.
      await worker.session.beat([])
      const again = await worker.claim(job.id)
      expect(await worker.open(again)).toMatchObject({ id: callback.id, ...answer })
    })

    it('is followed by a new one once an attempt was charged with it', async () => {
      const job = await worker.running()
      const callback = await worker.open(job)
      await store.failCallback(callback.token, FAILURE)
      await worker.session.callbackAnswer(job, callback.id)
      await worker.session.settle([{ job, end: { event: 'retry', delayMs: 1, charge: 1, entry: '{"type":"error"}' } }])
      await store.promoteJob(job.id, ACT)

      const anew = await worker.open(await worker.claim(job.id))

      expect(anew).toMatchObject({ state: 'open', answer: null })
      expect(anew.id).not.toBe(callback.id)
    })

    it('stays for an attempt that failed by something else before it looked', async () => {
      const job = await worker.running()
      const callback = await worker.open(job)
      await store.failCallback(callback.token, FAILURE)
      await worker.session.settle([{ job, end: { event: 'retry', delayMs: 1, charge: 1, entry: '{"type":"error"}' } }])
      await store.promoteJob(job.id, ACT)

      expect(await worker.open(await worker.claim(job.id))).toMatchObject({ id: callback.id, state: 'failed' })
    })

    it('lets a wait that had not seen it go on at once', async () => {
      const job = await worker.running()
      const callback = await worker.open(job)
      let settling: Promise<unknown> = Promise.resolve()

      await inTransaction(async (tx) => {
        await tx.execute(
          `update spillway.callbacks set state = 'failed', answer = '{}', settled_at = now() where id = ${callback.id}`,
        )
        settling = worker.session.settle([{ job, end: waitEnd(callback.id) }])
        await lockWaits(db)
      })

      expect(await settling).toEqual([{ outcome: 'applied', state: 'available' }])
    })
  })

  describe('time-outs', () => {
    const late = { state: 'waiting', waitsUntil: new Date(Date.now() - 1_000) } as const

    it('are swept so many at a time, the longest overdue first, and what is not due is left', async () => {
      const [first] = await given.jobs(1, { ...late, waitsUntil: new Date(Date.now() - 60_000) })
      await given.jobs(2, late)
      await given.jobs(1, { state: 'waiting', waitsUntil: new Date(Date.now() + 50_000) })
      await given.jobs(1, { state: 'waiting', waitsUntil: null })

      const pass = await store.timeOutCallbacks(1)
      const longest = await store.getJob(first as string)
      const census = await checker.census()
      const rest = await store.timeOutCallbacks(10)
      const none = await store.timeOutCallbacks(10)

      expect(pass.timedOut).toBe(1)
      expect(longest).toMatchObject({ state: 'retryable' })
      expect(census).toEqual({ waiting: 4, retryable: 1 })
      expect([rest.timedOut, none.timedOut]).toEqual([2, 0])
      expect(none.nextInMs).toBeGreaterThan(30_000)
      expect(none.nextInMs).toBeLessThanOrEqual(50_000)
    })

    it('end many in one pass, each in its own way', async () => {
      await given.jobs(3, { ...late, kind: 'a', maxAttempts: 1, tags: ['x', 'y'] })
      await given.jobs(2, { ...late, kind: 'b', maxAttempts: 1 })
      await given.job({ ...late, kind: 'b', maxAttempts: 1, uniqueKey: 'k' })
      await given.jobs(4, { ...late, retryDelayMs: 1 })

      expect(await store.timeOutCallbacks(100)).toMatchObject({ timedOut: 10 })

      expect(await checker.census()).toEqual({ archived: 6, retryable: 4 })
      const counts = sql<[], string[]>`select kind, reason, what, n from spillway.counters order by kind`
      expect(await db.run(counts, [])).toEqual([
        ['a', 'callback_timeout', 'arrived', '3'],
        ['b', 'callback_timeout', 'arrived', '3'],
      ])
      expect(await store.promote(10)).toMatchObject({ moved: 4 })
    })

    it('are found by their index among many that are not due', async () => {
      await given.jobs(3_000, { state: 'waiting', waitsUntil: new Date(Date.now() + 3_600_000) })
      await db.run(sql`analyze spillway.waiting_jobs, spillway.callbacks`, [])
      const { timeOut } = failedCallbackQueries('spillway')

      const plan = await onServer(url, async (client) =>
        (await client.query(`explain ${timeOut.text}`, [1_000, 'none'])).rows
          .map((row) => row['QUERY PLAN'])
          .join('\n'),
      )

      expect(plan).toContain('waiting_until')
      expect(plan).not.toMatch(/Seq Scan on (waiting_jobs|callbacks)/)
    })

    it('say that there is none to wait for', async () => {
      expect(await store.timeOutCallbacks(10)).toEqual({ timedOut: 0, nextInMs: null })
    })

    it('neither wait for nor take what somebody else is moving', async () => {
      const [held] = await given.jobs(1, late)
      await given.jobs(1, late)

      await inTransaction(async (tx) => {
        await tx.execute(`select from spillway.waiting_jobs where id = ${held} for update`)
        expect(await store.timeOutCallbacks(10)).toMatchObject({ timedOut: 1 })
      })

      expect(await checker.census()).toEqual({ waiting: 1, retryable: 1 })
    })

    it('are told to the leader before they are due', async () => {
      await given.jobs(1, { state: 'waiting', waitsUntil: new Date(Date.now() + 50_000) })

      const { nextTimeoutInMs } = await store.lead('test', 'me', 10_000)

      expect(nextTimeoutInMs).toBeGreaterThan(30_000)
    })
  })

  async function tokenOf() {
    const [row] = await db.run(sql<[], [string]>`select encode(token, 'hex') from spillway.callback_tokens`, [])
    return { tokenHash: row?.[0] ?? '' }
  }
})
