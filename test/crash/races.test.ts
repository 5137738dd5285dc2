import { afterEach, beforeEach, expect, it } from 'vitest'
import { claimQueries } from '../../src/store/postgres/queries/claim.js'
import type { ClaimedJob, WorkerSession } from '../../src/store/store.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'
import { someoneWaits } from '../support/waits.js'
import { workerInfo } from '../support/worker-info.js'

const ACT = { actor: 'test' }
const COMPLETE = { event: 'complete', result: null } as const
const FRESH = { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false } as const

describeStore(
  'two that want the same job at the same moment',
  ({ store, given, db, url, checker, inTransaction, clock }) => {
    let session: WorkerSession

    beforeEach(async () => {
      session = await store.register(workerInfo())
    })
    afterEach(() => session.close())

    const claimOne = async (): Promise<ClaimedJob> => (await session.claim('default', 1))[0] as ClaimedJob

    it('a settle waits for its lease to be carried to another slot, and ends the job there', async () => {
      await given.jobs(1)
      const job = await claimOne()

      const settled = await inTransaction(async (tx) => {
        await tx.execute(`update spillway.leases set slot = 6 where id = ${job.id}`)
        const settling = session.settle([{ job, end: COMPLETE }])
        await someoneWaits(url)
        return { settling }
      })

      expect(await settled.settling).toEqual([{ outcome: 'applied', state: 'completed' }])
      expect(await checker.census()).toEqual({ completed: 1 })
    })

    it('a settle finds a lease that was carried before', async () => {
      await given.jobs(1)
      const job = await claimOne()
      await db.transaction((tx) => tx.execute(`update spillway.leases set slot = 6 where id = ${job.id}`))

      expect(await session.settle([{ job, end: COMPLETE }])).toEqual([{ outcome: 'applied', state: 'completed' }])
    })

    it('a cancel waits for a claim that is under way, and takes the lease', async () => {
      const [id] = await given.jobs(1)
      const { claim } = claimQueries('spillway')
      const leaseId = String((BigInt(session.registration) << 36n) + 1n)

      const { cancelling } = await inTransaction(async (tx) => {
        const claimed = []
        for (const it of claim) {
          claimed.push(...(await tx.run(it, ['default', 50, '0', 1, ['test'], leaseId, 1, ['test@1']])))
        }
        expect(claimed).toHaveLength(1)
        const cancelling = store.cancelJob(id as string, ACT)
        await someoneWaits(url)
        return { cancelling }
      })

      expect(await cancelling).toMatchObject({ state: 'cancelled', changed: true })
      expect((await session.pulse()).aborts).toEqual([{ jobId: id, leaseId, reason: 'cancelled' }])
      expect(await checker.census()).toEqual({ cancelled: 1 })
    })

    it('a claim passes over a job that is just being cancelled', async () => {
      const [id, other] = await given.jobs(2)

      await inTransaction(async (tx) => {
        await tx.execute(`select 1 from spillway.ready_entries where id = ${id} for update`)

        expect((await session.claim('default', 10)).map((job) => job.id)).toEqual([other])
      })

      await store.cancelJob(id as string, ACT)
      await session.pulse()
      expect(await session.claim('default', 10)).toEqual([])
    })

    it('of a settle and a cancel one wins, and the other is told so', async () => {
      await given.jobs(1)
      const job = await claimOne()

      const { settling } = await inTransaction(async (tx) => {
        await tx.execute(`select 1 from spillway.leases where id = ${job.id} for update`)
        const cancelling = store.cancelJob(job.id, ACT)
        await someoneWaits(url)
        const settling = session.settle([{ job, end: COMPLETE }])
        await someoneWaits(url, 2)
        return { settling: Promise.all([cancelling.catch((error: { code: string }) => error.code), settling]) }
      })

      const [cancelled, [settled]] = await settling
      const winner = (await checker.census())['completed'] ? 'settle' : 'cancel'
      if (winner === 'settle') expect([cancelled, settled?.outcome]).toEqual(['invalid_state', 'applied'])
      else expect([cancelled, settled?.outcome]).toEqual([expect.objectContaining({ state: 'cancelled' }), 'lost'])
    })

    it('of 50 retries of one dead letter one wins, and the others learn that it was retried already', async () => {
      const dead = await given.job({ state: 'archived', tags: ['x'] })

      const { retries } = await inTransaction(async (tx) => {
        await tx.execute(`select 1 from spillway.dlq_entries where id = ${dead.id} for update`)
        const retries = Array.from({ length: 50 }, () =>
          store.retryJob(dead.id, FRESH, ACT).then(
            ({ state }) => state as string,
            (error: { code: string }) => error.code,
          ),
        )
        await someoneWaits(url, 5)
        return { retries }
      })

      const answers = await Promise.all(retries)
      expect(answers.filter((answer) => answer === 'available')).toHaveLength(1)
      expect(answers.filter((answer) => answer === 'already_retried')).toHaveLength(49)
      expect(await checker.census()).toEqual({ available: 1 })
    })

    it('ends one lease once, however often and however concurrently it is failed', async () => {
      await given.jobs(1, { maxAttempts: 1 })
      const job = await claimOne()
      const dead = {
        event: 'dead',
        reason: 'attempts_exhausted',
        charge: 1,
        entry: '{"type":"error","name":"Error","message":"it failed"}',
        cause: 'c',
        errorClass: 'Error',
        errorMessage: 'it failed',
        title: 'Error: it failed',
      } as const

      const first = await session.settle([{ job, end: dead }])
      const others = await Promise.all(Array.from({ length: 20 }, () => session.settle([{ job, end: dead }])))

      expect(first).toEqual([{ outcome: 'applied', state: 'archived' }])
      expect(others).toEqual(Array.from({ length: 20 }, () => [{ outcome: 'already_applied', state: 'archived' }]))
      expect(await checker.census()).toEqual({ archived: 1 })
    })

    it('the late end of an old attempt is refused, and the new one is untouched', async () => {
      await given.jobs(1)
      const old = await claimOne()
      await store.rescue(45_000, 3)
      await clock.advance('10m')
      await store.rescue(45_000, 3)
      await clock.advance('1h', { workers: 'beating' })
      await store.promote(10)
      const next = await store.register(workerInfo({ pid: 2 }))
      await next.pulse()
      // It has crashed, so it is not claimed with others.
      const again = await next.claimSuspect('default')

      const late = await session.settle([{ job: old, end: COMPLETE }])

      expect(late).toEqual([{ outcome: 'lost', state: null }])
      expect(await store.getJob(old.id)).toMatchObject({ state: 'running', crashAttempt: 1, leaseId: again?.leaseId })
      expect(await next.settle([{ job: again as ClaimedJob, end: COMPLETE }])).toMatchObject([{ outcome: 'applied' }])
      await next.close()
    })

    it('the late end of an attempt is refused when its job has died and was retried meanwhile', async () => {
      await given.jobs(1)
      const old = await claimOne()
      await db.transaction((tx) => tx.execute(`delete from spillway.leases where id = ${old.id}`))
      await given.jobs(1, { id: old.id, state: 'archived', leaseId: '7' })
      await store.retryJob(old.id, FRESH, ACT)

      const late = await session.settle([{ job: old, end: COMPLETE }])

      expect(late).toEqual([{ outcome: 'lost', state: null }])
      expect(await store.getJob(old.id)).toMatchObject({ state: 'available', generation: 1 })
    })

    it('a heartbeat leaves alone what a claim has taken and not yet given to the worker', async () => {
      const [first] = await given.jobs(1, { priority: 1, slot: 0 })
      const [second] = await given.jobs(1, { priority: 2, slot: 1 })

      const { claiming, beating } = await inTransaction(async (tx) => {
        // Stops the claim between its first statement, which took the better job, and its second.
        await tx.execute('lock table spillway.ready_1 in share mode')
        const claiming = session.claim('default', 2)
        await someoneWaits(url)
        return { claiming, beating: session.beat([]) }
      })
      const jobs = await claiming
      await beating

      expect(jobs.map(({ id }) => id)).toEqual([first, second])
      expect(await checker.census()).toEqual({ running: 2 })
    })

    it('a job that is enqueued in a slow transaction is claimed as soon as it commits', async () => {
      const [slow] = await given.jobs(1)
      await db.transaction((tx) => tx.execute(`delete from spillway.ready_entries`))
      await given.jobs(5)
      expect(await session.claim('default', 10)).toHaveLength(5)

      // Below the floor: its position is older than what was claimed.
      await given.jobs(1, { id: slow as string, position: slow as string })
      session.heard({ type: 'ready', queue: 'default', priority: 50, position: slow as string })

      const jobs = await until(
        async () => {
          const found = await session.claim('default', 10)
          return found.length > 0 && found
        },
        { within: 500 },
      )
      expect(jobs.map(({ id }) => id)).toEqual([slow])
    })
  },
)
