import { defineJob, Spillway, type Worker } from 'spillway'
import { type Signal, signal } from 'spillway/testing'
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest'
import type { ClaimedJob } from '../../src/store/store.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'
import { workerInfo } from '../support/worker-info.js'

const ACT = { actor: 'test' }
const FRESH = { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false } as const

describeStore('a statement that the database refuses', ({ store, given, db, url, checker }) => {
  const spillway = new Spillway({ url })
  afterAll(() => spillway.close())

  const execute = (text: string) => db.transaction((tx) => tx.execute(text))
  const refuse = (table: string, event: 'insert' | 'delete') =>
    execute(`
      create sequence if not exists spillway.refusals;
      create or replace function spillway.refuse() returns trigger language plpgsql as
        $$ begin perform nextval('spillway.refusals'); raise exception 'refused by the test'; end $$;
      create trigger refuse before ${event} on spillway.${table} for each row execute function spillway.refuse()`)
  /** Resolves when the trigger has spoken: a sequence keeps what the transaction takes back. */
  const refusedBy = (table: string) =>
    until(
      async () => {
        const [row] = await db.runRaw<[], [string]>(
          { name: 'refusals', text: 'select is_called from spillway.refusals' },
          [],
        )
        return row?.[0] === 't'
      },
      { what: `a refusal by ${table}` },
    )
  /** The same, when it has spoken three times: the outcome was tried again and again. */
  const refusedAgain = () =>
    until(async () => {
      const [row] = await db.runRaw<[], [string]>(
        { name: 'refusals_value', text: 'select last_value from spillway.refusals' },
        [],
      )
      return Number(row?.[0]) >= 3
    })
  const allow = (table: string) => execute(`drop trigger if exists refuse on spillway.${table}`)

  const REFUSED = [
    ['a death', 'dlq_entries', 'fail', 'archived'],
    ['a death whose tags', 'dlq_tags', 'fail', 'archived'],
    ['a death whose cause', 'dlq_causes', 'fail', 'archived'],
    ['a death whose event', 'event_outbox', 'fail', 'archived'],
    ['a success', 'terminal_entries', 'succeed', 'completed'],
    ['a retry', 'deferred_jobs', 'failFirst', 'completed'],
  ] as const

  let worker: Worker | undefined
  let ran: Signal<string>
  beforeEach(() => {
    ran = signal<string>()
  })
  afterEach(async () => {
    for (const [, table] of REFUSED) await allow(table)
    await execute('drop sequence if exists spillway.refusals')
    await worker?.stop({ grace: 100, abort: 100 })
  })

  const start = async () => {
    const job = defineJob<{ to: string }>({ kind: 'test', backoff: () => 1 })
    worker = spillway.worker({
      queues: { default: { concurrency: 2 } },
      heartbeat: 500,
      stale: 1_500,
      poll: 50,
      jobs: [
        job.handle(({ to }, { job: { id, attempt } }) => {
          ran.fire(id)
          if (to === 'fail' || (to === 'failFirst' && attempt === 0)) throw new Error('it failed')
        }),
      ],
    })
    await worker.start()
    return worker
  }

  it.each(REFUSED)(
    '%s is refused by a trigger on %s: the job stays, and ends once that is gone',
    async (_, table, to, state) => {
      const [id] = await given.jobs(1, { maxAttempts: to === 'failFirst' ? 2 : 1, tags: ['x'], payload: { to } })
      await refuse(table, 'insert')
      await start()
      await ran.next()
      await refusedBy(table)

      await refusedAgain()
      const meanwhile = await checker.census()
      const runs = ran.count
      await allow(table)
      await until(async () => {
        await execute('update spillway.deferred_jobs set due_at = now()')
        return (await checker.census())[state] === 1
      })

      expect(Object.values(meanwhile)).toEqual([1])
      // The outcome is kept and tried again under the same lease: the handler is not run a second time for it.
      expect(Object.keys(meanwhile)).toEqual(['running'])
      expect(runs).toBe(1)
      expect(ran.count).toBe(to === 'failFirst' ? 2 : 1)
      await checker.expectExactly([id as string])
    },
  )

  it('leaves other jobs of the same batch to the next one', async () => {
    await given.jobs(20, { payload: { to: 'succeed' } })
    await given.jobs(1, { maxAttempts: 1, payload: { to: 'fail' } })
    await refuse('dlq_entries', 'insert')

    await start()

    await until(async () => (await checker.census())['completed'] === 20)
    expect((await checker.census())['archived']).toBeUndefined()
  })

  it('a retry of a dead letter that cannot be stored leaves the dead letter', async () => {
    const dead = await given.job({ state: 'archived', tags: ['x'], uniqueKey: 'k' })
    await refuse('audit_log', 'insert')

    await expect(store.retryJob(dead.id, FRESH, ACT)).rejects.toMatchObject({ code: 'internal' })
    await allow('audit_log')

    expect(await store.getJob(dead.id, { payload: true })).toEqual(dead)
    expect(await store.retryJob(dead.id, FRESH, ACT)).toMatchObject({ state: 'available' })
  })

  it('rescues the jobs around one that is over its limit', async () => {
    const registration = await given.worker({ heartbeatAt: new Date(0) })
    const seed = { state: 'running', registration, maxAttempts: 1 } as const
    const [before] = await given.jobs(1, seed)
    const [over] = await given.jobs(1, { ...seed, crashAttempt: 3 })
    const [after] = await given.jobs(1, seed)
    await execute(`delete from spillway.workers`)

    const first = await store.rescue(45_000, 3)
    const second = await store.rescue(45_000, 3)

    expect(first).toEqual({ retried: 2, quarantined: 1, handedBack: 0 })
    expect(second).toEqual({ retried: 0, quarantined: 0, handedBack: 0 })
    expect(await store.getJob(over as string)).toMatchObject({ state: 'quarantined', crashAttempt: 4 })
    for (const id of [before, after]) expect(await store.getJob(id as string)).toMatchObject({ state: 'retryable' })
  })

  it('a session without a live connection loses nothing that it had claimed', async () => {
    await given.jobs(3)
    const session = await store.register(workerInfo())
    const jobs = await session.claim('default', 3)
    await execute(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )

    const settled = await session.settle(
      jobs.map((job: ClaimedJob) => ({ job, end: { event: 'complete', result: null } as const })),
    )

    expect(settled.map(({ outcome }) => outcome)).toEqual(['applied', 'applied', 'applied'])
    await session.close()
  })
})
