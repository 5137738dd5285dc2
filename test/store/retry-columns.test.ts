import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import type { RetryRequest } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'

const act = { actor: 'ann' }
const FRESH: RetryRequest = { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false }
const LATER = new Date('2100-01-01T00:00:00.000Z')
const PAST = new Date('2026-01-01T00:00:00.000Z')

describeStore('the columns of a retried job', ({ store, given, db, inTransaction }) => {
  it('keeps every column a user has set through five deaths and retries', async () => {
    const json = fc.json({ maxDepth: 2 })
    const text = fc
      .string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
      .filter((value) => !/[\0\p{Surrogate}]/u.test(value))
    const seeds = fc.record({
      queue: text,
      kind: text,
      version: fc.integer({ min: 1, max: 9 }),
      payloadText: json.map((value) => `[${value}]`),
      priority: fc.integer({ min: 0, max: 100 }),
      maxAttempts: fc.integer({ min: 1, max: 50 }),
      deadline: fc.option(fc.date({ min: LATER, max: new Date('2200-01-01'), noInvalidDate: true })),
      timeoutMs: fc.option(fc.integer({ min: 1, max: 1_000_000 })),
      uniqueKey: fc.option(text),
      tags: fc.option(fc.uniqueArray(text, { minLength: 1, maxLength: 3 })),
      metadata: json.map((value) => JSON.parse(value) as unknown),
      retention: fc.option(fc.record({ dlq: fc.integer({ min: 1, max: 9_000_000 }) })),
      createdAt: fc.date({ min: PAST, max: new Date('2026-06-01'), noInvalidDate: true }),
      originId: fc.option(fc.integer({ min: 1, max: 1_000_000 }).map(String)),
    })
    const userSet = sql<[id: string], (string | null)[]>`
      select id, created_at, queue, kind, schema_version, payload, priority, max_attempts, deadline, timeout_ms,
             unique_key, tags, metadata, retention, origin_id
        from (select id, created_at, queue, kind, schema_version, payload, priority, max_attempts, deadline, timeout_ms,
                     unique_key, tags, metadata, retention, origin_id from spillway.ready_entries
              union all
              select id, created_at, queue, kind, schema_version, payload, priority, max_attempts, deadline, timeout_ms,
                     unique_key, tags, metadata, retention, origin_id from spillway.dlq_entries) as job
       where id = $1`

    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const [id = ''] = await given.jobs(1, { state: 'archived', attempt: 1, ...seed })
        const before = await db.run(userSet, [id])
        for (let round = 1; round <= 5; round++) {
          await store.retryJob(id, FRESH, act)
          expect(await db.run(userSet, [id])).toEqual(before)
          expect(await store.getJob(id)).toMatchObject({ state: 'available', generation: round })
          if (round < 5) await die(id)
        }
        expect((await store.getJob(id))?.history?.filter(({ type }) => type === 'retried')).toHaveLength(5)
        await store.cancelJob(id, act)
      }),
      { numRuns: 25 },
    )
  })

  /** Moves a ready job to the dead-letter queue, as a settle would. */
  async function die(id: string): Promise<void> {
    await inTransaction((tx) =>
      tx.execute(`with gone as (delete from spillway.ready_entries where id = ${id} returning *),
        freed as (delete from spillway.unique_keys where job_id = ${id}),
        dead as (
          insert into spillway.dlq_entries (id, created_at, run_at, deadline, release_id, origin_id, max_attempts, attempt,
            crash_attempt, charge_base, run_lease, generation, timeout_ms, schema_version, priority, handbacks, queue, kind,
            unique_key, tags, metadata, retention, history, last_entry, payload, dlq_at, dlq_reason, original_run_lease, cause, retain_from)
          select id, created_at, run_at, deadline, release_id, origin_id, max_attempts, max_attempts,
            crash_attempt, charge_base, max_attempts, generation, timeout_ms, schema_version, priority, handbacks, queue, kind,
            unique_key, tags, metadata, retention, history, last_entry, payload, now(), 'attempts_exhausted', max_attempts, 'c', now()
            from gone
          returning *),
        tagged as (insert into spillway.dlq_tags select distinct tag, dlq_at, id from dead, unnest(tags) tag),
        caused as (insert into spillway.dlq_causes (queue, cause, kind, reason, first_at, last_at)
                   select queue, cause, kind, dlq_reason, now(), now() from dead on conflict do nothing)
        insert into spillway.cause_deltas (queue, cause, n) select queue, cause, 1 from dead`),
    )
  }
})
