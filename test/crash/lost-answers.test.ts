import { Spillway } from 'spillway'
import { factories } from 'spillway/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Database } from '../../src/store/postgres/database.js'
import { migrate } from '../../src/store/postgres/migrate.js'
import { postgresStore } from '../../src/store/postgres/store.js'
import type { ClaimedJob, JobEnd, NewJob, Store, WorkerSession } from '../../src/store/store.js'
import { emptyDatabase } from '../support/database.js'
import { effort } from '../support/effort.js'
import { type CutAt, type CutRule, type DatabaseProxy, startProxy } from '../support/proxy.js'
import { describeStore } from '../support/store.js'
import { workerInfo } from '../support/worker-info.js'

const ACT = { actor: 'test' }
const FRESH = { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false } as const
const NEW: NewJob = {
  queue: 'default',
  kind: 'test',
  version: 1,
  payload: '{}',
  priority: 50,
  maxAttempts: 3,
  runAt: null,
  deadline: null,
  timeoutMs: null,
  uniqueKey: null,
  onConflict: 'fail',
  tags: null,
  metadata: null,
  retention: null,
}
const ERROR = '{"type":"error","name":"Error","message":"it failed"}'

/** What a connection is cut in: the answer to it was committed, or it never ran. */
const MOMENTS: CutAt[] = ['before', 'answered', 'sent']
const EACH = Math.ceil(effort.cuts / MOMENTS.length)
const CUTS = EACH * MOMENTS.length

