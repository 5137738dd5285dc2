import { expect, it } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import { crashing, fingerprintOfTest, STALE_MS } from '../support/crashing.js'
import { describeStore } from '../support/store.js'

const ago = (ms: number) => new Date(Date.now() - ms)

describeStore('the verdict on a fingerprint', ({ store, given, db }) => {
  const { crash, endWorker, convicted, open } = crashing(store, given, db)
  const states = (jobs: readonly { id: string }[]) =>
    Promise.all(jobs.map(async ({ id }) => (await store.getJob(id))?.state))

  it('counts the jobs of one fingerprint together: the third worker that one of them kills convicts it', async () => {
    const jobs = [...(await crash([{}])), ...(await crash([{}])), ...(await crash([{}]))]

    expect(await states(jobs)).toEqual(['retryable', 'retryable', 'quarantined'])
    expect(await convicted()).toEqual([fingerprintOfTest()])
    expect(await store.getJob(jobs[2]!.id)).toMatchObject({
      attempt: 0,
      crashAttempt: 1,
      blocked: { fingerprint: fingerprintOfTest(), because: 'quarantined' },
      history: [{ type: 'crash' }],
    })
  })

  it('never convicts by crashes in company, however many', async () => {
    for (let n = 0; n < 5; n++) await crash([{ tick: true }, { n }])

    expect(await convicted()).toEqual([])
    expect(await open({ tick: true })).toBe(5)
  })

  it('convicts by a crash alone after two in company', async () => {
    await crash([{}, { n: 1 }])
    await crash([{}, { n: 2 }])
    const [last] = await crash([{}])

    expect(await states([last!])).toEqual(['quarantined'])
    expect(await convicted()).toEqual([fingerprintOfTest()])
  })

  it('takes several jobs of one fingerprint in one process for one crash, and for company', async () => {
    await crash([{}, {}, {}, {}])

    expect(await open()).toBe(1)
    expect(await convicted()).toEqual([])
  })

  it('counts once what one host lost at once', async () => {
    const registrations = [await given.worker(), await given.worker(), await given.worker()]
    for (const registration of registrations) await given.job({ state: 'running', registration })
    for (const registration of registrations) await endWorker(registration)

    await store.rescue(STALE_MS, 3)

    expect(await open()).toBe(1)
    expect(await convicted()).toEqual([])
  })

  it('counts once what one host lost at once and is found out one after the other', async () => {
    const early = await given.worker({ startedAt: ago(60_000), heartbeatAt: ago(20_000) })
    const late = await given.worker({ startedAt: ago(60_000), heartbeatAt: ago(5_000) })
    for (const registration of [early, late]) await given.job({ state: 'running', registration })

    await endWorker(early)
    await store.rescue(STALE_MS, 3)
    await endWorker(late)
    await store.rescue(STALE_MS, 3)

    expect(await open()).toBe(1)
  })

  it('counts a worker that fell silent more than a stale time after the other, on the same host', async () => {
    const early = await given.worker({ startedAt: ago(600_000), heartbeatAt: ago(120_000) })
    const late = await given.worker({ startedAt: ago(600_000), heartbeatAt: ago(5_000) })
    for (const registration of [early, late]) await given.job({ state: 'running', registration })
    for (const registration of [early, late]) await endWorker(registration)

    await store.rescue(STALE_MS, 3)

    expect(await open()).toBe(2)
  })

  it('counts workers of other hosts apart', async () => {
    for (const host of ['a', 'b']) await crash([{}, { n: host }], { host })

    expect(await open()).toBe(2)
  })

  it('forgets crashes that are older than the window of the queue', async () => {
    await db.run(
      sql<[], []>`insert into spillway.queues (queue, policy) values ('default', '{"crashWindowMs": 3600000}')`,
      [],
    )
    await crash([{}])
    await crash([{}])
    await db.run(
      sql<
        [],
        []
      >`update spillway.crashes set at = at - interval '61 minutes', expires_at = expires_at - interval '61 minutes'`,
      [],
    )
    await crash([{}])

    expect(await convicted()).toEqual([])
  })

  it('takes what other workers of the same process ran for company', async () => {
    const process = { pid: 4_711, pidStarted: '1' }
    for (let n = 0; n < 3; n++) {
      const [mine, other] = [await given.worker(process), await given.worker(process)]
      await given.job({ state: 'running', registration: mine })
      await given.job({ state: 'running', registration: other, payload: { n } })
      await endWorker(mine)
      await endWorker(other)
      await store.rescue(STALE_MS, 3)
    }

    expect(await convicted()).toEqual([])
  })

  it('takes for company what was cancelled after the process had died, before anybody knew', async () => {
    for (let n = 0; n < 3; n++) {
      const registration = await given.worker()
      await given.job({ state: 'running', registration })
      const culprit = await given.job({ state: 'running', registration, payload: { n } })
      await store.cancelJob(culprit.id, { actor: 'test' })
      await endWorker(registration)
      await store.rescue(STALE_MS, 3)
    }

    expect(await open()).toBe(3)
    expect(await convicted()).toEqual([])
  })

  it('convicts nobody by a lease whose worker nobody remembers', async () => {
    for (let n = 1; n <= 3; n++) {
      await given.job({ state: 'running', leaseId: String(n) })
      await store.rescue(STALE_MS, 3)
    }

    expect(await convicted()).toEqual([])
  })

  it('writes an event and counts it', async () => {
    const jobs = [...(await crash([{}])), ...(await crash([{}])), ...(await crash([{}]))]

    const events = await db.run(
      sql<[], string[]>`select type, job_id, reason, message from spillway.event_outbox where type = 'quarantined'`,
      [],
    )
    expect(events).toEqual([['quarantined', jobs[2]!.id, 'crash_limit', fingerprintOfTest()]])
    const counted = await db.run(sql<[], string[]>`select reason, what, n from spillway.counters`, [])
    expect(counted).toEqual([['crash_limit', 'quarantined', '1']])
  })

  it('takes the charge back of a worker that was only cut off, and what it alone convicted', async () => {
    await crash([{}])
    await crash([{}])
    const registration = await given.worker()
    const job = await given.job({ state: 'running', registration })
    await endWorker(registration)
    await store.rescue(STALE_MS, 3)
    const before = await convicted()

    await store.survived(registration)

    expect(before).toEqual([fingerprintOfTest()])
    expect(await convicted()).toEqual([])
    expect(await open()).toBe(2)
    expect(await store.getJob(job.id)).toMatchObject({
      state: 'available',
      crashAttempt: 0,
      history: [{ type: 'crash' }, { type: 'disconnected' }, { type: 'released' }],
    })
  })

  it('holds a job whose worker was cut off ten times in a row, though nothing is charged', async () => {
    const job = await given.job()
    for (let n = 0; n < 11; n++) {
      const registration = await given.worker({ host: `host ${n}` })
      await db.run(
        sql<[string, string], []>`
          with gone as (delete from spillway.ready_entries where id = $1 returning *),
               due as (delete from spillway.deferred_jobs where id = $1 returning *)
          insert into spillway.leases (id, queue, kind, payload, handbacks, crash_attempt, history, position, lease_id, slot)
          select id, queue, kind, payload, handbacks, crash_attempt, history, 1, ($2::bigint << 36) + 1, 0 from gone
          union all
          select id, queue, kind, payload, handbacks, crash_attempt, history, 1, ($2::bigint << 36) + 1, 0 from due`,
        [job.id, registration],
      )
      await endWorker(registration)
      await store.rescue(STALE_MS, 3)
      await store.survived(registration)
    }

    expect(await store.getJob(job.id)).toMatchObject({ state: 'quarantined', crashAttempt: 0 })
    expect(await convicted()).toEqual([])
  })
})
