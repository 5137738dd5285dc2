import { expect, it } from 'vitest'
import { runOperation } from '../../src/client/operation-runner.js'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'
import { act, carryOut, deadIds, FRESH, request } from './bulk-work.js'

describeStore('undoing bulk work', ({ store, given, db }) => {
  const undo = async (id: string) => runOperation(store, (await store.undoOperation(id, act)).id, 'me')

  it('brings 5,000 discarded rows back byte for byte', async () => {
    for (const tags of [null, ['a', "o'b", '{"x"}']]) {
      await given.jobs(2_500, {
        state: 'archived',
        tags,
        uniqueKey: null,
        metadata: { a: [1, 'ü'] },
        progress: { n: 1 },
        payloadText: '{ "big": 12345678901234567890.10, "e":1e400 }',
        deadline: new Date('2030-01-01T00:00:00Z'),
        generation: 2,
      })
    }
    const before = await db.run(rows, [])
    const tags = await db.run(tagRows, [])
    const discarded = await carryOut(store, { action: 'discard', selector: { all: true } })

    expect(await db.run(deadIds, [])).toEqual([])
    expect(await db.run(tagRows, [])).toEqual([])
    expect(await undo(discarded.id)).toMatchObject({
      state: 'done',
      action: 'undo',
      succeeded: 5_000,
      undoOf: discarded.id,
    })

    expect(await db.run(rows, [])).toEqual(before)
    expect(await db.run(tagRows, [])).toEqual(tags)
    expect(await store.getOperation(discarded.id)).toMatchObject({ undoneBy: expect.any(String) })
  })

  it('takes back what a retry moved and nobody has claimed, as it was, and lists the rest', async () => {
    const seed = {
      state: 'archived',
      tags: ['t'],
      generation: 2,
      deadline: new Date('2026-01-01T00:00:00Z'),
      runLease: 7,
    } as const
    const dead = await given.job({
      ...seed,
      queue: 'q',
      priority: 9,
      progress: { at: 3 },
      uniqueKey: 'k',
      payload: { n: 1 },
    })
    const [started] = await given.jobs(1, { state: 'archived' })
    const overrides = { queue: 'other', priority: 1, maxAttempts: 9, payload: '{"n":2}' }
    const { id } = await carryOut(store, { selector: { all: true }, retry: { ...FRESH, overrides } })
    expect(await store.getJob(dead.id, { payload: true })).toMatchObject({
      state: 'available',
      queue: 'other',
      generation: 3,
      payload: { n: 2 },
    })
    await db.run(claim, [started as string])

    const undone = await undo(id)

    expect(undone).toMatchObject({ state: 'done', matched: 2, succeeded: 1, skipped: 1 })
    expect((await store.operationRows(undone.id, { limit: 9 })).items).toMatchObject([
      { id: started, outcome: 'skipped', code: 'already_started' },
    ])
    const back = await store.getJob(dead.id, { payload: true })
    expect({ ...back, history: [] }).toEqual({ ...dead, history: [] })
    expect(back?.history?.map(({ type }) => type).slice(-2)).toEqual(['retried', 'undone'])
    expect(await db.run(sql<[], [string]>`select key from spillway.unique_keys`, [])).toEqual([])
  })

  it('takes back what is scheduled for later', async () => {
    const dead = await given.job({ state: 'archived' })
    const overrides = { runAt: new Date('2100-01-01T00:00:00Z') }
    const { id } = await carryOut(store, { selector: { all: true }, retry: { ...FRESH, overrides } })

    expect(await store.getJob(dead.id)).toMatchObject({ state: 'scheduled' })
    expect(await undo(id)).toMatchObject({ succeeded: 1 })

    expect(await store.getJob(dead.id)).toMatchObject({ state: 'archived', generation: 0, runAt: dead.runAt })
  })

  it('knows no way back twice, from a purge, from a dry run, or while it runs', async () => {
    await given.jobs(4, { state: 'archived' })
    const dry = await carryOut(store, { selector: { all: true }, dryRun: true })
    const [one = '', other = ''] = (await db.run(deadIds, [])).map(([id]) => id)
    const purged = await carryOut(store, { action: 'purge', selector: { ids: [one] } })
    const discarded = await carryOut(store, { action: 'discard', selector: { ids: [other] } })
    const running = await store.startOperation(request({ selector: { all: true } }), act)
    await undo(discarded.id)

    for (const id of [dry.id, purged.id, discarded.id, running.id]) {
      await expect(store.undoOperation(id, act)).rejects.toMatchObject({ code: 'not_undoable' })
    }
  })

  it('of several callers lets one undo', async () => {
    await given.jobs(1, { state: 'archived' })
    const { id } = await carryOut(store, { action: 'discard', selector: { all: true } })

    const answers = await Promise.allSettled(Array.from({ length: 8 }, () => store.undoOperation(id, act)))

    const refused = answers.filter((it) => it.status === 'rejected').map(({ reason }) => reason.code)
    expect(refused).toEqual(Array.from({ length: 7 }, () => 'not_undoable'))
    const won = answers.find((it) => it.status === 'fulfilled')
    await runOperation(store, won?.value.id ?? '', 'me')
  })
})