describeStore('a connection that is cut around a statement', ({ url, given, checker, db }) => {
  let proxy: DatabaseProxy
  let store: Store
  let session: WorkerSession

  beforeAll(async () => {
    proxy = await startProxy(url)
    store = postgresStore({ url: proxy.url, listen: false, maxConnections: 2 })
  })
  afterAll(async () => {
    await store.close()
    await proxy.close()
  })

  /** Runs `act` with its statement cut, as often as the effort says, at every moment. */
  async function cutting(statement: RegExp, act: (n: number, at: CutAt) => Promise<void>): Promise<void> {
    for (const at of MOMENTS) {
      for (let n = 0; n < EACH; n++) {
        const rule: CutRule = { at, statement: (text) => statement.test(text) }
        const cut = proxy.cut(rule)
        try {
          await act(n, at)
          expect(cut.count, `no connection was cut ${at} ${statement}`).toBe(1)
        } finally {
          cut.lift()
        }
      }
    }
  }

  it.each<[string, Partial<NewJob>, RegExp]>([
    ['plain jobs', {}, /insert into "spillway"\."ready_entries"/],
    ['jobs with a key', { uniqueKey: 'k' }, /insert into "spillway"\."unique_keys"|^commit/],
    ['scheduled jobs', { runAt: new Date(Date.now() + 3_600_000) }, /insert into "spillway"\."deferred_jobs"/],
  ])('stores %s exactly once', async (_, part, statement) => {
    const ids: string[] = []

    await cutting(statement, async (n, at) => {
      const key = part.uniqueKey && { uniqueKey: `${part.uniqueKey} ${at} ${n}` }
      const stored = await store.enqueue([
        { ...NEW, ...part, ...key },
        { ...NEW, ...part, ...(key && { uniqueKey: `${key.uniqueKey} b` }) },
      ])
      ids.push(...stored.map(({ id }) => id))
    })

    expect(await checker.expectExactly(ids)).toMatchObject({ present: CUTS * 2, left: 0 })
  })

  it('stores many jobs in one transaction all or none, whichever is answered', async () => {
    const many = Array.from({ length: 2_500 }, () => NEW)
    const ids: string[] = []

    for (const at of MOMENTS) {
      const cut = proxy.cut({ at, statement: (text) => text === 'commit' })
      ids.push(...(await store.enqueue(many)).map(({ id }) => id))
      expect(cut.count).toBe(1)
    }

    await checker.expectExactly(ids)
  })

  describe('in a worker session', () => {
    const claimOf = async (id: string): Promise<ClaimedJob> => {
      const isIt = (it: ClaimedJob) => it.id === id
      let jobs = await session.claim('default', 10)
      // One that came back to its old place lies below what the session has passed; a pulse looks from the beginning.
      if (!jobs.some(isIt)) {
        await session.pulse()
        jobs = await session.claim('default', 10)
      }
      const job = jobs.find(isIt)
      if (!job) throw new Error(`job ${id} was not claimed: ${JSON.stringify(jobs.map((it) => it.id))}`)
      return job
    }

    beforeEach(async () => {
      session = await store.register(workerInfo())
    })
    afterEach(() => session.close())

    it('gives back what a lost claim took, uncharged', async () => {
      await cutting(/delete from "spillway"\."ready_\d"/, async () => {
        const [id] = await given.jobs(1)
        await session.claim('default', 10).catch(() => undefined)
        await session.beat([])

        const job = await claimOf(id as string)

        expect(job).toMatchObject({ attempt: 0, crashAttempt: 0 })
        await session.settle([{ job, end: { event: 'complete', result: null } }])
      })

      expect(await checker.census()).toEqual({ completed: CUTS })
    })

    const ENDS: Record<string, [JobEnd, state: string | undefined]> = {
      complete: [{ event: 'complete', result: '{"ok":true}' }, 'completed'],
      retry: [{ event: 'retry', delayMs: 3_600_000, charge: 1, entry: ERROR }, 'retryable'],
      dead: [
        {
          event: 'dead',
          reason: 'attempts_exhausted',
          charge: 1,
          entry: ERROR,
          cause: 'c',
          errorClass: 'Error',
          errorMessage: 'it failed',
          title: 'Error: it failed',
        },
        'archived',
      ],
      snooze: [{ event: 'snooze', delayMs: 3_600_000 }, 'scheduled'],
      revoke: [{ event: 'revoke' }, undefined],
      undecodable: [{ event: 'undecodable', reason: 'no number', entry: ERROR }, 'undecodable'],
    }

    it.each(Object.entries(ENDS))('writes the end of an attempt exactly once: %s', async (event, [end, state]) => {
      const all: string[] = []
      await cutting(/delete from "spillway"\."leases_\d"/, async () => {
        const [id] = await given.jobs(1, { tags: ['x'] })
        all.push(id as string)
        const job = await claimOf(id as string)

        const [settled] = await session.settle([{ job, end }])

        // What leaves no lease behind cannot be told from a lease that was lost.
        const keepsLease = event === 'complete' || event === 'dead'
        if (keepsLease) expect(settled?.outcome).not.toBe('lost')
      })

      const total = CUTS
      expect(await checker.census()).toEqual(state ? { [state]: total } : {})
      expect(await checker.expectExactly(all)).toMatchObject({ left: state ? 0 : total })
      const seed = await db.runRaw<[], [string]>(
        { name: 'attempts', text: `select coalesce(max(attempt), 0) from spillway.dlq_entries` },
        [],
      )
      expect(Number(seed[0]?.[0])).toBeLessThanOrEqual(1)
    })

    it('writes a death and what goes along with it in its transaction exactly once', async () => {
      await db.script('create table public.along (job_id bigint)')
      const [end] = ENDS['dead'] as [JobEnd, string]
      const all: string[] = []
      await cutting(/^commit$/, async () => {
        const [id] = await given.jobs(1)
        all.push(id as string)
        const job = await claimOf(id as string)

        const settled = await session.settleDeath(
          { job, end },
          {
            patienceMs: 5_000,
            failed: () => ERROR,
            inTransaction: async (tx) => void (await tx.query('insert into public.along values ($1)', [id])),
          },
        )

        expect(['applied', 'already_applied']).toContain(settled.outcome)
      })

      expect(await checker.expectExactly(all)).toMatchObject({ left: 0 })
      expect(await checker.census()).toEqual({ archived: CUTS })
      const along = await db.runRaw<[], [string]>(
        { name: 'along', text: 'select job_id from public.along order by job_id' },
        [],
      )
      expect(along.flat()).toEqual(all)
    })

    it('hands a job back once', async () => {
      const [id] = await given.jobs(1)
      await cutting(/delete from "spillway"\."leases_\d"/, async () => {
        const job = await claimOf(id as string)
        await session.settle([{ job, end: { event: 'handback' } }])
        // The count of hand-backs is about those in a row; one outcome ends the row.
        await db.runRaw({ name: 'again', text: 'update spillway.ready_entries set handbacks = 0' }, [])
      })

      expect(await checker.census()).toEqual({ available: 1 })
    })
  })

  it.each<[string, RegExp, Parameters<typeof given.job>[0], (id: string) => Promise<unknown>, string]>([
    [
      'retry',
      /insert into "spillway"\."ready_entries"/,
      { state: 'archived', tags: ['x'] },
      (id) => store.retryJob(id, FRESH, ACT),
      'available',
    ],
    ['cancel', /'cancelled'/, { state: 'available', uniqueKey: 'k' }, (id) => store.cancelJob(id, ACT), 'cancelled'],
    [
      'promote',
      /insert into "spillway"\."ready_entries"/,
      { state: 'retryable' },
      (id) => store.promoteJob(id, ACT),
      'available',
    ],
    [
      'reschedule',
      /insert into "spillway"\."deferred_jobs"|update "spillway"\."deferred_jobs"/,
      { state: 'available' },
      (id) => store.rescheduleJob(id, new Date(Date.now() + 3_600_000), ACT),
      'scheduled',
    ],
  ])(
    'does an action by id exactly once, and says when it was done already: %s',
    async (_, statement, seed, act, state) => {
      const ids: string[] = []
      await cutting(statement, async (n) => {
        const [id] = await given.jobs(1, {
          ...seed,
          ...(seed?.uniqueKey && { uniqueKey: `${seed.uniqueKey} ${ids.length} ${n}` }),
        })
        ids.push(id as string)

        // Whoever is not answered asks again, as a person at a console does.
        const answered = await act(id as string).then(
          () => true,
          () => false,
        )
        if (!answered)
          await act(id as string).catch((error: { code?: string }) =>
            expect(['already_retried', 'invalid_state']).toContain(error.code),
          )
      })

      expect(await checker.census()).toEqual({ [state]: ids.length })
      const [audits] = await db.runRaw<[], [string, string]>(
        { name: 'audits', text: `select count(*), count(distinct target ->> 'id') from spillway.audit_log` },
        [],
      )
      expect(Number(audits?.[1])).toBe(ids.length)
      // A job that was rescheduled may be rescheduled again, which is one more action.
      if (state !== 'scheduled') expect(Number(audits?.[0])).toBe(ids.length)
    },
  )

  it.each<[string, RegExp, () => Promise<unknown>, Parameters<typeof given.job>[0], string]>([
    [
      'promotes',
      /delete from "spillway"\."deferred_jobs"/,
      () => store.promote(100),
      { state: 'scheduled', dueAt: new Date(0) },
      'available',
    ],
    [
      'expires deadlines of',
      /'deadline_exceeded'/,
      () => store.expireDeadlines(100),
      { state: 'available', deadline: new Date(0) },
      'archived',
    ],
  ])('%s waiting jobs exactly once', async (_, statement, duty, seed, state) => {
    const ids: string[] = []
    await cutting(statement, async () => {
      ids.push(...(await given.jobs(3, seed)))

      await duty().catch(() => undefined)
      await duty()
    })

    expect(await checker.census()).toEqual({ [state]: ids.length })
    await checker.expectExactly(ids)
  })
})

