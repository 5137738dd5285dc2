import { defineJob, Spillway } from 'spillway'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import type { Operation } from '../../src/store/store.js'
import { commandLine, type Running } from '../cli/spillway.js'
import { abandon } from '../operations/bulk-work.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'
import { someoneWaits } from '../support/waits.js'

const ROWS = 4_000
const KILLS = 20
/** Batches of a tenth of it. */
const RATE = 1_000

describeStore('a bulk retry whose runner is killed', ({ store, given, db, url, checker, inTransaction }) => {
  const cli = commandLine(url)
  const spillway = new Spillway({ url })
  afterAll(() => spillway.close())

  /** A process that begins the operation, or goes on with it. */
  const run = (id: string | undefined): Running => {
    const begin = ['dlq', 'retry-bulk', '--all', '--rate', String(RATE)]
    const runner = cli.start(...(id === undefined ? begin : ['operations', 'watch', id]), '--json')
    onTestFinished(() => runner.kill('SIGKILL'))
    return runner
  }
  const kill = async (runner: Running) => {
    runner.kill('SIGKILL')
    expect((await runner.done).code).toBeNull()
  }
  const newest = async () => (await store.listOperations({ limit: 1 })).items[0]
  const runnerOf = async (id: string) => (await db.run(runnerNow, [id]))[0]?.[0]

  it('at 20 points of its way is done by those after it, and in the end by a worker: every row once', async () => {
    const ids = await given.jobs(ROWS, { state: 'archived', attempt: 5, maxAttempts: 5, tags: ['t'] })
    await db.script(SLOW_BATCHES)
    const killed = new Set<string>()
    let operation: Operation | undefined

    for (let point = 1; point <= KILLS; point++) {
      const runner = run(operation?.id)
      operation = await until(
        async () => {
          const now = await newest()
          return now && now.succeeded >= (point * ROWS) / (KILLS + 1) && now
        },
        { what: `${point} of ${KILLS + 1} parts` },
      )
      // Every other one in the middle of a batch; the others wherever they are just then.
      if (point % 2 === 0) await until(async () => (await db.run(inABatch, [])).length > 0, { every: 2 })
      killed.add((await runnerOf(operation.id)) ?? '')
      await kill(runner)
      if (point < KILLS) await db.run(abandon, [operation.id])
    }
    await db.script(FAST_BATCHES)
    const { id } = operation as Operation
    expect(await store.getOperation(id)).toMatchObject({ state: 'running' })
    const elsewhere = defineJob({ kind: 'other', queue: 'elsewhere' }).handle(() => undefined)
    const worker = spillway.worker({ queues: { elsewhere: {} }, jobs: [elsewhere] })
    await worker.start()
    const done = await until(
      async () => {
        const now = await store.getOperation(id)
        return now?.state !== 'running' && now
      },
      { within: '60s', every: 100, what: 'the end of the operation' },
    )
    await worker.stop()

    expect(done).toMatchObject({ state: 'done', matched: ROWS, succeeded: ROWS, failed: 0, skipped: 0 })
    expect(done.newerLeftAlone).toBe(0)
    expect(killed.size).toBe(KILLS)
    expect(killed).not.toContain(await runnerOf(id))
    await checker.expectExactly(ids, { gone: {} })
    expect(await checker.census()).toEqual({ available: ROWS })
    expect(await db.run(retriedBy, [id])).toEqual([['1', '1', String(ROWS)]])
    expect(await db.run(departed, [])).toEqual([['retried', String(ROWS)]])
  })

  it('in the middle of a batch leaves nothing of that batch behind', async () => {
    await given.jobs(30, { state: 'archived' })
    await given.jobs(1, { state: 'archived', uniqueKey: 'k' })
    const runner = run(undefined)
    let id = ''

    await inTransaction(async (tx) => {
      // Its batch waits for whoever is taking the same key.
      await tx.execute(`insert into spillway.unique_keys (key, job_id) values ('k', 0)`)
      await someoneWaits(url)
      id = (await newest())?.id ?? ''
      await kill(runner)
      await tx.execute(`delete from spillway.unique_keys where key = 'k'`)
    })
    await until(async () => (await db.run(othersAtWork, [])).length === 0, { what: 'the end of the killed backend' })
    const left = await checker.census()
    await db.run(abandon, [id])
    const heir = await cli.json('operations', 'watch', id)

    expect(left).toEqual({ archived: 31 })
    expect(heir).toMatchObject({ code: 0, document: { state: 'done', matched: 31, succeeded: 31, failed: 0 } })
    expect(await db.run(retriedBy, [id])).toEqual([['1', '1', '31']])
  })
})

/** Each batch takes a moment, inside its transaction. */
const SLOW_BATCHES = `
  create function spillway.slowly() returns trigger language plpgsql as
    $$ begin perform pg_sleep(0.05); return null; end $$;
  create trigger slowly after insert on spillway.ready_entries
     for each statement execute function spillway.slowly()`

const FAST_BATCHES = `drop function spillway.slowly() cascade`

const inABatch = sql<[], [pid: string]>`
  select pid from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`

const othersAtWork = sql<[], [pid: string]>`
  select pid from pg_stat_activity
   where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
     and backend_type = 'client backend'`

const runnerNow = sql<[id: string], [runner: string | null]>`
  select runner from spillway.operations where id = $1::bigint`

/** How often those at work were sent back by it, and how many. */
const retriedBy = sql<[operation: string], [generation: string, times: string, n: string]>`
  select r.generation,
         (select count(*) from unnest(array_append(r.history, r.last_entry::json)) as e
           where e ->> 'type' = 'retried' and e ->> 'operation' = $1::bigint::text) as times,
         count(*)
    from spillway.ready_entries r
   group by 1, 2`

const departed = sql<[], [reason: string, n: string]>`
  select reason, sum(n) from spillway.counters where what = 'departed' group by reason`
