import { expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { statesAccepting } from '../../src/job/lifecycle.js'
import { LIVE_STATES } from '../../src/job/states.js'
import { operateQueries } from '../../src/store/postgres/queries/operate.js'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'
import { someoneWaits } from '../support/waits.js'
import { act, request, stepUntil, total } from './bulk-work.js'

const PURGED = statesAccepting('purge')
const HOLDS_ITS_KEY: readonly string[] = ['quarantined', 'undecodable']

const counters = sql<[], [reason: string, what: string, n: string]>`
  select reason, what, sum(n) from spillway.counters where reason = 'purged' group by 1, 2 order by 2`
const audits = sql<[], [actor: string, action: string, reason: string, ids: string]>`
  select actor, action, reason, target -> 'selector' ->> 'ids' from spillway.audit_log order by id`

describeStore('purging jobs in any state', ({ store, given, db, url, checker, inTransaction }) => {
  const client = new Client({ store, actor: 'ann' })
  const { cancel } = operateQueries('spillway')

  it.each(PURGED)('takes one that is %s, with everything kept about it, and counts it', async (state) => {
    const key = HOLDS_ITS_KEY.includes(state) ? { uniqueKey: 'order-1' } : {}
    const { id } = await given.job({ state, tags: ['t'], ...key })
    await db.script(`
      insert into spillway.payload_versions (job_id, version, payload, edited_by) values (${id}, 1, '{}', 'ann');
      insert into spillway.callbacks (job_id, generation, name) values (${id}, 0, 'approval');
      insert into spillway.crashes (job_id, registration, alone) values (${id}, 1, true);
      insert into spillway.event_outbox (type, job_id, queue, kind, generation, message) values ('died', ${id}, 'q', 'k', 0, 'card 4711')`)

    const purged = await client.jobs.purge(id, { reason: 'asked for' })

    expect(purged).toMatchObject({ id, state: 'gone', changed: true })
    expect(await checker.census()).toEqual({})
    for (const table of ['payload_versions', 'callbacks', 'crashes', 'dlq_tags', 'unique_keys']) {
      const rows = await db.runRaw({ name: `rows_${table}`, text: `select * from spillway.${table}` } as never, [])
      expect([table, rows]).toEqual([table, []])
    }
    const words = sql<[], [message: string | null]>`select message from spillway.event_outbox`
    expect(await db.run(words, [])).toEqual([[null]])
    const departed = state === 'archived' ? [['purged', 'departed', '1']] : []
    expect(await db.run(counters, [])).toEqual([...departed, ['purged', 'gone', '1']])
    expect(await db.run(audits, [])).toEqual([['ann', 'purge', 'asked for', `["${id}"]`]])
    await expect(client.jobs.purge(id)).rejects.toMatchObject({ code: 'not_found' })
  })

  it.each(LIVE_STATES)('refuses one that is %s', async (state) => {
    const job = await given.job({ state, uniqueKey: 'order-1' })

    await expect(client.jobs.purge(job.id)).rejects.toMatchObject({ code: 'invalid_state', state })

    expect(await client.jobs.get(job.id)).toEqual(job)
    expect(await db.run(counters, [])).toEqual([])
  })

  it('by ids takes all that are not live in one go, and names the others', async () => {
    const purged: string[] = []
    for (const state of PURGED) purged.push((await given.job({ state })).id)
    const live: string[] = []
    for (const state of LIVE_STATES) live.push((await given.job({ state })).id)

    const { succeeded, failed, operation } = await client.jobs.purgeIds([...live, ...purged, '999'])

    expect([...succeeded].sort()).toEqual(purged.sort())
    expect(failed.map(({ id, code }) => [id, code]).sort()).toEqual(
      [...live.map((id) => [id, 'invalid_state']), ['999', 'not_found']].sort(),
    )
    expect(operation).toMatchObject({ state: 'done', action: 'purge', succeeded: PURGED.length })
    expect(total(operation)).toBe(operation.matched)
  })

  it('refuses more than 1,000 ids and a dry run at once, and touches nothing', async () => {
    const { id } = await given.job({ state: 'archived' })

    const many = client.jobs.purgeIds(Array.from({ length: 1_001 }, () => id))
    const dry = client.dlq.purgeIds([id], { dryRun: true })

    await expect(many).rejects.toMatchObject({ code: 'selector_refused' })
    await expect(dry).rejects.toMatchObject({ code: 'invalid_option' })
    expect(await checker.census()).toEqual({ archived: 1 })
  })

  it('follows one that is cancelled meanwhile to where it went', async () => {
    const { id } = await given.job({ state: 'quarantined', uniqueKey: 'order-1' })
    let call: Promise<unknown> | undefined

    await inTransaction(async (tx) => {
      await tx.run(cancel, [id, 'bob', null, null, 'x', true])
      call = client.jobs.purge(id)
      await someoneWaits(url)
    })

    expect(await call).toMatchObject({ state: 'gone' })
    expect(await checker.census()).toEqual({})
  })

  it('of several callers lets one purge, and tells the others that it is gone', async () => {
    const { id } = await given.job({ state: 'completed' })

    const answers = await Promise.allSettled(Array.from({ length: 6 }, () => client.jobs.purge(id)))

    const refused = answers.filter((it) => it.status === 'rejected').map(({ reason }) => reason.code)
    expect(refused).toEqual(Array.from({ length: 5 }, () => 'not_found'))
    expect(await db.run(counters, [])).toEqual([['purged', 'gone', '1']])
  })

  it('leaves to the worker of a cancelled job what it is told to abort', async () => {
    const { id } = await given.job({ state: 'running' })
    await client.jobs.cancel(id)

    await client.jobs.purge(id)

    const aborts = sql<[], [id: string]>`select job_id from spillway.aborts`
    expect(await db.run(aborts, [])).toEqual([[id]])
  })
})

describeStore('the total of an operation', ({ store, given }) => {
  it.each(['retry', 'discard', 'purge'] as const)('has what others moved before a %s came to it', async (action) => {
    const ids = await given.jobs(5, { state: 'archived' })
    const { id } = await store.startOperation(request({ action, selector: { all: true } }), act)
    const counted = await stepUntil(store, id, 'me', ({ phase }) => phase === 'moving')
    await store.actOnIds(ids.slice(1, 3), request({ action: 'purge', selector: { ids: ids.slice(1, 3) } }), act)

    const done = await stepUntil(store, id, 'me', ({ state }) => state !== 'running')

    expect(counted).toMatchObject({ matched: 5, vanished: 0 })
    expect(done).toMatchObject({ state: 'done', matched: 5, succeeded: 3, skipped: 2, vanished: 2, failed: 0 })
    expect(total(done)).toBe(done.matched)
    expect((await store.operationRows(id, { limit: 9 })).items).toEqual([])
  })

  it('is left open by a cancel, and empty by a dry run', async () => {
    await given.jobs(3, { state: 'archived' })
    const { id } = await store.startOperation(request({ action: 'discard', selector: { all: true } }), act)
    await stepUntil(store, id, 'me', ({ phase }) => phase === 'moving')
    const cancelled = await store.cancelOperation(id, act)
    const dry = await store.startOperation(request({ selector: { all: true }, dryRun: true }), act)

    const looked = await stepUntil(store, dry.id, 'me', ({ state }) => state !== 'running')

    expect(cancelled).toMatchObject({ state: 'cancelled', matched: 3, succeeded: 0, skipped: 0, vanished: 0 })
    expect(looked).toMatchObject({ state: 'done', matched: 3, skipped: 0, vanished: 0 })
  })
})
