import fc from 'fast-check'
import { Spillway } from 'spillway'
import { expect, it, onTestFinished } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import { upkeep } from '../../src/store/postgres/upkeep.js'
import { describeStore } from '../support/store.js'
import { someoneWaits } from '../support/waits.js'

const DAY = 86_400_000
const act = { actor: 'ann', reason: 'an audit', requestId: 'r1' }
const fresh = { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false } as const
const ago = (ms: number) => new Date(Date.now() - ms)
const page = { limit: 100 }

/** Everything a dead letter is, but for what coming back changes. */
const WHOLE = sql<[id: string], (string | null)[]>`
  select id, created_at, run_at, deadline, release_id, origin_id, last_operation, max_attempts, attempt, crash_attempt,
         charge_base, run_lease, generation, timeout_ms, schema_version, priority, handbacks, queue, kind, unique_key, tags,
         metadata, retention, coalesce(array_to_json(history[1:cardinality(history) - case when history[cardinality(history)] ->> 'type' = 'restored' then 1 else 0 end]), '[]'),
         payload, dlq_at, dlq_reason, original_run_lease, cause, error_class, error_message, lease_id, started_at, progress
    from spillway.dlq_entries where id = $1`

describeStore('the cold archive', ({ store, given, db, url, schema, clock, inTransaction }) => {
  const optIn = (queue: string, retention = {}) => store.setQueue(queue, { coldArchive: true, retention }, act)
  const lapsed = { dlqAt: ago(31 * DAY), retainFrom: ago(31 * DAY) }
  const cold = async (filter = {}) => (await store.listCold(filter, page)).items

  it('gets what outlived its retention in queues that opt in, whatever it was, and of others nothing', async () => {
    await optIn('q', { held: DAY })
    await store.setQueue('other', { coldArchive: false, maxGenerations: 5 }, act)
    const dead = await given.job({ state: 'archived', queue: 'q', ...lapsed, attempt: 3, tags: ['a'] })
    const done = await given.job({ state: 'completed', queue: 'q', finalizedAt: ago(2 * DAY), result: { sum: 12 } })
    const failed = await given.job({ state: 'failed', queue: 'q', finalizedAt: ago(4 * DAY) })
    const binned = await given.job({ state: 'discarded', queue: 'q', discardedAt: ago(8 * DAY) })
    const held = await given.job({ state: 'undecodable', queue: 'q', heldAt: ago(2 * DAY) })
    await given.job({ state: 'archived', queue: 'other', ...lapsed })

    await store.retain(1_000)

    const found = new Map((await cold()).map((job) => [job.id, job]))
    expect([...found.values()].map(({ state }) => state).sort()).toEqual([
      'archived',
      'completed',
      'discarded',
      'failed',
      'undecodable',
    ])
    expect([...found.keys()].sort()).toEqual([dead, done, failed, binned, held].map(({ id }) => id).sort())
    expect(found.get(dead.id)).toMatchObject({ why: 'expired', queue: 'q', tags: ['a'], attempt: 3, dlq: dead.dlq })
    expect((await store.getCold(done.id))?.result).toEqual({ sum: 12 })
    const { payload, history } = (await store.getCold(dead.id))!
    expect([payload, history]).toEqual([dead.payload, dead.history])
  })

  it('is in no ordinary list, count or lookup, and no retry reaches it', async () => {
    await optIn('q')
    const { id } = await given.job({ state: 'archived', queue: 'q', ...lapsed })
    await store.retain(1_000)

    expect(await store.getJob(id)).toBeUndefined()
    expect((await store.listJobs({}, page)).items).toEqual([])
    expect((await store.listDlq({}, page)).items).toEqual([])
    expect(Object.values(await store.countJobs()).reduce((sum, n) => sum + n, 0)).toBe(0)
    expect((await store.dlqDepth()).total).toBe(0)
    await expect(store.retryJob(id, fresh, act)).rejects.toMatchObject({ code: 'not_found' })
    await expect(store.cancelJob(id, act)).rejects.toMatchObject({ code: 'not_found' })
    expect(
      await db.run(sql`select reason, sum(n) from spillway.counters where what = 'expired' group by 1`, []),
    ).toEqual([['attempts_exhausted', '1']])
  })

  it('gets what the cap of its queue removes', async () => {
    await store.setQueue('q', { coldArchive: true, dlqMaxRows: 1 }, act)
    const old = await given.job({ state: 'archived', queue: 'q', dlqAt: ago(DAY), retainFrom: ago(DAY) })
    await given.job({ state: 'archived', queue: 'q' })

    await store.retain(1_000)

    expect((await cold()).map(({ id, why }) => [id, why])).toEqual([[old.id, 'evicted']])
  })

  it('restores a dead letter equal to what it was, with a word in its history and retention from now', async () => {
    await optIn('q')
    const { id } = await given.job({
      state: 'archived',
      queue: 'q',
      ...lapsed,
      tags: ['a', 'b'],
      payloadText: '{"n": 12345678901234567890}',
      metadata: { deep: [1] },
      progress: 0.5,
    })
    await store.editPayload(id, '{"n": 98765432109876543210}', act)
    await store.triage({ id }, { action: 'note', text: 'ask ann' }, act)
    const before = await db.run(WHOLE, [id])
    await store.retain(1_000)

    const restored = await store.restoreCold(id, act)

    expect(restored).toEqual({ id, state: 'archived', changed: true })
    expect(await db.run(WHOLE, [id])).toEqual(before)
    const job = await store.getJob(id, { payload: true })
    expect(job?.history?.at(-1)).toMatchObject({ type: 'restored', by: 'ann', why: 'an audit' })
    expect((await store.listDlq({ tag: 'b' }, page)).items.map((it) => it.id)).toEqual([id])
    expect((await store.payloadVersions(id)).map(({ payload }) => payload)).toEqual([
      '{"n": 12345678901234567890}',
      '{"n": 98765432109876543210}',
    ])
    expect(await store.triageOf(id)).toMatchObject({ note: 'ask ann', notedBy: 'ann' })
    expect(await cold()).toEqual([])
    expect((await store.listAudit({ action: 'restore' }, page)).items).toMatchObject([
      {
        actor: 'ann',
        target: { id },
        reason: 'an audit',
        result: { from: 'archived', state: 'archived' },
        requestId: 'r1',
      },
    ])
    await store.retain(1_000)
    expect((await store.getJob(id))?.state).toBe('archived')
    await clock.advance('31d')
    await store.retain(1_000)
    expect((await cold()).map((it) => it.id)).toEqual([id])
  })

  it('restores any dead letter there can be, column by column', async () => {
    await optIn('q')
    const text = fc
      .string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
      .filter((value) => !/[\0\p{Surrogate}]/u.test(value))
    const json = fc.json({ maxDepth: 2 })
    const seeds = fc.record({
      kind: text,
      payloadText: json.map((value) => `[${value}]`),
      metadata: json.map((value) => JSON.parse(value) as unknown),
      tags: fc.option(fc.uniqueArray(text, { minLength: 1, maxLength: 3 })),
      uniqueKey: fc.option(text),
      priority: fc.integer({ min: 0, max: 100 }),
      attempt: fc.integer({ min: 0, max: 30 }),
      generation: fc.integer({ min: 0, max: 9 }),
      runLease: fc.integer({ min: 0, max: 9 }),
      crashAttempt: fc.integer({ min: 0, max: 3 }),
      timeoutMs: fc.option(fc.integer({ min: 1, max: 1_000_000 })),
      dlqReason: text,
      errorMessage: fc.option(text),
      cause: fc.stringMatching(/^[a-z0-9]{1,16}$/),
      originId: fc.option(fc.integer({ min: 1, max: 1_000_000 }).map(String)),
    })

    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const [id = ''] = await given.jobs(1, { state: 'archived', queue: 'q', maxAttempts: 40, ...lapsed, ...seed })
        const before = await db.run(WHOLE, [id])
        await store.retain(1_000)
        expect(await store.getJob(id)).toBeUndefined()

        await store.restoreCold(id, act)

        expect(await db.run(WHOLE, [id])).toEqual(before)
      }),
      { numRuns: 25 },
    )
  })

  it('brings back no death: the cause does not regress, and the job is not held or removed at once', async () => {
    await store.setQueue('q', { coldArchive: true, dlqMaxRows: 1, maxGenerations: 3 }, act)
    const { id } = await given.job({
      state: 'archived',
      queue: 'q',
      ...lapsed,
      generation: 3,
      crashAttempt: 2,
      cause: 'c',
    })
    await store.triage({ queue: 'q', cause: 'c' }, { action: 'resolve', link: null, clear: false }, act)
    await store.retain(1_000)
    await given.job({ state: 'archived', queue: 'q', cause: 'other' })

    await store.restoreCold(id, act)
    await store.fold(1_000)
    await store.retain(1_000)

    const job = await store.getJob(id)
    expect(job).toMatchObject({ state: 'archived', generation: 3, crashAttempt: 2 })
    const group = (await store.dlqGroups({}, page)).items.find(({ cause }) => cause === 'c')
    expect(group).toMatchObject({ count: 1, status: 'resolved', regressedAt: null })
    // The cap on generations is about retries, and holds as before.
    await expect(store.retryJob(id, fresh, act)).rejects.toMatchObject({ code: 'generation_cap' })
  })

  it('restores a failed job as a dead letter, and refuses what was not dead', async () => {
    await optIn('q')
    const failed = await given.job({ state: 'failed', queue: 'q', finalizedAt: ago(4 * DAY) })
    const done = await given.job({ state: 'completed', queue: 'q', finalizedAt: ago(2 * DAY) })
    await store.retain(1_000)

    await store.restoreCold(failed.id, act)

    const job = await store.getJob(failed.id)
    expect(job).toMatchObject({ state: 'archived', dlq: { reason: 'attempts_exhausted', cause: 'cause-of-test' } })
    expect(Math.abs(job!.dlq!.dlqAt.getTime() - failed.finalizedAt!.getTime())).toBeLessThan(2)
    await expect(store.restoreCold(done.id, act)).rejects.toMatchObject({ code: 'invalid_state' })
    await expect(store.restoreCold(failed.id, act)).rejects.toThrow(/a job with this id is archived/)
    await expect(store.restoreCold('999999', act)).rejects.toMatchObject({ code: 'not_found' })
    expect((await cold()).map(({ id }) => id)).toEqual([done.id])
  })

  it('refuses to restore an id that a job has again, and keeps both', async () => {
    await optIn('q')
    const { id } = await given.job({ state: 'archived', queue: 'q', ...lapsed })
    const line = (await store.exportDlq({}, page)).items[0]!
    await store.retain(1_000)
    const spillway = new Spillway({ url })
    onTestFinished(() => spillway.close())
    await spillway.dlq.import([line])

    await expect(store.restoreCold(id, act)).rejects.toMatchObject({ code: 'invalid_state' })

    expect((await store.getJob(id))?.history?.map(({ type }) => type)).toContain('imported')
    expect((await cold()).map((it) => it.id)).toEqual([id])
  })

  it('loses no job of a day whose partition is dropped', async () => {
    await optIn('q')
    const { retain } = upkeep(db, schema, { partitionsMs: 0 })
    const done = await given.job({ state: 'completed', queue: 'q', finalizedAt: ago(40 * DAY) })
    await given.job({ state: 'completed', queue: 'other', finalizedAt: ago(50 * DAY) })

    const first = await retain(0, 'finished')
    await retain(1_000, 'finished')

    expect(first.partitions).toBeGreaterThan(0)
    expect((await cold()).map(({ id }) => id)).toEqual([done.id])
  })

  it('restores once when two do it at once', async () => {
    await optIn('q')
    const { id } = await given.job({ state: 'archived', queue: 'q', ...lapsed })
    await store.retain(1_000)

    const answers = await inTransaction(async (tx) => {
      await tx.run(sql<[string], []>`select from spillway.cold_archive where id = $1 for update`, [id])
      const both = Promise.allSettled([store.restoreCold(id, act), store.restoreCold(id, act)])
      await someoneWaits(url, 2)
      return { both }
    })
    const ended = await answers.both

    expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(ended.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'invalid_state' } })
    expect((await store.getJob(id))?.history?.filter(({ type }) => type === 'restored')).toHaveLength(1)
  })

  it('lists by queue, kind, state, tag, cause, reason and time, newest first, page by page', async () => {
    await optIn('q')
    await optIn('z')
    await given.jobs(5, { state: 'archived', queue: 'q', kind: 'mail', ...lapsed, cause: 'c1', tags: ['a'] })
    await given.jobs(2, { state: 'archived', queue: 'z', kind: 'sms', ...lapsed, dlqReason: 'skipped' })
    await store.retain(1_000)

    const counts = await Promise.all(
      [
        { queue: 'q' },
        { kind: 'sms' },
        { state: 'archived' as const },
        { tag: 'a' },
        { cause: 'c1' },
        { reason: 'skipped' },
      ].map(async (filter) => (await cold(filter)).length),
    )
    const ids: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const next: Awaited<ReturnType<typeof store.listCold>> = await store.listCold(
        { queue: 'q' },
        { limit: 2, ...(cursor === undefined ? {} : { cursor }) },
      )
      ids.push(...next.items.map(({ id }) => id))
      cursor = next.cursor
    }

    expect(counts).toEqual([5, 2, 7, 5, 5, 2])
    expect(ids).toEqual([...new Set(ids)])
    expect(ids).toHaveLength(5)
    expect(ids).toEqual([...ids].sort((a, b) => Number(b) - Number(a)))
    expect(await cold({ until: ago(DAY) })).toEqual([])
    expect(await cold({ since: ago(DAY), queue: 'z' })).toHaveLength(2)
  })

  it('finds a text in errors, and exports whole rows', async () => {
    await optIn('q')
    await given.job({ state: 'archived', queue: 'q', ...lapsed, errorMessage: 'the 100% card expired' })
    await given.job({ state: 'archived', queue: 'q', ...lapsed, errorMessage: 'no funds', payload: { card: 1 } })
    await store.retain(1_000)

    expect(await cold({ error: '100%' })).toHaveLength(1)
    expect(await cold({ error: '100_' })).toHaveLength(0)
    const whole = await store.exportCold({ error: 'funds' }, page)
    expect(whole.items).toMatchObject([{ payload: { card: 1 }, history: [{}, {}, {}] }])
  })
})
