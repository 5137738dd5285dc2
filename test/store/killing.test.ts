import { describe, expect, it } from 'vitest'
import { causeOf } from '../../src/job/cause.js'
import { statesAccepting } from '../../src/job/lifecycle.js'
import { JOB_STATES } from '../../src/job/states.js'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'
import { lockWaits } from './heard.js'

const act = { actor: 'ann', reason: 'order 4711 was "wrong"', requestId: 'r1' }

const audit = sql<[], string[]>`
  select actor, action, target ->> 'id', reason, result::jsonb ->> 'from', result::jsonb ->> 'state', request_id
    from spillway.audit_log order by id`
const counters = sql<[], string[]>`select queue, kind, reason, what, n from spillway.counters`

describeStore('killing', ({ store, given, db, inTransaction }) => {
  it.each(statesAccepting('kill'))('makes a dead letter of a job that is %s, and frees its key', async (state) => {
    const before = await given.job({
      state,
      uniqueKey: 'k',
      tags: ['t'],
      attempt: 2,
      runLease: 3,
      kind: 'charge "card"',
    })

    expect(await store.killJob(before.id, act)).toEqual({ id: before.id, state: 'archived', changed: true })

    const after = await store.getJob(before.id, { payload: true })
    const cause = causeOf({ kind: before.kind, errorClass: null, message: null, stack: null, reason: act.reason })
    const { startedAt, leaseId, payloadText } = before
    expect(after).toMatchObject({ state: 'archived', tags: ['t'], attempt: 2, startedAt, leaseId, payloadText })
    expect(after?.dlq).toMatchObject({ reason: act.reason, originalRunLease: 3, cause: cause.cause, errorClass: null })
    const entry = { type: 'killed', by: 'ann', why: act.reason, reason: act.reason, attempt: 2 }
    expect(after?.history?.at(-1)).toMatchObject(entry)
    expect(await db.run(sql`select 1 from spillway.unique_keys`, [])).toEqual([])
    expect(await db.run(sql`select title from spillway.dlq_causes`, [])).toEqual([[cause.title]])
    expect(await db.run(sql`select type, job_id from spillway.event_outbox`, [])).toEqual([['died', before.id]])
    expect(await db.run(counters, [])).toEqual([['default', before.kind, act.reason, 'arrived', '1']])
    expect(await db.run(audit, [])).toEqual([['ann', 'kill', before.id, act.reason, state, 'archived', 'r1']])
  })

  it('calls it manual where nobody said why', async () => {
    const { id } = await given.job()

    await store.killJob(id, { actor: 'ann' })

    expect((await store.getJob(id))?.dlq?.reason).toBe('manual')
  })

  it.each(JOB_STATES.filter((state) => !statesAccepting('kill').includes(state)))(
    'refuses a job that is %s, and leaves it alone',
    async (state) => {
      const before = await given.job({ state })

      await expect(store.killJob(before.id, act)).rejects.toMatchObject({ code: 'invalid_state', state })

      expect(await store.getJob(before.id, { payload: true })).toEqual(before)
      expect(await db.run(audit, [])).toEqual([])
    },
  )

  it.each(['1', 'x', '99999999999999999999'])('knows no job %j', async (id) => {
    await expect(store.killJob(id, act)).rejects.toMatchObject({ code: 'not_found' })
  })

  describe('on a queue without a dead-letter queue', () => {
    it('makes it failed, with the same reason', async () => {
      await store.setQueue('q', { dlqEnabled: false }, act)
      const { id } = await given.job({ queue: 'q', tags: ['t'] })

      expect(await store.killJob(id, act)).toMatchObject({ state: 'failed' })

      expect(await store.getJob(id)).toMatchObject({ state: 'failed', reason: act.reason, dlq: null })
      expect((await db.run(counters, [])).map((row) => row[3])).toEqual(['failed'])
    })

    it('deletes and counts it where that keeps none', async () => {
      await store.setQueue('q', { dlqEnabled: false, retention: { failed: 0 } }, act)
      const { id } = await given.job({ queue: 'q' })

      expect(await store.killJob(id, act)).toMatchObject({ state: 'gone' })

      expect(await store.getJob(id)).toBeUndefined()
      expect((await db.run(counters, [])).map((row) => row[3])).toEqual(['gone'])
    })
  })

  it('comes too late for a job that is being claimed', async () => {
    const { id } = await given.job()
    let call: Promise<unknown> = Promise.resolve()

    await inTransaction(async (tx) => {
      await tx.execute(
        `with picked as (delete from spillway.ready_entries where id = ${id} returning *)
         insert into spillway.leases (id, queue, kind, payload, position, slot, lease_id)
         select id, queue, kind, payload, position, 0, 5::bigint << 36 from picked`,
      )
      call = store.killJob(id, act).catch((error: unknown) => error)
      await lockWaits(db)
    })

    expect(await call).toMatchObject({ code: 'invalid_state', state: 'running' })
  })
})
