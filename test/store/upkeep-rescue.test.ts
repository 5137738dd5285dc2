import { expect, it } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'

const STALE_MS = 45_000
const ago = (ms: number) => new Date(Date.now() - ms)
const SELF = {
  name: 'me',
  host: 'host',
  bootId: 'boot',
  pidNamespace: 'pid',
  pid: 7,
  pidStarted: '70',
  queues: ['default'],
  serves: [],
  concurrency: 1,
  version: '0',
} as const

describeStore('taking jobs of lost workers back', ({ store, given, db, clock, inTransaction }) => {
  const crashes = () =>
    db.run(sql<[], [jobId: string, alone: string]>`select job_id, alone from spillway.crashes order by job_id`, [])
  const endWorker = (registration: string) =>
    db.run(sql<[string], []>`delete from spillway.workers where registration = $1`, [registration])

  const crashedBefore = (times: number, payload: object) =>
    db.run(
      sql<[number, string], []>`
        insert into spillway.crashes (fingerprint, kind, queue, job_id, registration, alone)
        select spillway.fingerprint('test', $2::json), 'test', 'default', 1, n, false from generate_series(1, $1) n`,
      [times, JSON.stringify(payload)],
    )

  it('charges the crash of a silent worker, once, and nothing to others', async () => {
    const silent = await given.worker({ name: 'gone', heartbeatAt: ago(46_000) })
    const alive = await given.worker({ heartbeatAt: ago(40_000) })
    const lost = await given.job({ state: 'running', registration: silent, attempt: 1, handbacks: 2, uniqueKey: 'a' })
    const running = await given.job({ state: 'running', registration: alive })

    const rescued = await store.rescue(STALE_MS, 3)
    const again = await store.rescue(STALE_MS, 3)

    expect(rescued).toEqual({ retried: 1, quarantined: 0, handedBack: 0 })
    expect(again).toEqual({ retried: 0, quarantined: 0, handedBack: 0 })
    const back = (await store.getJob(lost.id))!
    expect(back).toMatchObject({ state: 'retryable', attempt: 1, crashAttempt: 1, handbacks: 0, uniqueKey: 'a' })
    expect(back.runAt.getTime() - Date.now()).toBeGreaterThan(3_000)
    expect(back.runAt.getTime() - Date.now()).toBeLessThan(6_000)
    expect(back.history?.at(-1)).toMatchObject({
      type: 'crash',
      attempt: 1,
      generation: 0,
      leaseId: lost.leaseId,
      worker: 'gone',
      at: expect.any(Date),
      startedAt: expect.any(Date),
      lastHeartbeatAt: expect.any(Date),
    })
    expect((await store.getJob(running.id))?.state).toBe('running')
    expect(await crashes()).toEqual([[lost.id, 't']])
    expect((await store.listWorkers()).map((worker) => worker.registration)).toEqual([alive])
  })

  it.each([
    ['foreign', { leaseId: '5' }],
    ['from another life of the database', { leaseId: String((9_999n << 36n) + 4n) }],
    ['of the last registration there can be', { leaseId: String((1n << 63n) - 1n) }],
  ])('recovers a running job whose registration is %s, charged once', async (_, seed) => {
    const orphan = await given.job({ state: 'running', ...seed })

    await store.rescue(STALE_MS, 3)
    await store.rescue(STALE_MS, 3)

    expect(await store.getJob(orphan.id)).toMatchObject({ state: 'retryable', crashAttempt: 1 })
    expect(await crashes()).toHaveLength(1)
  })

  it('waits longer after each crash, an hour at most', async () => {
    const worker = await given.worker()
    const third = await given.job({ state: 'running', registration: worker, crashAttempt: 2, runLease: 3 })
    const many = await given.job({ state: 'running', registration: worker, crashAttempt: 30, maxAttempts: 50 })
    await endWorker(worker)

    await store.rescue(STALE_MS, 100)

    const dueIn = async (id: string) => Math.round(((await store.getJob(id))!.runAt.getTime() - Date.now()) / 1000)
    expect(await dueIn(third.id)).toBeGreaterThanOrEqual(18)
    expect(await dueIn(third.id)).toBeLessThanOrEqual(20)
    expect(await dueIn(many.id)).toBeGreaterThanOrEqual(3_595)
    expect(await dueIn(many.id)).toBeLessThanOrEqual(3_600)
  })

  it('returns what a stopping worker left uncharged, at its position', async () => {
    const worker = await given.worker({ state: 'stopping' })
    const job = await given.job({ state: 'running', registration: worker, position: '77', handbacks: 3 })
    await endWorker(worker)

    const rescued = await store.rescue(STALE_MS, 3)

    expect(rescued).toEqual({ retried: 0, quarantined: 0, handedBack: 1 })
    expect(await store.getJob(job.id)).toMatchObject({ state: 'available', crashAttempt: 0, handbacks: 4, history: [] })
    const [row] = await db.run(sql<[string], [string]>`select position from spillway.ready_entries where id = $1`, [
      job.id,
    ])
    expect(row).toEqual(['77'])
    expect(await crashes()).toEqual([])
  })

  it('holds a job that was handed back ten times in a row', async () => {
    const worker = await given.worker({ state: 'stopping' })
    const job = await given.job({ state: 'running', registration: worker, handbacks: 9, uniqueKey: 'k' })
    await endWorker(worker)

    const rescued = await store.rescue(STALE_MS, 3)

    expect(rescued).toEqual({ retried: 0, quarantined: 1, handedBack: 0 })
    const held = await store.getJob(job.id)
    expect(held).toMatchObject({ state: 'quarantined', crashAttempt: 0, handbacks: 10, uniqueKey: 'k' })
    expect(held?.history?.at(-1)).toMatchObject({ type: 'handed_back', handbacks: 10, leaseId: job.leaseId })
  })

  it('recovers the others when one of three orphans is over its limit', async () => {
    const worker = await given.worker()
    const of = (seed: object) => given.job({ state: 'running', registration: worker, maxAttempts: 2, ...seed })
    const jobs = [await of({}), await of({ attempt: 1, crashAttempt: 3, uniqueKey: 'k' }), await of({ attempt: 1 })]
    await endWorker(worker)

    const rescued = await store.rescue(STALE_MS, 3)
    const again = await store.rescue(STALE_MS, 3)

    expect(rescued).toEqual({ retried: 2, quarantined: 1, handedBack: 0 })
    expect(again).toEqual({ retried: 0, quarantined: 0, handedBack: 0 })
    const states = await Promise.all(jobs.map(async ({ id }) => (await store.getJob(id))?.state))
    expect(states).toEqual(['retryable', 'quarantined', 'retryable'])
    const [held] = await db.run(
      sql<[], string[]>`select held_reason, crash_attempt, fingerprint from spillway.held_entries`,
      [],
    )
    expect(held).toEqual(['crash_bound', '4', expect.stringMatching(/^[0-9a-f]{32}$/)])
  })

  it('counts only charged starts since the last release or retry', async () => {
    const worker = await given.worker()
    const job = await given.job({
      state: 'running',
      registration: worker,
      maxAttempts: 2,
      attempt: 1,
      crashAttempt: 3,
      chargeBase: 4,
    })
    await given.job({ state: 'running', registration: worker })
    await endWorker(worker)

    await store.rescue(STALE_MS, 3)

    expect((await store.getJob(job.id))?.state).toBe('retryable')
  })

  it('convicts by the third crash only a job that ran alone', async () => {
    const crowd = await given.worker()
    const single = await given.worker()
    await crashedBefore(2, {})
    await crashedBefore(2, { n: 1 })
    const inCompany = await given.job({ state: 'running', registration: crowd })
    await given.job({ state: 'running', registration: crowd, payload: { n: 2 } })
    const alone = await given.job({ state: 'running', registration: single, payload: { n: 1 } })
    await endWorker(crowd)
    await endWorker(single)

    const rescued = await store.rescue(STALE_MS, 3)

    expect(rescued).toEqual({ retried: 2, quarantined: 1, handedBack: 0 })
    expect((await store.getJob(inCompany.id))?.state).toBe('retryable')
    expect((await store.getJob(alone.id))?.state).toBe('quarantined')
  })

  it('does not take the last job of a crowd that was taken back in two passes for one that ran alone', async () => {
    const crowd = await given.worker()
    await crashedBefore(2, {})
    const locked = await given.job({ state: 'running', registration: crowd })
    await given.job({ state: 'running', registration: crowd })
    await endWorker(crowd)

    await inTransaction(async (tx) => {
      await tx.run(sql<[id: string], []>`select from spillway.leases where id = $1 for update`, [locked.id])
      expect(await store.rescue(STALE_MS, 3)).toMatchObject({ retried: 1 })
    })
    const rescued = await store.rescue(STALE_MS, 3)

    expect(rescued).toEqual({ retried: 1, quarantined: 0, handedBack: 0 })
  })

  it('follows the crash limit of the queue', async () => {
    await db.run(sql<[], []>`insert into spillway.queues (queue, policy) values ('default', '{"crashLimit": 1}')`, [])
    const worker = await given.worker()
    const orphan = await given.job({ state: 'running', registration: worker })
    await endWorker(worker)

    await store.rescue(STALE_MS, 3)

    expect((await store.getJob(orphan.id))?.state).toBe('quarantined')
  })

  it('declares nobody lost until it has itself watched for a whole stale time', async () => {
    await store.rescue(STALE_MS, 3)
    const worker = await given.worker()
    const job = await given.job({ state: 'running', registration: worker })
    const away = sql<[ms: number], []>`
      update spillway.leaders set written_at = written_at - $1 * interval '1 ms' where name = 'rescue'`
    const silence = sql<[ms: number], []>`
      update spillway.workers set heartbeat_at = heartbeat_at - $1 * interval '1 ms'`

    // The database was away for a minute, so nobody could beat.
    await db.run(away, [60_000])
    await db.run(silence, [60_000])
    await store.rescue(STALE_MS, 3)
    const atReturn = (await store.getJob(job.id))?.state
    // It stays silent while the leader writes.
    await db.run(
      sql<[], []>`update spillway.leaders set writing_since = now() - interval '46 s' where name = 'rescue'`,
      [],
    )
    await store.rescue(STALE_MS, 3)

    expect(atReturn).toBe('running')
    expect((await store.getJob(job.id))?.state).toBe('retryable')
  })

  it('still takes back what ended registrations held while it has to wait for silent ones', async () => {
    await store.rescue(STALE_MS, 3)
    await clock.advance('1m')
    const job = await given.job({ state: 'running', leaseId: '5' })

    await store.rescue(STALE_MS, 3)

    expect((await store.getJob(job.id))?.state).toBe('retryable')
  })

  it('forgets what a lost attempt reported', async () => {
    const orphan = await given.job({ state: 'running', leaseId: '5' })
    await db.run(
      sql<[string], []>`
      insert into spillway.attempt_state (job_id, lease_id, progress) values ($1, 5, '{"done":1}')`,
      [orphan.id],
    )

    await store.rescue(STALE_MS, 3)

    expect(await db.run(sql`select job_id from spillway.attempt_state`, [])).toEqual([])
    expect((await store.getJob(orphan.id))?.progress ?? null).toBeNull()
  })

  it('ends workers of this host whose process is gone, and no others', async () => {
    const gone = await given.worker({ ...where(), pid: 100, pidStarted: '1' })
    const reused = await given.worker({ ...where(), pid: 101, pidStarted: '1' })
    const living = await given.worker({ ...where(), pid: 102, pidStarted: '9' })
    const elsewhere = await given.worker({ ...where(), host: 'other', pid: 100 })
    const inContainer = await given.worker({ ...where(), pidNamespace: 'another', pid: 100 })
    const beforeBoot = await given.worker({ ...where(), bootId: 'earlier', pid: 100 })
    const processes = new Map([
      [101, '5'],
      [102, '9'],
    ])

    const ended = await store.endGone(SELF, (pid, started) => processes.get(pid) === started)

    expect(ended).toBe(2)
    const left = (await store.listWorkers()).map((worker) => worker.registration).sort()
    expect(left).toEqual([living, elsewhere, inContainer, beforeBoot].sort())
    expect(left).not.toContain(gone)
    expect(left).not.toContain(reused)
  })

  it.each([
    ['running', 'retryable', 1],
    ['stopping', 'available', 0],
  ] as const)('after the process of a %s worker is gone its job is %s', async (state, after, crashAttempt) => {
    const worker = await given.worker({ ...where(), state, pid: 100 })
    const job = await given.job({ state: 'running', registration: worker })

    await store.endGone(SELF, () => false)
    await store.rescue(STALE_MS, 3)

    expect(await store.getJob(job.id)).toMatchObject({ state: after, crashAttempt })
  })
})

function where() {
  return { host: SELF.host, bootId: SELF.bootId, pidNamespace: SELF.pidNamespace }
}