describeStore('purging for good', ({ store, given, db }) => {
  it('leaves nothing with the id of a purged job anywhere but in the audit log', async () => {
    const ids = await given.jobs(3, { state: 'archived', tags: ['a', 'b'], uniqueKey: null })
    const [kept] = await given.jobs(1, { state: 'archived' })
    const { id: earlier } = await carryOut(store, { selector: { queue: 'nobody' } })
    await db.script(`
      insert into spillway.operation_rows select ${earlier}, unnest('{${ids.join(',')}}'::bigint[]), 'failed', 'x', 'x';
      insert into spillway.operation_canaries select ${earlier}, unnest('{${ids.join(',')}}'::bigint[]), 1;
      insert into spillway.payload_versions (job_id, version, payload, edited_by) select unnest('{${ids.join(',')}}'::bigint[]), 1, '{}', 'ann';
      insert into spillway.crashes (job_id, registration, alone) select unnest('{${ids.join(',')}}'::bigint[]), 1, true;
      insert into spillway.event_outbox (type, job_id, queue, kind, generation, message)
        select 'died', unnest('{${ids.join(',')}}'::bigint[]), 'q', 'k', 0, 'card 4711 refused'`)
    await store.sequenceEvents(2)

    const operation = await carryOut(store, { action: 'purge', selector: { ids: [...ids] } })

    expect(operation).toMatchObject({ succeeded: 3, failed: 0 })
    const columns = await db.run(idColumns, [])
    expect(columns.length).toBeGreaterThan(10)
    for (const [table, column] of columns) {
      const text = `select count(*) from ${table} where ${column} in (${ids.join(',')})`
      // That it died is told all the same, without a word of what it was about.
      const where = /event_(log|outbox)/.test(table) ? ' and message is not null' : ''
      const [row] = await db.runRaw({ name: `count_${table}_${column}`.slice(0, 60), text: text + where } as never, [])
      expect([table, column, (row as [string])[0]]).toEqual([table, column, '0'])
    }
    expect(await db.run(deadIds, [])).toEqual([[kept]])
  })
})

/** Whole rows but for the time from which retention counts. */
const rows = sql<[], [row: string]>`
  select (to_jsonb(r) - 'retain_from')::text || r.payload::text || array_to_json(r.history)::text
    from (select * from spillway.dlq_entries) r order by id`

const tagRows = sql<[], string[]>`select tag, dlq_at, id from spillway.dlq_tags order by id, tag`

/** As a claim does, and a stop of the worker then. */
const claim = sql<[id: string], []>`update spillway.ready_entries set run_lease = run_lease + 1 where id = $1::bigint`

/** Every column that says which job a row is about. */
const idColumns = sql<[], [table: string, column: string]>`
  select format('%I.%I', c.table_schema, c.table_name), c.column_name
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
   where c.table_schema = 'spillway' and t.table_type = 'BASE TABLE' and c.data_type = 'bigint'
     and (c.column_name = 'job_id'
          or c.column_name = 'id' and c.table_name in (select p.table_name from information_schema.columns p
                                                        where p.table_schema = 'spillway' and p.column_name = 'run_lease')
          or c.column_name = 'id' and c.table_name = 'dlq_tags')`
