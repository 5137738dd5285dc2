import pg from 'pg'
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { DUTIES, type DutyName } from '../../src/job/duties.js'
import { Maintenance } from '../../src/maintenance/maintenance.js'
import { Database } from '../../src/store/postgres/database.js'
import { archiveQueries } from '../../src/store/postgres/queries/archive.js'
import { deadlineQueries } from '../../src/store/postgres/queries/deadlines.js'
import { foldQueries } from '../../src/store/postgres/queries/fold.js'
import { leaderQueries } from '../../src/store/postgres/queries/leaders.js'
import { operationQueries } from '../../src/store/postgres/queries/operations.js'
import { overseeQueries } from '../../src/store/postgres/queries/oversee.js'
import { partitionQueries } from '../../src/store/postgres/queries/partitions.js'
import { promoteQueries } from '../../src/store/postgres/queries/promote.js'
import { rescueQueries } from '../../src/store/postgres/queries/rescue.js'
import { retainQueries } from '../../src/store/postgres/queries/retain.js'
import { retainDeadQueries } from '../../src/store/postgres/queries/retain-dead.js'
import { ringQueries } from '../../src/store/postgres/queries/rings.js'
import { sessionQueries } from '../../src/store/postgres/queries/session.js'
import { sql } from '../../src/store/postgres/sql.js'
import { effort } from '../support/effort.js'
import { describeStore } from '../support/store.js'

type Asked = [statement: { readonly text: string }, params: readonly unknown[]]

const schema = 'spillway'
const { planRows } = effort.retention
const isSmall = planRows < 1_000_000
const FROM = '-infinity'
const retention = [false, true].flatMap((isArchiving) => {
  const queries = retainQueries(schema, isArchiving)
  const { look, terminal, terminalOwn, bin, binOwn, held, heldOwn, payloadVersions, triage } = queries
  const dead = retainDeadQueries(schema, isArchiving)
  const name = isArchiving ? ', to the archive' : ''
  return [
    [`look${name}`, look, []],
    ...[...terminal, ...terminalOwn, bin, binOwn, held, heldOwn, payloadVersions, triage].map(
      (statement, n) => [`sweep ${n}${name}`, statement, [FROM, 1_000, 1_000]] as const,
    ),
    [`due queues${name}`, dead.due, []],
    [`sweep of a queue${name}`, dead.ofQueue, ['q', FROM, '0', 1_000, 1_000]],
    [`sweep of own retention${name}`, dead.own, [FROM, '0', 1_000, 1_000]],
    [`capped${name}`, dead.capped, [null]],
    [`evict${name}`, dead.evict, ['q', 1_000]],
    [`warn${name}`, dead.warn, []],
  ] as const
})

/** Whatever a store does by itself, again and again. */
const RECURRING: readonly (readonly [string, { readonly text: string }, readonly unknown[]])[] = [
  ['lead', leaderQueries(schema).lead, ['maintenance', 'h', 10_000, '{}', '{}']],
  ['report a duty', leaderQueries(schema).report, ['fold', null, 0]],
  ['duties', overseeQueries(schema).duties, []],
  ['promote', promoteQueries(schema).promote, [1_000, 'c']],
  ['expire deadlines', deadlineQueries(schema).expire, [1_000]],
  ['fold', foldQueries(schema).fold, [10_000]],
  ['look at rings', ringQueries(schema).look, []],
  ['lost workers', rescueQueries(schema).lost, [45_000]],
  ['orphan operation', operationQueries(schema).orphan, []],
  ['old partitions', partitionQueries(schema).old, []],
  ['cold partitions', archiveQueries(schema).prepare, []],
  ['beat', sessionQueries(schema).beat, ['1']],
  ['pulse', sessionQueries(schema).pulse, [['q'], '1']],
  ...retention,
]

/** Tables that grow with the work; the others have a row for each queue, worker, cause or duty. */
const LARGE =
  /Seq Scan on (?!.*(job_ids|quarantine|worker_tasks|counter_totals|dlq_warnings|event_head|webhooks|deliveries|unserved_kinds|_causes|cause_|queues|workers|leaders|duties|control|ring_state|operations|aborts|requests|crashes|counters|ended_workers|idempotency_keys|event_outbox|pg_))/

