import { expect, it } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'
import { act, carryOut, deadIds, readyIds, request, stepUntil, total } from './bulk-work.js'

const LONG_AGO = new Date('2020-01-01T00:00:00.000Z')

describeStore('bulk work is bound to what was seen', ({ store, given, db, inTransaction }) => {
  it('moves exactly the 12 a preview saw, and counts the 100 that died later, whatever their time of death', async () => {
    const seen = await given.jobs(12, { state: 'archived', queue: 'billing' })
    const preview = await carryOut(store, { selector: { queue: 'billing' }, dryRun: true })
    await given.jobs(60, { state: 'archived', queue: 'billing' })
    await given.jobs(40, { state: 'archived', queue: 'billing', dlqAt: LONG_AGO })

    const operation = await carryOut(store, { selector: {}, preview: preview.id })

    expect(preview).toMatchObject({ matched: 12, preview: { samples: expect.objectContaining({ length: 10 }) } })
    expect(operation).toMatchObject({ state: 'done', matched: 12, succeeded: 12, newerLeftAlone: 100 })
    expect((await db.run(readyIds, [])).map(([id]) => id)).toEqual(seen)
    expect(await db.run(deadIds, [])).toHaveLength(100)
  })

  it('leaves alone what a transaction brings that was open when the preview was made', async () => {
    const seen = await given.jobs(3, { state: 'archived' })
    let preview = ''

    await inTransaction(async (tx) => {
      await tx.run(dieSoon, [])
      preview = (await carryOut(store, { selector: { all: true }, dryRun: true })).id
    })
    const operation = await carryOut(store, { selector: {}, preview })

    expect(operation).toMatchObject({ matched: 3, succeeded: 3, newerLeftAlone: 1 })
    expect((await db.run(readyIds, [])).map(([id]) => id)).toEqual(seen)
  })

  it('takes imported rows, which no transaction of this cluster wrote', async () => {
    await given.jobs(2, { state: 'archived', dlqXid: null })

    expect(await carryOut(store, { selector: { all: true } })).toMatchObject({ succeeded: 2, newerLeftAlone: 0 })
  })

  it('leaves alone what dies again while it runs, also where it is named, so it always ends', async () => {
    const ids = await given.jobs(3, { state: 'archived', queue: 'a' })
    await given.jobs(3, { state: 'archived', queue: 'b' })
    const byQueue = await store.startOperation(request({ selector: { queue: 'a' }, rate: 10 }), act)
    const byIds = await store.startOperation(request({ selector: { ids } }), act)
    await stepUntil(store, byQueue.id, 'me', ({ succeeded }) => succeeded === 1)
    // The one that moved dies again; it would be the next in line.
    await db.run(dieAgain, [])

    const ended = await stepUntil(store, byQueue.id, 'me', ({ state }) => state === 'done')
    const named = await stepUntil(store, byIds.id, 'me', ({ state }) => state === 'done')

    expect(ended).toMatchObject({ matched: 3, succeeded: 3, failed: 0, newerLeftAlone: 1 })
    expect(total(named)).toBe(3)
    expect(named).toMatchObject({ succeeded: 0, failed: 3 })
    const codes = (await store.operationRows(byIds.id, { limit: 10 })).items.map(({ code }) => code)
    expect(codes).toEqual(['not_selected', 'invalid_state', 'invalid_state'])
  })

  it('refuses a preview that is none, or has not ended', async () => {
    await given.jobs(1, { state: 'archived' })
    const done = await carryOut(store, { selector: { all: true } })
    const open = await store.startOperation(request({ selector: { all: true }, dryRun: true }), act)

    for (const preview of [done.id, open.id]) {
      const asked = store.startOperation(request({ selector: {}, preview }), act)
      await expect(asked).rejects.toMatchObject({ code: 'invalid_option' })
    }
    const unknown = store.startOperation(request({ selector: {}, preview: '999999' }), act)
    await expect(unknown).rejects.toMatchObject({ code: 'operation_not_found' })
  })

  it('says before what a retry would refuse, with counts by cause', async () => {
    await given.jobs(1, { state: 'available', uniqueKey: 'k' })
    await given.jobs(1, { state: 'archived', uniqueKey: 'k', cause: 'c1' })
    await given.jobs(2, { state: 'archived', generation: 10, cause: 'c1' })
    await given.jobs(1, { state: 'archived', cause: 'c2' })

    const { preview, matched } = await carryOut(store, { selector: { all: true }, dryRun: true })

    expect(matched).toBe(4)
    expect(preview?.causes.map(({ cause, count }) => [cause, count])).toEqual([
      ['c1', 3],
      ['c2', 1],
    ])
    expect([...(preview?.wouldRefuse ?? [])].sort((a, b) => a.count - b.count)).toEqual([
      { code: 'unique_conflict', count: 1 },
      { code: 'generation_cap', count: 2 },
    ])
    expect(await db.run(deadIds, [])).toHaveLength(4)
  })
})

const dieSoon = sql<[], []>`
  with dead as (
    insert into spillway.dlq_entries (id, queue, kind, payload, dlq_at, dlq_reason, original_run_lease, cause, dlq_xid, retain_from)
    select nextval('spillway.job_ids'), 'default', 'test', '{}', now(), 'skipped', 1, 'cause-of-test', pg_current_xact_id(), now()
    returning queue, cause
  )
  insert into spillway.cause_deltas (queue, cause, n) select queue, cause, 1 from dead`

/** What is ready dies once more, as a settle would write it. */
const dieAgain = sql<[], []>`
  with gone as (delete from spillway.ready_entries returning *),
  dead as (
    insert into spillway.dlq_entries
           (id, queue, kind, payload, history, generation, last_operation, dlq_at, dlq_reason, original_run_lease, cause, dlq_xid, retain_from)
    select id, queue, kind, payload, history, generation, last_operation, now(), 'skipped', 1, 'cause-of-test', pg_current_xact_id(), now()
      from gone
    returning queue, cause
  )
  insert into spillway.cause_deltas (queue, cause, n) select queue, cause, count(*) from dead group by 1, 2`
