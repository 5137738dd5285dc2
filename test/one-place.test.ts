import { expect, it } from 'vitest'
import { describeStore } from './support/store.js'

describeStore(
  'the one-place checker',
  ({ given, db, checker }) => {
    /** Breaks the rows on purpose. */
    const spoil = (text: string) => db.transaction((tx) => tx.execute(text))

    it('finds a job that is in two places', async () => {
      const [id] = await given.jobs(1, { state: 'available' })
      await given.jobs(1, { state: 'archived', id: id as string })

      expect(await checker.faults()).toEqual([
        { rule: 'one place', subject: `job ${id}`, found: 'found in dlq_entries, ready_entries' },
      ])
    })

    it('finds a job that is twice in one place', async () => {
      const [id] = await given.jobs(1, { state: 'running' })
      await given.jobs(1, { state: 'running', id: id as string, slot: 5 })

      expect(await checker.faults()).toMatchObject([{ rule: 'one place', found: 'found in leases, leases' }])
    })

    it('finds a tag without its dead letter, and a dead letter without its tag', async () => {
      const [id] = await given.jobs(1, { state: 'archived', tags: ['a'] })
      await spoil(`update spillway.dlq_tags set tag = 'b'`)

      expect(await checker.faults()).toEqual(
        expect.arrayContaining([
          { rule: 'tags of dead letters', subject: `job ${id}, tag a`, found: 'no row in dlq_tags' },
          { rule: 'tags of dead letters', subject: `job ${id}, tag b`, found: 'in dlq_tags without a dead letter' },
        ]),
      )
    })

    it('finds a count of a cause that differs from its dead letters', async () => {
      await given.jobs(3, { state: 'archived', cause: 'c' })
      await spoil(`update spillway.cause_deltas set n = 2`)

      expect(await checker.faults()).toMatchObject([{ rule: 'counts of causes', found: '2 counted, 3 dead letters' }])
    })

    it('finds a dead letter whose cause nobody described', async () => {
      await given.jobs(1, { state: 'archived', cause: 'c' })
      await spoil(`delete from spillway.dlq_causes`)

      expect(await checker.faults()).toMatchObject([
        { rule: 'causes of dead letters', subject: 'queue default, cause c' },
      ])
    })

    it('finds a key that nobody holds, and a holder without its key', async () => {
      await given.jobs(1, { state: 'scheduled', uniqueKey: 'free' })
      await spoil(`update spillway.unique_keys set key = 'stuck'`)

      expect((await checker.faults()).map(({ rule, found }) => [rule, found])).toEqual(
        expect.arrayContaining([
          ['unique keys', 'in unique_keys, held by no live or held job'],
          ['unique keys', 'held by a live or held job, not in unique_keys'],
        ]),
      )
    })

    it('finds more charged starts than a job may have', async () => {
      await given.jobs(1, { state: 'retryable', attempt: 4, crashAttempt: 2, maxAttempts: 2 })

      expect(await checker.faults()).toMatchObject([{ rule: 'charged starts', found: '6 charged, at most 5 allowed' }])
    })

    it('finds a job that was lost, and one that nobody enqueued', async () => {
      const [kept, lost, extra] = await given.jobs(3)
      await spoil(`delete from spillway.ready_entries where id = ${lost}`)

      await expect(checker.expectExactly([kept as string, lost as string, extra as string])).rejects.toThrow(
        `1 of 3 jobs are nowhere, 0 were counted as gone (counters: {}): ${lost}`,
      )
      await expect(checker.expectExactly([kept as string])).rejects.toThrow(
        `1 jobs that nobody enqueued: ${extra} (ready_entries)`,
      )
    })

    it('takes a job for accounted for when a counter says why it left', async () => {
      const [kept, gone] = await given.jobs(2)
      await spoil(`delete from spillway.ready_entries where id = ${gone};
                   insert into spillway.counters (queue, kind, reason, what, n) values ('default', 'test', 'revoked', 'gone', 1)`)

      const ids = [kept as string, gone as string]

      expect(await checker.expectExactly(ids)).toEqual({ present: 1, left: 1, gone: { revoked: 1 } })
      await expect(checker.expectExactly(ids, { gone: { purged: 1 } })).rejects.toThrow('expected')
    })
  },
  { checked: false },
)