/** With a million rows the planner reads empty partitions whole, and may. */
const MANY = /rows=\d{5,} /

describeStore(
  'statements that recur',
  ({ store, given, db, url }) => {
    beforeAll(async () => {
      await store.setQueue('q', { dlqMaxRows: 1_000_000, coldArchive: true }, { actor: 'test' })
      for (let n = 0; n < planRows; n += 20_000) {
        await given.jobs(20_000, { state: 'archived', queue: 'q', tags: ['t'] })
        await given.jobs(20_000, { state: 'completed', queue: 'q' })
      }
      await given.jobs(10_000, { state: 'scheduled', queue: 'q' })
      await given.jobs(5_000, { state: 'discarded', queue: 'q' })
      await given.jobs(5_000, { state: 'quarantined', queue: 'q' })
      await given.jobs(5_000, { queue: 'q' })
      await db.run(
        sql`insert into spillway.dlq_triage (job_id, generation, queue, cause, acknowledged_at)
            select id, generation, queue, cause, now() from spillway.dlq_entries limit 5000`,
        [],
      )
      await store.fold(100_000)
      await db.transaction((tx) => tx.execute('analyze'))
    }, 3_600_000)

    it.each(RECURRING)('%s reads no large table whole', async (_, statement, params) => {
      const plan = await planOf(statement, params)

      expect(plan.split('\n').filter((line) => LARGE.test(line) && (isSmall || MANY.test(line)))).toEqual([])
    })

    it('nor does any other that a duty runs by itself', async () => {
      const known = new Set(RECURRING.map(([, { text }]) => text))
      const prepared = vi.spyOn(Database.prototype as unknown as { config(...asked: Asked): unknown }, 'config')
      onTestFinished(() => prepared.mockRestore())
      const maintenance = new Maintenance(store, { staleMs: 45_000 })
      for (const duty of Object.keys(DUTIES) as DutyName[]) await maintenance.runOnce(duty)
      const others = new Map(
        prepared.mock.calls.filter(([{ text }]) => !known.has(text)).map(([{ text }, params]) => [text, params]),
      )
      prepared.mockRestore()

      const whole: string[] = []
      for (const [text, params] of others) {
        const plan = await planOf({ text }, params)
        whole.push(...plan.split('\n').filter((line) => LARGE.test(line) && (isSmall || MANY.test(line))))
      }

      expect(others.size).toBeGreaterThan(10)
      expect(whole).toEqual([])
    })

    it('take less than 50 ms each when there is nothing to do', async () => {
      await store.retain(1_000)
      const slow: [string, number][] = []
      for (const [name, statement, params] of RECURRING) {
        if (name.startsWith('old partitions')) continue
        const best = await timeOf(statement, params)
        if (best >= 50) slow.push([name, best])
      }

      expect(slow).toEqual([])
    })

    async function planOf(statement: { readonly text: string }, params: readonly unknown[]): Promise<string> {
      const rows = await connected(async (client) => {
        // Tables of a few thousand rows are cheapest read whole: with that forbidden, what has no index shows.
        if (isSmall) await client.query('set enable_seqscan = off')
        return client.query<{ 'QUERY PLAN': string }>(`explain ${statement.text}`, [...params])
      })
      return rows.rows.map((row) => row['QUERY PLAN']).join('\n')
    }

    /** The best of some runs, prepared as a store prepares it. */
    async function timeOf(statement: { readonly text: string }, params: readonly unknown[]): Promise<number> {
      return connected(async (client) => {
        let best = Number.POSITIVE_INFINITY
        for (let n = 0; n < 8; n++) {
          await client.query('begin')
          const from = performance.now()
          await client.query({ name: 'recurring', text: statement.text, values: [...params] })
          best = Math.min(best, performance.now() - from)
          await client.query('rollback')
        }
        return best
      })
    }

    async function connected<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      try {
        return await work(client)
      } finally {
        await client.end()
      }
    }
  },
  { rows: 'kept', checked: false },
)
