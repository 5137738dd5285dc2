import { expect, it } from 'vitest'
import type { DEFAULT_POLICY, QueuePolicyPatch } from '../../src/job/policy.js'
import { HELD_STATES, JOB_STATES, type JobState, LIVE_STATES, STATES } from '../../src/job/states.js'
import { PLACES } from '../../src/store/postgres/queries/check.js'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const act = { actor: 'ann' }
const ago = (ms: number) => new Date(Date.now() - ms)

/** Which retention is about a state that ends; live jobs are kept because they will run. */
const RULES: Readonly<Record<Exclude<JobState, (typeof LIVE_STATES)[number]>, keyof typeof DEFAULT_POLICY.retention>> =
  {
    completed: 'completed',
    failed: 'failed',
    cancelled: 'cancelled',
    archived: 'dlq',
    discarded: 'bin',
    quarantined: 'held',
    undecodable: 'held',
  }

describeStore('rules of retention', ({ store, given, db, clock }) => {
  const set = (queue: string, patch: QueuePolicyPatch) => store.setQueue(queue, patch, act)
  const left = async (ids: readonly string[]) => {
    const found = await Promise.all(ids.map((id) => store.getJob(id)))
    return found.map((job) => job?.state ?? 'gone')
  }
  const reasons = async () =>
    Object.fromEntries(
      await db.run(
        sql<[], [string, string]>`
        select reason, sum(n) from spillway.counters where what = 'expired' group by reason order by reason`,
        [],
      ),
    )

  it('are there for every state of the schema that is not live, and each is the default or a queue’s', async () => {
    const checks = await db.run(
      sql<[places: readonly string[]], [string]>`
      select pg_get_constraintdef(c.oid)
        from pg_constraint c
       where c.conrelid in (select oid from pg_class where relname = any ($1)) and c.contype = 'c'
         and pg_get_constraintdef(c.oid) ~ '\(state = '`,
      [PLACES],
    )
    const inSchema = new Set(
      checks.flatMap(([check]) => [...check.matchAll(/'([a-z]+)'::text/g)].map(([, name]) => name)),
    )

    expect(inSchema.size).toBeGreaterThan(5)
    expect([...inSchema].filter((state) => !Object.hasOwn(STATES, state!))).toEqual([])
    expect(new Set(PLACES)).toEqual(new Set(Object.values(STATES).map(({ place }) => place)))
    for (const state of JOB_STATES) {
      if (LIVE_STATES.some((live) => live === state)) continue
      const key = RULES[state as keyof typeof RULES]
      await set('q', { retention: { [key]: HOUR } })
      const seed = {
        archived: { dlqAt: ago(2 * HOUR), retainFrom: ago(2 * HOUR) },
        discarded: { discardedAt: ago(2 * HOUR) },
      }
      const held = HELD_STATES.some((it) => it === state) ? { heldAt: ago(2 * HOUR) } : undefined
      const own = seed[state as keyof typeof seed] ?? held ?? { finalizedAt: ago(2 * HOUR) }
      const { id } = await given.job({ state, queue: 'q', ...own })

      await store.retain(1_000)

      expect([state, ...(await left([id]))]).toEqual([state, 'gone'])
      await set('q', { retention: { [key]: null } })
    }
  })

  it('apply each alone: done after a minute, dead after 30 days, dead of one queue after 90', async () => {
    await set('default', { retention: { completed: 60_000 } })
    await set('q', { retention: { dlq: 90 * DAY } })
    const done = await given.job({ state: 'completed' })
    const failed = await given.job({ state: 'failed' })
    const dead = await given.job({ state: 'archived' })
    const ofQueue = await given.job({ state: 'archived', queue: 'q' })
    const ids = [done.id, failed.id, dead.id, ofQueue.id]

    const seen: string[][] = []
    let counted = {}
    for (const by of ['50s', '20s', '73h', '28d', '61d'] as const) {
      await clock.advance(by)
      await store.retain(1_000)
      seen.push(await left(ids))
      // Counters themselves are kept for 90 days.
      counted = { ...(await reasons()), ...counted }
    }

    expect(seen).toEqual([
      ['completed', 'failed', 'archived', 'archived'],
      ['gone', 'failed', 'archived', 'archived'],
      ['gone', 'gone', 'archived', 'archived'],
      ['gone', 'gone', 'gone', 'archived'],
      ['gone', 'gone', 'gone', 'gone'],
    ])
    expect(counted).toEqual({ completed: '1', failed: '1', attempts_exhausted: '1' })
  })

  it('fire pass after pass on an idle store: what is older goes, what is younger stays', async () => {
    const older = await given.job({ state: 'archived', dlqAt: ago(30 * DAY + HOUR), retainFrom: ago(30 * DAY + HOUR) })
    const younger = await given.job({
      state: 'archived',
      dlqAt: ago(30 * DAY - HOUR),
      retainFrom: ago(30 * DAY - HOUR),
    })

    const seen: string[][] = []
    for (let pass = 0; pass < 3; pass++) {
      await store.retain(1_000)
      seen.push(await left([older.id, younger.id]))
    }
    await clock.advance('2h')
    await store.retain(1_000)

    expect(seen).toEqual(Array(3).fill(['gone', 'archived']))
    expect(await left([younger.id])).toEqual(['gone'])
  })

  it('reach the dead letters of one queue however many another keeps', async () => {
    await set('kept', { retention: { dlq: null } })
    const old = { dlqAt: ago(99 * DAY), retainFrom: ago(99 * DAY) }
    await given.jobs(300, { state: 'archived', queue: 'kept', ...old })
    const other = await given.job({ state: 'archived', queue: 'z', dlqAt: ago(31 * DAY), retainFrom: ago(31 * DAY) })

    const deleted = await store.retain(10)

    expect(deleted.dlq).toBe(1)
    expect(await left([other.id])).toEqual(['gone'])
  })

  it('count from the time a dead letter came back, not from its death', async () => {
    const dead = await given.job({ state: 'archived', dlqAt: ago(31 * DAY), retainFrom: ago(31 * DAY) })
    const { operation } = await store.actOnIds([dead.id], discard, act)
    const undo = await store.undoOperation(operation.id, act)
    while ((await store.stepOperation(undo.id, 'test')).waitMs !== null);

    await store.retain(1_000)
    const at = await left([dead.id])
    await clock.advance('31d')
    await store.retain(1_000)

    expect(at).toEqual(['archived'])
    expect(await left([dead.id])).toEqual(['gone'])
  })

  it('keep what nobody has looked at, where the queue says so: until somebody does, row by row or by cause', async () => {
    await set('q', { keepUnreviewed: true })
    const old = { state: 'archived', queue: 'q', dlqAt: ago(40 * DAY), retainFrom: ago(40 * DAY) } as const
    const alone = await given.job({ ...old, cause: 'a' })
    const ofCause = await given.job({ ...old, cause: 'b' })
    const unseen = await given.job({ ...old, cause: 'c' })
    const ownDays = await given.job({ ...old, cause: 'c', retention: { dlq: DAY } })
    const ids = [alone.id, ofCause.id, unseen.id, ownDays.id]

    await store.retain(1_000)
    const before = await left(ids)
    await store.triage({ id: alone.id }, { action: 'note', text: 'known' }, act)
    await store.triage({ queue: 'q', cause: 'b' }, { action: 'ack', clear: false }, act)
    await store.retain(1_000)
    const after = await left(ids)
    await store.triage({ queue: 'q', cause: 'c' }, { action: 'ack', clear: false }, act)
    await store.triage({ queue: 'q', cause: 'c' }, { action: 'ack', clear: true }, act)
    await store.retain(1_000)
    const taken = await left(ids)
    await set('q', { keepUnreviewed: false })
    await store.retain(1_000)

    expect(before).toEqual(['archived', 'archived', 'archived', 'archived'])
    expect(after).toEqual(['gone', 'gone', 'archived', 'archived'])
    expect(taken).toEqual(after)
    expect(await left(ids)).toEqual(['gone', 'gone', 'gone', 'gone'])
  })

  it('does not take a look at a cause for one at those that died of it since', async () => {
    await set('q', { keepUnreviewed: true, retention: { dlq: HOUR } })
    const before = await given.job({ state: 'archived', queue: 'q', cause: 'a' })
    await store.triage({ queue: 'q', cause: 'a' }, { action: 'ack', clear: false }, act)
    await clock.advance('10m')
    const since = await given.job({ state: 'archived', queue: 'q', cause: 'a' })

    await clock.advance('2h')
    await store.retain(1_000)

    expect(await left([before.id, since.id])).toEqual(['gone', 'archived'])
  })

  it('keep everything a retry needs as long as the dead letter: payload, its versions, tags, cause', async () => {
    const { id } = await given.job({ state: 'archived', tags: ['a'], payload: { n: 1 } })
    await store.editPayload(id, '{"n":2}', act)
    await clock.advance('29d')
    await store.retain(1_000)

    const versions = await store.payloadVersions(id)
    await store.retryJob(id, fresh, act)

    expect(versions.map(({ payload }) => payload)).toEqual(['{"n":1}', '{"n":2}'])
    expect(await store.getJob(id, { payload: true })).toMatchObject({
      state: 'available',
      tags: ['a'],
      payload: { n: 2 },
    })
  })

  it('tell what leaves soon, by queue, and nothing that stays', async () => {
    await set('kept', { retention: { dlq: null } })
    await set('unseen', { keepUnreviewed: true })
    const at = (queue: string, days: number, retention?: Record<string, number>) => ({
      state: 'archived' as const,
      queue,
      dlqAt: ago(days * DAY),
      retainFrom: ago(days * DAY),
      ...(retention && { retention }),
    })
    await given.jobs(2, at('q', 25))
    await given.job(at('q', 20))
    await given.job(at('q', 1, { dlq: 3 * DAY }))
    await given.job(at('kept', 25))
    await given.job(at('unseen', 25))

    const week = await store.expiring(7 * DAY)
    const hour = await store.expiring(HOUR)
    const other = await store.expiring(7 * DAY, 'kept')

    expect(week.map(({ queue, count }) => [queue, count])).toEqual([['q', 3]])
    expect(Math.round((week[0]!.firstAt.getTime() - Date.now()) / DAY)).toBe(2)
    expect([hour, other]).toEqual([[], []])
    expect((await store.expiring(7 * DAY, 'q')).map(({ count }) => count)).toEqual([3])
  })

  const discard = {
    action: 'discard',
    selector: { all: true },
    dryRun: false,
    rate: null,
    maxWaiting: 0,
    canary: null,
    abortAbove: 0,
    holdMs: 1,
    preview: null,
  } as const
  const fresh = { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false } as const
})
