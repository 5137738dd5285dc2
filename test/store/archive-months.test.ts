import { expect, it } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
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
    await store.setQueue('q', { coldArchive: true, retention: { dlq: DAY, archive: 100 * DAY } }, act)
    const months: { id: string; seen: string }[] = []
    for (let month = 0; month < 12; month++) {
      const [id = ''] = await given.jobs(1, {
        state: 'archived',
        queue: 'q',
        payload: { month },
        tags: [`m${month}`],
        errorMessage: `month ${month}`,
        // One that is kept longer than its queue says holds its month.
        ...(month === 3 && { retention: { archive: 1_000 * DAY } }),
      })
      const seen = await whole(id)
      months.push({ id, seen })
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

    expect(rows).toBe(12)
    // 100 days after they went to the archive all but the last months may go, and the one with the longer row not.
    const left = new Set((await store.listCold({}, { limit: 100 })).items.map(({ id }) => id))
    expect(months.map(({ id }) => left.has(id))).toEqual([
      ...[false, false, false, true, false, false, false, false],
      ...[false, true, true, true],
    ])
    expect((await store.coldMonths()).map(({ month }) => month)).toEqual(kept)
    const names = await partitions()
    for (const month of removed) expect(names).not.toContain(`cold_${month.replace('-', '')}`)
    for (const month of kept) expect(names).toContain(`cold_${month.replace('-', '')}`)
    expect((await store.listAudit({ action: 'prune' }, { limit: 100 })).items).toHaveLength(removed.length)
    for (const { id, seen } of months.filter((it) => left.has(it.id))) {
      await store.restoreCold(id, act)
      expect(await whole(id)).toBe(seen)
    }
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

  /** A dead letter without its times, which the clock of the test moves, and without what coming back adds. */
  async function whole(id: string): Promise<string> {
    const job = await store.getJob(id, { payload: true })
    const { createdAt: _, runAt: __, startedAt: ___, finalizedAt: ____, dlq, history, ...rest } = job!
    const past = history?.filter(({ type }) => type !== 'restored')
    return JSON.stringify({ ...rest, dlq: { ...dlq, dlqAt: null }, past })
  }
})
