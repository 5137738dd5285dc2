import { expect, it } from 'vitest'
import type { Database } from '../../src/store/postgres/database.js'
import { producing } from '../../src/store/postgres/producing.js'
import type { NewJob } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'

const plain: NewJob = {
  ...{ queue: 'default', kind: 'test', version: 1, payload: '{}', priority: 50, maxAttempts: 3, runAt: null },
  ...{ deadline: null, timeoutMs: null, tags: null, metadata: null, retention: null, uniqueKey: null },
  onConflict: 'skip',
}
const keyed: NewJob = { ...plain, uniqueKey: 'k' }

describeStore(
  'a job whose key was taken by one that is gone before it can be named',
  ({ store, given, db, checker }) => {
    /** Enqueues through a database where something happens just before holders are looked up, so many times. */
    const producer = (times: number, meanwhile: () => Promise<unknown>) => {
      let left = times
      const run: Database['run'] = async (statement, params, options) => {
        if (/^\s*select key, job_id/.test(statement.text) && left-- > 0) await meanwhile()
        return db.run(statement, params, options)
      }
      return producing(Object.create(db, { run: { value: run } }) as Database, 'spillway', { tell: () => undefined })
    }

    it.each([
      ['alone', [keyed]],
      ['among others', [plain, keyed, plain]],
    ])('is stored, %s', async (_, jobs) => {
      const holder = await given.job({ uniqueKey: 'k' })
      const { enqueue } = producer(1, () => store.cancelJob(holder.id, { actor: 'ann' }))

      const answers = await enqueue(jobs)

      expect(answers.map(({ inserted }) => inserted)).toEqual(jobs.map(() => true))
      expect(new Set(answers.map(({ id }) => id)).size).toBe(jobs.length)
      for (const [n, { id }] of answers.entries()) {
        expect(await store.getJob(id)).toMatchObject({ state: 'available', uniqueKey: jobs[n]?.uniqueKey })
      }
      expect(await checker.census()).toEqual({ available: jobs.length, cancelled: 1 })
    })

    it.each(['skip', 'fail'] as const)('is stored in the transaction of a caller who says %s', async (onConflict) => {
      const holder = await given.job({ uniqueKey: 'k' })
      const jobs = [plain, { ...keyed, onConflict }, plain]
      const client = await db.client()
      await client.connect()
      let left = 1
      const execute = async (text: string, values: readonly unknown[]) => {
        if (/^\s*select key, job_id/.test(text) && left-- > 0) await store.cancelJob(holder.id, { actor: 'ann' })
        return (await client.query(text, [...values])).rows as Record<string, unknown>[]
      }

      await client.query('begin')
      const answers = await store.enqueueIn({ execute }, jobs)
      await client.query('commit')
      await client.end()

      expect(answers.map(({ inserted }) => inserted)).toEqual([true, true, true])
      const stored = await Promise.all(answers.map(({ id }) => store.getJob(id)))
      expect(stored.map((job) => job?.uniqueKey)).toEqual([null, 'k', null])
      expect(await checker.census()).toEqual({ available: 3, cancelled: 1 })
    })

    it('answers the next holder where there is one by then, and stores the others once', async () => {
      const first = await given.job({ uniqueKey: 'k' })
      let next = ''
      const { enqueue } = producer(1, async () => {
        await store.cancelJob(first.id, { actor: 'ann' })
        next = (await store.enqueue([keyed]))[0]?.id ?? ''
        await store.cancelJob(next, { actor: 'ann' })
        next = (await given.job({ state: 'scheduled', uniqueKey: 'k' })).id
      })

      const answers = await enqueue([plain, keyed])

      expect(answers).toEqual([
        { id: expect.any(String), inserted: true },
        { id: next, inserted: false },
      ])
      expect(await checker.census()).toEqual({ available: 1, scheduled: 1, cancelled: 2 })
    })
  },
)
