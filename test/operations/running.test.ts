import { expect, it } from 'vitest'
import { runOperation } from '../../src/client/operation-runner.js'
import { checkSelector } from '../../src/job/selector.js'
import { sql } from '../../src/store/postgres/sql.js'
import type { BulkResult } from '../../src/store/store.js'
import { lockWaits } from '../store/heard.js'
import { describeStore } from '../support/store.js'
import { abandon, act, carryOut, deadIds, readyIds, request, stepUntil, total } from './bulk-work.js'

describeStore('an operation and who runs it', ({ store, given, db, inTransaction, checker }) => {
  it('survives its runner, killed after any step: another does the rest, each row once', async () => {
    for (let kill = 0; kill < 20; kill++) {
      const queue = `q${kill}`
      await given.jobs(30, { state: 'archived', queue, tags: ['t'] })
      const { id } = await store.startOperation(request({ selector: { queue }, rate: 1_000_000 / 30 }), act)
      await db.run(smallBatches, [id])
      for (let step = 0; step < kill; step++) await store.stepOperation(id, 'killed')
      await db.run(abandon, [id])

      const operation = await runOperation(store, id, 'heir')

      expect(operation).toMatchObject({ state: 'done', matched: 30, succeeded: 30, failed: 0, skipped: 0 })
      await checker.expectClean()
    }
    expect(await db.run(readyIds, [])).toHaveLength(600)
    expect(await db.run(generations, [])).toEqual([['1', '600']])
  })

  it('survives a connection that is lost in the middle of a step', async () => {
    await given.jobs(2_500, { state: 'archived' })
    const { id } = await store.startOperation(request({ selector: { all: true }, maxWaiting: 0 }), act)
    await stepUntil(store, id, 'killed', ({ succeeded }) => succeeded === 1_000)

    await inTransaction(async (tx) => {
      // The step waits for the operation's row, and is cut there.
      await tx.run(lockOperation, [id])
      const step = store.stepOperation(id, 'killed').catch((error: unknown) => error)
      const cut = async () => (await db.run(killWaiting, [])).length
      while ((await cut()) === 0);
      await step
    })
    await db.run(abandon, [id])

    expect(await runOperation(store, id, 'heir')).toMatchObject({ state: 'done', matched: 2_500, succeeded: 2_500 })
  })

  it('is run by one process at a time, and another only looks', async () => {
    await given.jobs(3, { state: 'archived' })
    const { id } = await store.startOperation(request({ selector: { all: true }, rate: 10 }), act)
    await stepUntil(store, id, 'one', ({ succeeded }) => succeeded === 1)

    const other = await store.stepOperation(id, 'two')

    expect(other).toMatchObject({ waitMs: null, operation: { state: 'running', succeeded: 1 } })
    expect(await store.orphanOperation()).toBeUndefined()
    await db.run(abandon, [id])
    expect(await store.orphanOperation()).toBe(id)
  })

  it('comes back to rows that were locked, and is not done before', async () => {
    const ids = await given.jobs(5, { state: 'archived' })
    const { id } = await store.startOperation(request({ selector: { all: true } }), act)

    await inTransaction(async (tx) => {
      await tx.run(lockJobs, [ids.slice(1, 3)])
      const held = await stepUntil(store, id, 'me', ({ phase, succeeded }) => phase === 'revisiting' && succeeded === 3)
      expect(held).toMatchObject({ state: 'running', succeeded: 3 })
      for (let step = 0; step < 5; step++) {
        expect((await store.stepOperation(id, 'me')).operation).toMatchObject({ state: 'running', succeeded: 3 })
      }
      expect((await store.operationRows(id, { limit: 9 })).items.map((row) => [row.id, row.outcome])).toEqual([
        [ids[1], 'pending'],
        [ids[2], 'pending'],
      ])
    })
    const done = await runOperation(store, id, 'me')

    expect(done).toMatchObject({ state: 'done', matched: 5, succeeded: 5, failed: 0 })
    expect((await store.operationRows(id, { limit: 9 })).items).toEqual([])
  })

  it('lists what somebody else deleted or moved between two passes as vanished', async () => {
    const ids = await given.jobs(3, { state: 'archived' })
    const { id } = await store.startOperation(request({ selector: { all: true } }), act)

    await inTransaction(async (tx) => {
      await tx.run(purgeOne, [ids[1] as string])
      await stepUntil(store, id, 'me', ({ phase }) => phase === 'revisiting')
    })
    const done = await runOperation(store, id, 'me')

    expect(done).toMatchObject({ state: 'done', matched: 3, succeeded: 2, failed: 1 })
    expect((await store.operationRows(id, { limit: 9 })).items).toMatchObject([
      { id: ids[1], outcome: 'failed', code: 'vanished' },
    ])
  })

  it('leaves a row that was changed meanwhile for its next look, and moves what it became', async () => {
    const [changed] = await given.jobs(2, { state: 'archived', uniqueKey: null })
    const { id } = await store.startOperation(request({ selector: { all: true } }), act)

    await inTransaction(async (tx) => {
      await tx.run(editPayload, [changed as string])
      await stepUntil(store, id, 'me', ({ phase }) => phase === 'revisiting')
    })
    await runOperation(store, id, 'me')

    expect(await store.getJob(changed as string, { payload: true })).toMatchObject({
      state: 'available',
      payload: { n: 2 },
    })
  })

  it('waits for an edit that is under way, where ids are acted upon at once, and moves what it became', async () => {
    const [edited = ''] = await given.jobs(1, { state: 'archived', uniqueKey: 'k' })
    const asked = request({ selector: { ids: [edited] } })
    let call: Promise<BulkResult> | undefined

    await inTransaction(async (tx) => {
      await tx.run(editPayload, [edited])
      call = store.actOnIds([edited], asked, act)
      await lockWaits(db)
    })

    expect(await call).toMatchObject({ succeeded: [edited], failed: [], operation: { state: 'done', succeeded: 1 } })
    expect(await store.getJob(edited, { payload: true })).toMatchObject({ state: 'available', payload: { n: 2 } })
  })

  it('does the 997 of 1,000 that it can, and lists the other three with reasons', async () => {
    const ids = await given.jobs(997, { state: 'archived' })
    await given.jobs(1, { state: 'available', uniqueKey: 'k' })
    const [conflict] = await given.jobs(1, { state: 'archived', uniqueKey: 'k' })
    const [capped] = await given.jobs(1, { state: 'archived', generation: 10 })
    const [vanishing] = await given.jobs(1, { state: 'archived' })
    const { id } = await store.startOperation(request({ selector: { all: true }, maxWaiting: 0 }), act)

    await inTransaction(async (tx) => {
      await tx.run(purgeOne, [vanishing as string])
      await stepUntil(store, id, 'me', ({ phase }) => phase === 'revisiting')
    })
    const done = await runOperation(store, id, 'me')

    expect(done).toMatchObject({ state: 'done', matched: 1_000, succeeded: 997, failed: 3, skipped: 0 })
    expect((await store.operationRows(id, { limit: 9 })).items.map((row) => [row.id, row.code])).toEqual([
      [conflict, 'unique_conflict'],
      [capped, 'generation_cap'],
      [vanishing, 'vanished'],
    ])
    expect(await db.run(readyIds, [])).toHaveLength(ids.length + 1)
  })

  it('keeps the order of death at work', async () => {
    await given.jobs(1, { state: 'archived', dlqAt: new Date('2026-01-02T00:00:00Z') })
    await given.jobs(1, { state: 'archived', dlqAt: new Date('2026-01-01T00:00:00Z') })
    await given.jobs(1, { state: 'archived', dlqAt: new Date('2026-01-03T00:00:00Z') })
    const byDeath = await db.run(deadIds, [])

    await carryOut(store, { selector: { all: true } })

    expect(await db.run(readyIds, [])).toEqual(byDeath)
  })

  it('pauses, goes on and is cancelled between two batches, by anybody', async () => {
    await given.jobs(3, { state: 'archived' })
    const { id } = await store.startOperation(request({ selector: { all: true }, rate: 10 }), act)
    await stepUntil(store, id, 'me', ({ succeeded }) => succeeded === 1)

    expect(await store.pauseOperation(id, act)).toMatchObject({ state: 'paused', stateReason: 'paused by ann' })
    expect(await store.stepOperation(id, 'me')).toMatchObject({
      waitMs: null,
      operation: { state: 'paused', succeeded: 1 },
    })
    expect(await store.resumeOperation(id, act)).toMatchObject({ state: 'running', stateReason: null })
    await stepUntil(store, id, 'other', ({ succeeded }) => succeeded === 2)
    expect(await store.cancelOperation(id, act)).toMatchObject({ state: 'cancelled', succeeded: 2 })
    expect(await runOperation(store, id, 'me')).toMatchObject({ state: 'cancelled', succeeded: 2 })

    expect(await db.run(deadIds, [])).toHaveLength(1)
    await expect(store.resumeOperation(id, act)).rejects.toMatchObject({ code: 'invalid_state' })
    await expect(store.pauseOperation('0', act)).rejects.toMatchObject({ code: 'operation_not_found' })
  })

  it('waits while so many of its jobs wait to be claimed', async () => {
    await given.jobs(40, { state: 'archived' })
    const { id } = await store.startOperation(request({ selector: { all: true }, maxWaiting: 10 }), act)
    const full = await stepUntil(store, id, 'me', ({ succeeded }) => succeeded >= 10)

    const step = await store.stepOperation(id, 'me')
    await db.run(claimAll, [])
    const next = await stepUntil(store, id, 'me', ({ succeeded }) => succeeded > 10)

    expect(full.succeeded).toBe(10)
    expect(step).toMatchObject({ operation: { succeeded: 10 } })
    expect(step.waitMs).toBeGreaterThan(0)
    expect(next.succeeded).toBe(20)
    await db.run(claimAll, [])
    await store.cancelOperation(id, act)
  }, 60_000)

  it('moves no more a second than its rate, also when that is changed while it runs', async () => {
    await given.jobs(60, { state: 'archived' })
    const { id } = await store.startOperation(request({ selector: { all: true }, rate: 10 }), act)
    const run = runOperation(store, id, 'me')
    const moved = async () => Number((await store.getOperation(id))?.succeeded)
    while ((await moved()) < 10);
    await store.setOperationRate(id, 40, null, act)
    await run

    const times = (await db.run(retriedAt, [])).map(([at]) => Number(at))
    const [first = 0, tenth = 0] = [times[0], times[9]]
    const most = (part: number[]) =>
      Math.max(...part.map((at) => part.filter((other) => other >= at && other < at + 1_000).length))
    expect(times).toHaveLength(60)
    // A batch beside the rate, and what a late step may make up for.
    expect(most(times.slice(0, 10))).toBeLessThanOrEqual(10 + 2)
    expect(most(times)).toBeLessThanOrEqual(40 + 8)
    expect(tenth - first).toBeGreaterThanOrEqual(700)
  }, 60_000)

  it('ends as failed, with the error, where a row cannot be moved at all', async () => {
    await given.jobs(2, { state: 'archived' })
    await db.script(`alter table spillway.ready_entries add constraint broken check (id < 0) not valid`)
    const { id } = await store.startOperation(request({ selector: { all: true } }), act)

    const failed = await runOperation(store, id, 'me')
    await db.script(`alter table spillway.ready_entries drop constraint broken`)

    expect(failed).toMatchObject({ state: 'failed', succeeded: 0, stateReason: expect.stringContaining('broken') })
    expect(await db.run(deadIds, [])).toHaveLength(2)
    expect(await store.orphanOperation()).toBeUndefined()
  })

  it('takes long lists of ids, each of them once', async () => {
    const ids = await given.jobs(1_500, { state: 'archived' })
    const tooMany = Array.from({ length: 100_001 }, (_, n) => String(n))
    expect(() => checkSelector({ ids: tooMany })).toThrow('the limit is 100000')
    const unknown = Array.from({ length: 65_536 - 1_500 - 1 }, (_, n) => String(9_000_000_000 + n))

    const operation = await carryOut(store, {
      selector: { ids: [...ids, ...unknown, 'x', ids[0] as string] },
      maxWaiting: 0,
    })

    expect(operation).toMatchObject({ state: 'done', matched: 65_536, succeeded: 1_500, failed: 65_536 - 1_500 })
    expect(total(operation)).toBe(operation.matched)
  }, 120_000)
})

/** Three rows a batch. */
const smallBatches = sql<[id: string], []>`
  update spillway.operations set rate = 30, next_at = now() - interval '1 hour' where id = $1::bigint`

const generations = sql<[], [generation: string, n: string]>`
  select generation, count(*) from spillway.ready_entries group by 1`

const lockOperation = sql<[id: string], []>`select from spillway.operations where id = $1::bigint for update`

const killWaiting = sql<[], [done: string]>`
  select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

const lockJobs = sql<[ids: string[]], []>`select from spillway.dlq_entries where id = any ($1::bigint[]) for update`

const purgeOne = sql<[id: string], []>`
  with gone as (delete from spillway.dlq_entries where id = $1::bigint returning queue, cause)
  insert into spillway.cause_deltas (queue, cause, n) select queue, cause, -1 from gone`

const editPayload = sql<[id: string], []>`update spillway.dlq_entries set payload = '{"n":2}' where id = $1::bigint`

/** As if workers had run them to their end. */
const claimAll = sql<[], []>`delete from spillway.ready_entries`

const retriedAt = sql<[], [at: string]>`
  select date_part('epoch', (last_entry::json ->> 'at')::timestamptz) * 1000 as at
    from spillway.ready_entries order by 1`
