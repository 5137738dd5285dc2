import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ClaimedJob, JobEnd, NewJob, WorkerSession } from '../../src/store/store.js'
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
const DEAD: JobEnd = {
  event: 'dead',
  reason: 'attempts_exhausted',
  charge: 1,
  entry: '{"type":"error","name":"Error","message":"it failed"}',
  cause: 'c',
  errorClass: 'Error',
  errorMessage: 'it failed',
  title: 'Error: it failed',
}

/** Rolled back by the server because of others: repeated without a word. */
const CONFLICTS = ['40001', '40P01']
/** As if the server went away: repeated where the statement can tell what it did, else reported to the caller. */
const GONE = ['57P01', '08006', '53300']

describeStore('a statement that fails for a reason that passes', ({ store, given, db, checker }) => {
  let session: WorkerSession
  beforeEach(async () => {
    session = await store.register(workerInfo())
  })
  afterEach(async () => {
    await session.close()
    await execute('drop sequence if exists spillway.failures')
    for (const table of TABLES) await execute(`drop trigger if exists fail on spillway.${table}`)
  })

  const TABLES = ['ready_entries', 'terminal_entries', 'dlq_entries', 'leases'] as const
  const execute = (text: string) => db.transaction((tx) => tx.execute(text))

  /** Lets the next inserts into the table fail with the code, so many times; a sequence counts across rollbacks. */
  const failing = (table: (typeof TABLES)[number], code: string, times: number) =>
    execute(`
      create sequence spillway.failures;
      create or replace function spillway.fail() returns trigger language plpgsql as $$
      begin
        if nextval('spillway.failures') <= ${times} then raise exception 'made up' using errcode = '${code}'; end if;
        return new;
      end $$;
      create trigger fail before insert on spillway.${table} for each row execute function spillway.fail()`)

  const claimed = async (): Promise<ClaimedJob> => {
    await given.jobs(1)
    return (await session.claim('default', 1))[0] as ClaimedJob
  }
  const matrix = [...CONFLICTS, ...GONE].flatMap((code) => [1, 3].map((times) => [code, times] as const))

  it.each(matrix)('is repeated, and stores the job once: enqueue, %s, %d times', async (code, times) => {
    await failing('ready_entries', code, times)

    const stored = await store.enqueue([NEW])

    expect(await checker.expectExactly(stored.map(({ id }) => id))).toMatchObject({ present: 1, left: 0 })
  })

  it.each(matrix)('is repeated, and ends the attempt once: success, %s, %d times', async (code, times) => {
    const job = await claimed()
    await failing('terminal_entries', code, times)

    const [settled] = await session.settle([{ job, end: { event: 'complete', result: null } }])

    expect(settled).toEqual({ outcome: 'applied', state: 'completed' })
    expect(await checker.census()).toEqual({ completed: 1 })
  })

  it.each(matrix)('is repeated, and buries the job once: death, %s, %d times', async (code, times) => {
    const job = await claimed()
    await failing('dlq_entries', code, times)

    const [settled] = await session.settle([{ job, end: DEAD }])

    expect(settled).toEqual({ outcome: 'applied', state: 'archived' })
    expect(await checker.census()).toEqual({ archived: 1 })
  })

  it.each(matrix)('loses nothing, and a second try is the first: claim, %s, %d times', async (code, times) => {
    const [id] = await given.jobs(1)
    await failing('leases', code, times)

    let jobs: readonly ClaimedJob[] = []
    for (let tries = 0; tries <= times && jobs.length === 0; tries++) {
      jobs = await session.claim('default', 1).catch((error: { code: string }) => {
        expect([error.code, GONE]).toEqual(['store_unavailable', expect.arrayContaining([code])])
        return []
      })
      if (jobs.length === 0) await session.pulse()
    }

    expect(jobs.map((job) => [job.id, job.runLease])).toEqual([[id, 1]])
    expect(await checker.census()).toEqual({ running: 1 })
  })

  it.each(matrix)('moves the job once, or says that it did not: retry, %s, %d times', async (code, times) => {
    const dead = await given.job({ state: 'archived', tags: ['x'] })
    await failing('ready_entries', code, times)

    let state: string | undefined
    for (let tries = 0; tries <= times && state === undefined; tries++) {
      state = await store.retryJob(dead.id, FRESH, ACT).then(
        (acted) => acted.state,
        (error: { code: string }) => {
          expect([error.code, GONE]).toEqual(['store_unavailable', expect.arrayContaining([code])])
          return undefined
        },
      )
    }

    expect(state).toBe('available')
    expect(await store.getJob(dead.id)).toMatchObject({ state: 'available', generation: 1 })
  })
})
