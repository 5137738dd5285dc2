import { expect, it } from 'vitest'
import type { JobState } from '../../src/job/states.js'
import { sql } from '../../src/store/postgres/sql.js'
import type { RetryRequest } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'
import { lockWaits } from './heard.js'

const act = { actor: 'ann', reason: 'fixed it', requestId: 'r1' }
const FRESH: RetryRequest = { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false }

const audit = sql<[], string[]>`select actor, action, target ->> 'id' from spillway.audit_log order by id`

describeStore('retrying a dead letter whose key another job has', ({ store, given, db, inTransaction }) => {
  const holders = ['available', 'scheduled', 'retryable', 'waiting', 'quarantined', 'undecodable'] as const

  it.each([...holders, 'running'] as JobState[])('fails and names a holder that is %s', async (state) => {
    const holder = await given.job({ state, uniqueKey: 'k' })
    const dead = await given.job({ state: 'archived', uniqueKey: 'k' })

    await expect(store.retryJob(dead.id, FRESH, act)).rejects.toMatchObject({
      code: 'unique_conflict',
      holderId: holder.id,
    })

    expect(await store.getJob(dead.id, { payload: true })).toEqual(dead)
    expect(await store.getJob(holder.id, { payload: true })).toEqual(holder)
  })

  it.each(['archived', 'failed'] as const)('skips it where asked to, and says that it is still %s', async (state) => {
    const holder = await given.job({ uniqueKey: 'k' })
    const dead = await given.job({ state, uniqueKey: 'k' })

    const acted = await store.retryJob(dead.id, { ...FRESH, onConflict: 'skip' }, act)

    expect(acted).toMatchObject({ id: dead.id, state, changed: false, warnings: [expect.stringContaining(holder.id)] })
    expect(await store.getJob(dead.id, { payload: true })).toEqual(dead)
    expect(await db.run(audit, [])).toEqual([])
  })

  it.each(holders)('cancels a holder that is %s where asked to', async (state) => {
    const holder = await given.job({ state, uniqueKey: 'k' })
    const dead = await given.job({ state: 'archived', uniqueKey: 'k' })

    const acted = await store.retryJob(dead.id, { ...FRESH, onConflict: 'replace' }, act)

    expect(acted).toMatchObject({
      state: 'available',
      changed: true,
      warnings: [expect.stringContaining(holder.id), expect.anything()],
    })
    expect(await store.getJob(holder.id)).toMatchObject({
      state: 'cancelled',
      reason: `replaced by a retry of job ${dead.id}`,
    })
    expect((await db.run(audit, [])).map(([, action, id]) => `${action} ${id}`)).toEqual([
      `cancel ${holder.id}`,
      `retry ${dead.id}`,
    ])
  })

  it('cancels nobody when the retry is refused after all', async () => {
    const holder = await given.job({ uniqueKey: 'k' })
    const dead = await given.job({ state: 'archived', uniqueKey: 'k', generation: 10 })

    await expect(store.retryJob(dead.id, { ...FRESH, onConflict: 'replace' }, act)).rejects.toMatchObject({
      code: 'generation_cap',
    })

    expect(await store.getJob(holder.id)).toEqual(await store.getJob(holder.id))
    expect(await store.getJob(holder.id)).toMatchObject({ state: 'available' })
  })

  it('does not cancel a running holder', async () => {
    const holder = await given.job({ state: 'running', uniqueKey: 'k' })
    const dead = await given.job({ state: 'archived', uniqueKey: 'k' })

    await expect(store.retryJob(dead.id, { ...FRESH, onConflict: 'replace' }, act)).rejects.toMatchObject({
      code: 'unique_conflict',
      holderId: holder.id,
    })

    expect(await store.getJob(holder.id)).toMatchObject({ state: 'running' })
    expect(await store.getJob(dead.id)).toMatchObject({ state: 'archived' })
  })

  it('waits for an enqueue that is taking the key, and then counts it', async () => {
    const dead = await given.job({ state: 'archived', uniqueKey: 'k' })
    let call: Promise<unknown> = Promise.resolve()

    await inTransaction(async (tx) => {
      await tx.execute(`insert into spillway.unique_keys values ('k', 4711);
                        insert into spillway.ready_entries (id, position, slot, queue, kind, payload, unique_key)
                        values (4711, 1, 0, 'q', 'k', '1', 'k')`)
      call = store.retryJob(dead.id, FRESH, act).catch((error: unknown) => error)
      await lockWaits(db)
    })

    expect(await call).toMatchObject({ code: 'unique_conflict', holderId: '4711' })
  })

  it('leaves no key behind when the dead letter is purged meanwhile', async () => {
    const dead = await given.job({ state: 'archived', uniqueKey: 'k' })
    let call: Promise<unknown> = Promise.resolve()

    await inTransaction(async (tx) => {
      await tx.execute(`delete from spillway.dlq_entries where id = ${dead.id};
                        insert into spillway.cause_deltas select queue, cause, -1 from spillway.dlq_causes`)
      call = store.retryJob(dead.id, FRESH, act).catch((error: unknown) => error)
      await lockWaits(db)
    })

    expect(await call).toMatchObject({ code: 'not_found' })
    expect(await db.run(sql`select key from spillway.unique_keys`, [])).toEqual([])
  })
})