describe('a connection that is cut around the COMMIT of a migration', () => {
  const { url } = emptyDatabase()

  it.each(['before', 'answered'] as const)('leaves a whole schema or none (%s)', async (at) => {
    const proxy = await startProxy(url)
    const cut = proxy.cut({ at, statement: (text) => text === 'commit' })
    const db = new Database({ url: proxy.url, max: 2, prepare: true })
    const schema = `cut_${at}`

    const report = await migrate(db, schema)

    expect(cut.count).toBe(1)
    expect(report.version).toBeGreaterThan(0)
    await db.close()
    await proxy.close()
    const store = postgresStore({ url, schema })
    expect(await store.schemaStatus()).toMatchObject({ pending: [] })
    const direct = new Database({ url, max: 1, prepare: true })
    expect(await factories(direct, schema, store).job()).toMatchObject({ state: 'available' })
    await direct.close()
    await store.close()
  })
})

describeStore('the SDK behind a connection that is cut', ({ url, checker }) => {
  it('tells each of many callers of a coalesced enqueue about its own job', async () => {
    const proxy = await startProxy(url)
    const spillway = new Spillway({ url: proxy.url, maxConnections: 2, listen: false })
    const cuts = MOMENTS.map((at, n) =>
      proxy.cut({ at, statement: (text) => /insert into "spillway"\."ready_entries"/.test(text), skip: n * 2 }),
    )

    const answers = []
    for (let wave = 0; wave < 10; wave++) {
      answers.push(...(await Promise.all(Array.from({ length: 50 }, (_, n) => spillway.enqueue('test', { wave, n })))))
    }

    await checker.expectExactly(answers.map(({ id }) => id))
    expect(new Set(answers.map(({ id }) => id)).size).toBe(500)
    expect(cuts.map(({ count }) => count)).toEqual([1, 1, 1])
    await spillway.close()
    await proxy.close()
  })
})
