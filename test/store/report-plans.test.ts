import { beforeAll, expect, it } from 'vitest'
import { dlqQueries } from '../../src/store/postgres/queries/dlq.js'
import { operationQueries } from '../../src/store/postgres/queries/operations.js'
import { type AuditListing, reportQueries } from '../../src/store/postgres/queries/reports.js'
import { describeStore } from '../support/store.js'
import { plansOf } from './explain.js'

const NEWEST = '9223372036854775807'
const TABLES = [
  'dlq_entries',
  'dlq_causes',
  'cause_deltas',
  'cause_hours',
  'counters',
  'audit_log',
  'operations',
  'operation_rows',
]

/** With rows that nobody has analysed: as a schema is on its first evening, and after its first bad night. */
for (const rows of [5_000, 40_000]) {
  // What fits some pages may as well be sorted.
  const needless = rows > 5_000 ? /Sort|Seq Scan/ : /Seq Scan/

  describeStore(
    `plans of reports on a fresh schema with ${rows} rows of each kind`,
    ({ db, url, given }) => {
      beforeAll(async () => {
        // What autovacuum found out meanwhile would make the plans a matter of luck.
        await db.script(
          TABLES.map((table) => `alter table spillway.${table} set (autovacuum_enabled = false)`).join(';'),
        )
        await given.jobs(rows, { state: 'archived', queue: 'q', kind: 'k', cause: 'c', tags: ['t'] })
        await db.script(`
          insert into spillway.cause_hours (queue, cause, hour, n)
          select 'q' || n % 20, 'c' || n, now() - n % 48 * interval '1 hour', 1 from generate_series(1, ${rows}) as n;
          insert into spillway.counters (queue, kind, reason, what, n, minute)
          select 'q' || n % 20, 'k', 'r', case n % 3 when 0 then 'departed' else 'arrived' end, 1,
                 now() - n * interval '1 minute'
            from generate_series(1, ${rows}) as n;
          insert into spillway.audit_log (actor, action, target)
          select 'ann', 'retry', '{}' from generate_series(1, ${rows}) as n;
          insert into spillway.operations (action, selector, params, state, created_by, finished_at)
          select 'retry', '{}', '{}', 'done', 'ann', now() from generate_series(1, ${rows}) as n;
          insert into spillway.operations (action, selector, params, state, created_by, finished_at, undo_of)
          select 'undo', '{}', '{}', 'done', 'ann', now(), o.id from spillway.operations o where o.id % 10 = 0;
          insert into spillway.operation_rows (operation_id, job_id, outcome, code, message)
          select (select min(id) from spillway.operations), n, 'failed', 'c', 'm' from generate_series(1, ${rows}) as n`)
      }, 120_000)

      const dlq = dlqQueries('spillway')
      const reports = reportQueries('spillway')
      const operations = operationQueries('spillway')
      const audit = (listing: Partial<AuditListing>) => reports.audit({ beforeId: NEWEST, limit: 51, ...listing })

      it.each([
        ['all groups', [null, null, 51, null, null, null, null]],
        ['the groups of a queue', ['q', null, 51, null, null, null, null]],
        ['the groups of a kind', [null, 'k', 51, null, null, null, null]],
        ['groups that nobody has looked at', [null, null, 51, null, null, null, 'unreviewed']],
        ['the next page of groups', [null, null, 51, '7', 'q', 'c', null]],
      ])('%s read the causes, and of the dead no more than their samples', async (_, params) => {
        for (const plan of await plansOf(url, reports.groups, params)) {
          expect(plan).not.toMatch(/Seq Scan on (dlq_entries|cause_hours)/)
          expect(plan).toContain('dlq_by_cause')
          expect(plan).toContain('cause_hours_pkey')
        }
      })

      it.each([
        ['depth', [null]],
        ['the depth of a queue', ['q']],
      ])('%s reads of the dead the oldest of each queue', async (_, params) => {
        for (const plan of await plansOf(url, dlq.depth, params)) {
          expect(plan).not.toContain('Seq Scan on dlq_entries')
          expect(plan).toContain('dlq_by_queue')
        }
      })

      it.each([
        ['history by hour', [null, Date.now() - 86_400_000, 'hour']],
        ['history by minute, of a queue', ['q1', Date.now() - 3_600_000, 'minute']],
      ])('%s reads the minutes asked for', async (_, params) => {
        for (const plan of await plansOf(url, reports.flow, params)) {
          expect(plan).toContain('counters_minute')
          expect(plan).not.toContain('Seq Scan')
        }
      })

      it.each([
        ['of all queues', null],
        ['of a queue', 'q1'],
      ])('what left for good, %s, reads the minutes asked for', async (_, queue) => {
        for (const plan of await plansOf(url, reports.removed, [queue, Date.now() - 3_600_000])) {
          expect(plan).toContain('counters_minute')
          expect(plan).not.toContain('Seq Scan')
        }
      })

      it.each([
        ['without filter', {}, 'audit_log_pkey'],
        ['from some place on', { beforeId: '200' }, 'audit_log_pkey'],
        ['by action', { action: 'retry' }, 'audit_by_action'],
        ['by actor', { actor: 'ann' }, 'audit_by_actor'],
      ])('the audit log %s comes off its index in order', async (_, listing, index) => {
        const [statement, params] = audit(listing)

        for (const plan of await plansOf(url, statement, params)) {
          expect(plan).toContain(index)
          expect(plan).not.toMatch(needless)
        }
      })

      it.each([
        ['by action and actor', { action: 'retry', actor: 'ann' }],
        ['since some time', { sinceMs: Date.now() - 86_400_000 }],
      ])('the audit log %s comes off an index', async (_, listing) => {
        const [statement, params] = audit(listing)

        for (const plan of await plansOf(url, statement, params)) {
          expect(plan).toMatch(/audit_(by_|recent|log_pkey)/)
          expect(plan).not.toContain('Seq Scan')
        }
      })

      it.each([
        ['operations', operations.list, [NEWEST, 51], 'operations_pkey'],
        ['the rows that one did not do', operations.rowsOf, ['1', '0', 51], 'operation_rows_pkey'],
      ] as const)('%s come off their index in order', async (_, statement, params, index) => {
        for (const plan of await plansOf(url, statement, params)) {
          expect(plan).toContain(index)
          expect(plan).not.toMatch(needless)
        }
      })

      it('one operation, the next that nobody runs, and what one has to look at again are found by their indexes', async () => {
        const [one, orphan, pending] = [operations.get, operations.orphan, operations.pending]
        const found = [
          ...(await plansOf(url, one, ['1'])),
          ...(await plansOf(url, orphan, [])),
          ...(await plansOf(url, pending, ['1', '0', 51])),
        ]

        for (const plan of found) expect(plan).not.toContain('Seq Scan')
        expect(found.join('\n')).toContain('operations_open')
        expect(found.join('\n')).toContain('operations_undone_once')
      })
    },
    { rows: 'kept', checked: false },
  )
}
