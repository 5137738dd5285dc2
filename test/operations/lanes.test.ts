import { expect, it } from 'vitest'
import { runOperation } from '../../src/client/operation-runner.js'
import { sql } from '../../src/store/postgres/sql.js'
import { lockWaits } from '../store/heard.js'
import { describeStore } from '../support/store.js'
import { abandon, act, deadIds, readyIds, request, stepUntil, total } from './bulk-work.js'

/** More than both halves do in two steps of eight batches. */
const MANY = 20_400

describeStore('a large retry that nothing limits', ({ store, given, db, inTransaction, checker }) => {
  async function begun(runner = 'me'): Promise<string> {
    await given.jobs(MANY, { state: 'archived' })
    const { id } = await store.startOperation(request({ selector: { all: true }, maxWaiting: 0 }), act)
    await stepUntil(store, id, runner, ({ matched }) => matched === MANY)
    return id
  }

  it('does batches of each half at the same time, and waits for nobody who is at one', async () => {
    const id = await begun()
    await inTransaction(async (tx) => {
      await tx.run(lockLane, [id, 0])
      expect(await store.stepOperation(id, 'me')).toMatchObject({ waitMs: 0, operation: { succeeded: 4_000 } })
      expect(await db.run(remainders, [])).toEqual([['1', '4000']])
      await tx.run(lockLane, [id, 1])
      const idle = await store.stepOperation(id, 'me')
      expect(idle).toMatchObject({ operation: { state: 'running', succeeded: 4_000 } })
      expect(idle.waitMs).toBeGreaterThan(0)
    })

    const step = await inTransaction(async (tx) => {
      await tx.run(lockOperation, [id])
      const both = store.stepOperation(id, 'me')
      await lockWaits(db, 2)
      return { both }
    })

    expect(await step.both).toMatchObject({ operation: { succeeded: 12_000 } })
    expect(await runOperation(store, id, 'me')).toMatchObject({ state: 'done', matched: MANY, succeeded: MANY })
    expect(await db.run(lanesLeft, [])).toEqual([])
  }, 60_000)

  it('takes each row once and counts what it refuses once, however its steps fall', async () => {
    const id = await begun()
    await db.run(wearOut, [])

    const done = await runOperation(store, id, 'me')

    expect(done).toMatchObject({ state: 'done', matched: MANY, succeeded: MANY - 204, failed: 204, vanished: 0 })
    expect(total(done)).toBe(MANY)
    expect(new Set(await db.run(readyIds, [])).size).toBe(MANY - 204)
    expect((await store.operationRows(id, { limit: 300 })).items).toHaveLength(204)
    // The checker joins every table with every other, and a plan for empty ones would take a minute.
    await db.transaction((tx) => tx.execute('analyze'))
    await checker.expectClean()
  }, 60_000)

  it('survives its runner, killed in both halves: another does the rest, each row once', async () => {
    for (const kill of [0, 1, 2]) {
      const id = await begun('killed')
      for (let step = 0; step < kill; step++) await store.stepOperation(id, 'killed')
      await inTransaction(async (tx) => {
        // Both halves stop in the middle of a batch, and are cut there.
        await tx.run(lockOperation, [id])
        let isOver = false
        const step = store
          .stepOperation(id, 'killed')
          .catch((error: unknown) => error)
          .finally(() => {
            isOver = true
          })
        while (!isOver) await db.run(killWaiting, [])
        await step
      })
      await db.run(abandon, [id])

      expect(await runOperation(store, id, 'heir')).toMatchObject({ state: 'done', matched: MANY, succeeded: MANY })
      expect(await db.run(deadIds, [])).toEqual([])
      expect(await db.run(generations, [])).toEqual([['1', String(MANY)]])
      await db.run(clear, [])
    }
  }, 120_000)

  it.each(['pauseOperation', 'cancelOperation'] as const)(
    'does nothing more after %s has answered',
    async (stop) => {
      const id = await begun()
      await store.stepOperation(id, 'me')
      const moved = await inTransaction(async (tx) => {
        // The batch is done and about to be counted when the operator's word comes first.
        await tx.run(lockOperation, [id])
        const step = store.stepOperation(id, 'me')
        await lockWaits(db)
        const told = store[stop](id, act)
        await lockWaits(db, 2)
        await tx.run(stopped, [id, stop === 'pauseOperation' ? 'paused' : 'cancelled'])
        return { step, told: told.catch((error: unknown) => error) }
      })
      const { operation, waitMs } = await moved.step
      await moved.told

      expect(operation.state).toBe(stop === 'pauseOperation' ? 'paused' : 'cancelled')
      expect(waitMs).toBeNull()
      const found = await store.getOperation(id)
      expect(await db.run(readyIds, [])).toHaveLength(found?.succeeded ?? -1)
      expect(found?.succeeded).toBe(8_000)
    },
    60_000,
  )

  it('goes on where each half stands when it is given a rate, and when that is taken off again', async () => {
    const id = await begun()
    await store.stepOperation(id, 'me')

    await store.setOperationRate(id, 1_000_000, null, act)
    const paced = await store.stepOperation(id, 'me')
    await store.setOperationRate(id, null, null, act)
    const done = await runOperation(store, id, 'me')

    expect(paced).toMatchObject({ operation: { succeeded: 9_000 } })
    expect(done).toMatchObject({ state: 'done', matched: MANY, succeeded: MANY, failed: 0 })
  }, 60_000)

  it('keeps their order where there are fewer rows', async () => {
    await given.jobs(2_500, { state: 'archived' })
    const before = await db.run(deadIds, [])
    const { id } = await store.startOperation(request({ selector: { all: true }, maxWaiting: 0 }), act)

    await runOperation(store, id, 'me')

    expect(await db.run(readyIds, [])).toEqual(before)
  })
})

const lockLane = sql<[operation: string, lane: number], []>`
  select 1 from spillway.operation_lanes where operation_id = $1::bigint and lane = $2 for update`

const lockOperation = sql<[id: string], []>`
  select 1 from spillway.operations where id = $1::bigint for update`

const killWaiting = sql<[], [ended: string]>`
  select pg_terminate_backend(pid) from pg_stat_activity
   where datname = current_database() and wait_event_type = 'Lock'`

const stopped = sql<[id: string, state: string], []>`
  update spillway.operations
     set state = $2, runner = null, runner_until = null, finished_at = case when $2 = 'cancelled' then now() end
   where id = $1::bigint`

const remainders = sql<[], [remainder: string, n: string]>`
  select id % 2, count(*) from spillway.ready_entries group by 1 order by 1`

const lanesLeft = sql<[], [lane: string]>`select lane from spillway.operation_lanes`

/** Every 100th row and its neighbour, so that both halves have some. */
/** Rows made at once have ids without gaps: two of every 200. */
const wearOut = sql<[], []>`
  update spillway.dlq_entries set generation = 10 where id % 200 in (0, 1)`

const generations = sql<[], [generation: string, n: string]>`
  select generation, count(*) from spillway.ready_entries group by 1`

const clear = sql<[], []>`delete from spillway.ready_entries`
