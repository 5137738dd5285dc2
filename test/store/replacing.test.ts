import { expect, it } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import type { NewJob } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'
import { lockWaits } from './heard.js'

const job = (over: Partial<NewJob> = {}): NewJob => ({
  queue: 'default',
  kind: 'k',
  version: 1,
  payload: '1',
  priority: 50,
  maxAttempts: 3,
  runAt: null,
  deadline: null,
  timeoutMs: null,
  uniqueKey: 'key',
  onConflict: 'replace',
  tags: null,
  metadata: null,
  retention: null,
  ...over,
})
const holder = sql<[], string[]>`select job_id from spillway.unique_keys where key = 'key'`
const HOLDERS = ['available', 'scheduled', 'retryable', 'waiting', 'quarantined', 'undecodable'] as const

describeStore('enqueueing in the place of whoever has the key', ({ store, given, db, inTransaction }) => {
  it.each(HOLDERS)('cancels a job that is %s, and says why', async (state) => {
    const before = await given.job({ state, uniqueKey: 'key' })

    const [enqueued] = await store.enqueue([job()])

    expect(enqueued?.inserted).toBe(true)
    expect(await store.getJob(before.id)).toMatchObject({
      state: 'cancelled',
      reason: expect.stringContaining('"key"'),
    })
    expect(await store.getJob(enqueued!.id)).toMatchObject({ state: 'available', uniqueKey: 'key' })
    expect(await db.run(holder, [])).toEqual([[enqueued!.id]])
  })

  it('does not touch one that runs: it fails and names it', async () => {
    const before = await given.job({ state: 'running', uniqueKey: 'key' })
    const waits = await given.job({ uniqueKey: 'other' })

    const enqueued = store.enqueue([job({ uniqueKey: 'other' }), job()])

    await expect(enqueued).rejects.toMatchObject({ code: 'unique_conflict', holderId: before.id })
    expect(await store.getJob(before.id)).toMatchObject({ state: 'running' })
    expect(await store.getJob(waits.id)).toMatchObject({ state: 'available' })
  })

  it('names the key that may not be taken, and cancels nobody', async () => {
    const before = await given.job({ uniqueKey: 'key' })
    const other = await given.job({ uniqueKey: 'other' })

    const enqueued = store.enqueue([job(), job({ uniqueKey: 'other', onConflict: 'fail' })])

    await expect(enqueued).rejects.toMatchObject({ code: 'unique_conflict', holderId: other.id })
    expect(await store.getJob(before.id)).toMatchObject({ state: 'available' })
  })

  it('takes a key that nobody has', async () => {
    const [enqueued] = await store.enqueue([job()])

    expect(await db.run(holder, [])).toEqual([[enqueued!.id]])
  })

  it('refuses two jobs of one call that want one key', async () => {
    await expect(store.enqueue([job(), job()])).rejects.toMatchObject({ code: 'unique_conflict' })

    expect(await db.run(holder, [])).toEqual([])
  })

  it('replaces whoever took the key while it waited', async () => {
    const before = await given.job({ uniqueKey: 'key' })
    let call = Promise.resolve<unknown>(undefined)

    await inTransaction(async (tx) => {
      await tx.execute(`delete from spillway.ready_entries where id = ${before.id};
                        update spillway.unique_keys set job_id = 4711;
                        insert into spillway.ready_entries (id, position, slot, queue, kind, payload, unique_key)
                        values (4711, 1, 0, 'q', 'k', '1', 'key')`)
      call = store.enqueue([job()])
      await lockWaits(db)
    })

    const [{ id } = { id: '' }] = (await call) as { id: string }[]
    expect(await store.getJob('4711')).toMatchObject({ state: 'cancelled' })
    expect(await db.run(holder, [])).toEqual([[id]])
  })

  it('of many at once leaves one job with the key, and the others cancelled', async () => {
    const enqueued = await Promise.allSettled(Array.from({ length: 4 }, () => store.enqueue([job()])))

    const ids = enqueued.flatMap((it) => (it.status === 'fulfilled' ? it.value.map(({ id }) => id) : []))
    const states = await Promise.all(ids.map(async (id) => (await store.getJob(id))?.state))
    expect(states.filter((state) => state === 'available')).toHaveLength(1)
    expect(states.filter((state) => state === 'cancelled')).toHaveLength(ids.length - 1)
  })

  it('in a transaction of the caller cancels with its commit', async () => {
    const before = await given.job({ uniqueKey: 'key' })

    await expect(
      inTransaction(async (tx) => {
        await store.enqueueIn(executorOf(tx), [job()])
        throw new Error('no commit')
      }),
    ).rejects.toThrow('no commit')
    const afterRollback = await store.getJob(before.id)
    const [enqueued] = await inTransaction((tx) => store.enqueueIn(executorOf(tx), [job()]))

    expect(afterRollback).toMatchObject({ state: 'available' })
    expect(await store.getJob(before.id)).toMatchObject({ state: 'cancelled' })
    expect(await db.run(holder, [])).toEqual([[enqueued!.id]])
  })
})

/** Rows as objects, as libraries hand them out. */
function executorOf(tx: { run: (statement: never, params: never) => Promise<unknown[]> }) {
  return {
    execute: async (text: string, values: readonly unknown[]) => {
      const rows = (await tx.run({ name: text.slice(0, 0), text } as never, values as never)) as unknown[][]
      return rows.map((row) => Object.fromEntries(row.map((value, n) => [`c${n}`, value])))
    },
  }
}
