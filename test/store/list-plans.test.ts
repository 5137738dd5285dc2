import { beforeAll, expect, it } from 'vitest'
import { type DlqListing, dlqQueries } from '../../src/store/postgres/queries/dlq.js'
import { inspectQueries } from '../../src/store/postgres/queries/inspect.js'
import { describeStore } from '../support/store.js'
import { plansOf } from './explain.js'

const newest: DlqListing = {
  before: { at: 'infinity', id: '0' },
  since: '-infinity',
  limit: 51,
}

/** With rows that nobody has analysed, of one value each: the worst that statistics can say. */
describeStore(
  'plans on a fresh schema',
  ({ given, db, url }) => {
    beforeAll(async () => {
      // What autovacuum found out meanwhile would make the plans a matter of luck.
      await db.transaction((tx) =>
        tx.execute(`alter table spillway.dlq_entries set (autovacuum_enabled = false);
                  alter table spillway.dlq_tags set (autovacuum_enabled = false)`),
      )
      await given.jobs(5_000, { state: 'archived', queue: 'q', kind: 'k', cause: 'c', tags: ['t'] })
      await given.jobs(2_000, { state: 'completed' })
    })

    const dlq = dlqQueries('spillway')
    const jobs = inspectQueries('spillway')

    it.each([
      ['no filter', {}, 'dlq_recent'],
      ['since', { since: '2026-01-01T00:00:00Z' }, 'dlq_recent'],
      ['until', { before: { at: '2026-01-01T00:00:00Z', id: '0' } }, 'dlq_recent'],
      ['queue', { queue: 'q' }, 'dlq_by_queue'],
      ['kind', { kind: 'k' }, 'dlq_by_kind'],
      ['reason', { reason: 'r' }, 'dlq_by_reason'],
      ['cause', { cause: 'c' }, 'dlq_by_cause'],
      ['tag', { tag: 't' }, 'dlq_tags_pkey'],
      ['queue and since', { queue: 'q', since: '2026-01-01T00:00:00Z' }, 'dlq_by_queue'],
    ] as const)('dead letters by %s come off their index in order', async (_, filter, index) => {
      const [statement, params] = dlq.list({ ...newest, ...filter })

      for (const plan of await plansOf(url, statement, params)) {
        expect(plan).toContain(index)
        expect(plan).not.toMatch(/Sort|Seq Scan/)
      }
    })

    it.each([
      ['a few', 10],
      ['some hundreds of', 500],
    ])('dead letters by %s ids are looked up one by one, and only a page of them is read whole', async (_, count) => {
      const ids = Array.from({ length: count }, (_, n) => String(n + 1))
      const [statement, params] = dlq.list({ ...newest, ids })

      for (const plan of await plansOf(url, statement, params)) {
        expect(plan).toContain('dlq_entries_pkey')
        expect(plan).not.toMatch(/Seq Scan|dlq_recent/)
        expect(plan, 'what is sorted').toMatch(/Sort Key: d.dlq_at DESC, d.id DESC/)
      }
    })

    it('dead letters by error text come off the index of causes', async () => {
      const [statement, params] = dlq.listCauses({ ...newest }, ['c1', 'c2'])

      for (const plan of await plansOf(url, statement, params)) {
        expect(plan).toContain('dlq_by_cause')
        expect(plan).not.toMatch(/Seq Scan/)
      }
    })

    it.each([
      ['job', jobs.job, ['1', true]],
      ['locate', jobs.locate, ['1']],
    ] as const)('%s reads no table whole', async (_, statement, params) => {
      for (const plan of await plansOf(url, statement, params)) expect(plan).not.toMatch(/Seq Scan/)
    })
  },
  { rows: 'kept', checked: false },
)
