import { expect, it } from 'vitest'
import type { Job } from '../../src/job/job.js'
import { JOB_STATES, LIVE_STATES } from '../../src/job/states.js'
import { sql } from '../../src/store/postgres/sql.js'
import type { ColdJob } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'

const DAY = 86_400_000
const act = { actor: 'ann' }

describeStore('twelve months in the archive', ({ store, given, db, clock }) => {
  const partitions = async () =>
    (
      await db.run(
        sql<[], [string]>`select relname from pg_class where relname ~ '^cold_\d{6}$' and relispartition order by 1`,
        [],
      )
    ).flat()

  it('restore what is asked for as it was, and prune exactly the months in which nothing is kept', async () => {
    const days = { completed: DAY, failed: DAY, cancelled: DAY, dlq: DAY, bin: DAY, held: DAY }
    await store.setQueue('q', { coldArchive: true, retention: { ...days, archive: 100 * DAY } }, act)
    const jobs: { id: string; month: number; kind: string; seen: string }[] = []
    for (let month = 0; month < 12; month++) {
      for (const [kind, seed] of Object.entries(ARCHIVABLE)) {
        const job = await given.job({
          ...{ queue: 'q', kind, payload: { month }, metadata: { of: [month] }, tags: [`m${month}`] },
          ...seed,
          // One that is kept longer than its queue says holds its month.
          ...(month === 3 && kind === 'dead' && { retention: { archive: 1_000 * DAY } }),
        })
        jobs.push({ id: job.id, month, kind, seen: seenOf(job) })
      }
      await clock.advance('2d')
      await store.retain(1_000)
      await clock.advance('29d')
    }

    const listed = await store.coldMonths()
    const rows = listed.reduce((sum, it) => sum + it.rows, 0)
    const kept: string[] = []
    const removed: string[] = []
    for (const { month, isPrunable, rows } of listed) {
      const pruned = await store.pruneCold(month, act).catch((error: { code: string }) => error.code)
      expect(pruned).toEqual(isPrunable ? { month, rows } : 'archive_kept')
      ;(isPrunable ? removed : kept).push(month)
    }

    expect(rows).toBe(jobs.length)
    // 100 days after they went to the archive all but the last months may go, and the one with the longer row not.
    const left = new Set((await store.listCold({}, { limit: 1_000 })).items.map(({ id }) => id))
    expect(jobs.filter(({ id }) => left.has(id)).map(({ id }) => id)).toEqual(
      jobs.filter(({ month }) => [3, 9, 10, 11].includes(month)).map(({ id }) => id),
    )
    expect((await store.coldMonths()).map(({ month }) => month)).toEqual(kept)
    const names = await partitions()
    for (const month of removed) expect(names).not.toContain(`cold_${month.replace('-', '')}`)
    for (const month of kept) expect(names).toContain(`cold_${month.replace('-', '')}`)
    expect((await store.listAudit({ action: 'prune' }, { limit: 100 })).items).toHaveLength(removed.length)
    for (const { id, kind, seen } of jobs.filter((it) => left.has(it.id))) {
      expect([kind, seenOf((await store.getCold(id))!)]).toEqual([kind, seen])
      if (!isRestorable(kind)) {
        await expect(store.restoreCold(id, act), kind).rejects.toMatchObject({ code: 'invalid_state' })
        expect([kind, seenOf((await store.getCold(id))!)]).toEqual([kind, seen])
        continue
      }
      await store.restoreCold(id, act)
      const restored = (await store.getJob(id, { payload: true }))!
      expect(restored.state).toBe('archived')
      expect([kind, partOf(restored)]).toEqual([kind, JSON.parse(seen).part])
      if (kind === 'dead') expect(seenOf(restored)).toBe(seen)
      expect(await store.getCold(id)).toBeUndefined()
    }
  })

  it('have a row for every state that retention ends', () => {
    const states = Object.values(ARCHIVABLE).map(({ state }) => state as string)
    const ending = JOB_STATES.filter((state) => !LIVE_STATES.some((live) => live === state))

    expect([...new Set(states)].sort()).toEqual([...ending].sort())
  })

  it('have a partition each, made ahead, and by whoever needs one that is missing', async () => {
    const before = await partitions()
    await db.transaction((tx) => tx.execute(`drop table ${before.map((name) => `spillway.${name}`).join(', ')}`))
    await store.setQueue('q', { coldArchive: true }, act)
    const old = new Date(Date.now() - 31 * DAY)
    await given.job({ state: 'archived', queue: 'q', dlqAt: old, retainFrom: old })

    const deleted = await store.retain(1_000)

    expect(deleted.dlq).toBe(1)
    expect((await partitions()).length).toBeGreaterThanOrEqual(3)
    expect((await store.listCold({}, { limit: 10 })).items).toHaveLength(1)
  })

  it('are not pruned before they are over, nor where they are none', async () => {
    await store.setQueue('q', { coldArchive: true, retention: { archive: 0 } }, act)
    const old = new Date(Date.now() - 31 * DAY)
    await given.job({ state: 'archived', queue: 'q', dlqAt: old, retainFrom: old })
    await store.retain(1_000)
    const [{ month } = { month: '' }] = await store.coldMonths()

    await expect(store.pruneCold(month, act)).rejects.toThrow(/the month is not over/)
    await expect(store.pruneCold('1999-01', act)).rejects.toMatchObject({ code: 'not_found' })
    expect((await store.listCold({}, { limit: 10 })).items).toHaveLength(1)
  })
})

/** By a name: what a queue may have in the archive. */
const ARCHIVABLE = {
  done: { state: 'completed', result: { sum: 12 }, progress: 1 },
  failed: { state: 'failed', errorMessage: 'no funds', progress: 0.5 },
  cancelled: { state: 'cancelled' },
  dead: { state: 'archived', errorMessage: 'no funds', dlqReason: 'by hand', progress: [1, 2], crashAttempt: 1 },
  binned: { state: 'discarded', errorMessage: 'no funds', fromState: 'archived' },
  'held and binned': { state: 'discarded', fromState: 'quarantined' },
  quarantined: { state: 'quarantined', crashAttempt: 3 },
  undecodable: { state: 'undecodable', heldReason: 'undecodable' },
} as const

/** What was not dead does not become it by coming back. */
const isRestorable = (kind: string) => ['failed', 'dead', 'binned'].includes(kind)

/** A job as text, without its times, which the clock of the test moves, and without what the archive adds. */
function seenOf(job: Job | ColdJob): string {
  // What keeps a held one from running is no part of it.
  const { history, why: _, archivedAt: __, keepUntil: ___, blocked: ____, ...rest } = job as ColdJob
  const past = history?.filter(({ type }) => type !== 'restored')
  const text = JSON.stringify(rest, function (this: Record<string, unknown>, key, value) {
    return this[key] instanceof Date ? undefined : value
  })
  return JSON.stringify({ part: partOf(job), rest: JSON.parse(text), past })
}

/** What a restored job keeps whatever it was. */
function partOf({
  id,
  queue,
  kind,
  payload,
  metadata,
  tags,
  attempt,
  maxAttempts,
  priority,
  generation,
  history,
}: Job) {
  const past = history?.filter(({ type }) => type !== 'restored')
  const part = { id, queue, kind, payload, metadata, tags, attempt, maxAttempts, priority, generation, past }
  return JSON.parse(JSON.stringify(part)) as unknown
}
