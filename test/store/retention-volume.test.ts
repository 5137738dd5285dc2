import { until } from 'spillway/testing'
import { afterAll, expect, it } from 'vitest'
import { Maintenance } from '../../src/maintenance/maintenance.js'
import { sql } from '../../src/store/postgres/sql.js'
import { postgresStore } from '../../src/store/postgres/store.js'
import { effort } from '../support/effort.js'
import { describeStore } from '../support/store.js'

const DAY = 86_400_000
const ago = (ms: number) => new Date(Date.now() - ms)
const { expiredRows, expiryMs } = effort.retention

describeStore('very many expired rows', ({ store, given, db, url }) => {
  // A statement that takes too long is ended by the server, as on many a managed database.
  const limited = postgresStore({ url: withTimeout(url, 5_000) })
  afterAll(() => limited.close())
  const count = async () =>
    (
      await db.run(
        sql<
          [],
          [string]
        >`select (select count(*) from spillway.dlq_entries) + (select count(*) from spillway.terminal_entries)`,
        [],
      )
    )[0]?.[0]

  it(
    `go in batches under a statement_timeout, ${expiredRows} of them, and fresh ones stay`,
    async () => {
      const old = { dlqAt: ago(31 * DAY), retainFrom: ago(31 * DAY) }
      for (let n = 0; n < expiredRows; n += 50_000) {
        await given.jobs(25_000, { state: 'archived', queue: `q${n % 7}`, ...old })
        await given.jobs(25_000, { state: 'completed', finalizedAt: ago(25 * 3_600_000) })
      }
      const fresh = await given.jobs(10, { state: 'archived' })
      const failures: string[] = []
      const maintenance = new Maintenance(limited, {
        onError: (error, duty) => failures.push(`${duty}: ${error.message}`),
      })

      await maintenance.start()
      await until(async () => (await count()) === String(fresh.length), { within: expiryMs, every: 500 })
      await maintenance.stop()

      expect(failures).toEqual([])
      const counted = await db.run(sql<[], [string]>`select sum(n) from spillway.counters where what = 'expired'`, [])
      expect(counted).toEqual([[String(expiredRows)]])
      const duties = new Map((await store.duties()).map((duty) => [duty.duty, duty]))
      for (const name of ['retain', 'retain_dlq'] as const) {
        expect(duties.get(name)?.lastSuccessAt).toBeInstanceOf(Date)
        expect(duties.get(name)?.failures).toBe(0)
      }
    },
    expiryMs + 120_000,
  )

  it('go on after a pass was ended by the server: the failure is counted, the process stays up', async () => {
    await given.jobs(10, { state: 'archived', dlqAt: ago(31 * DAY), retainFrom: ago(31 * DAY) })
    let isSlow = true
    const failures: string[] = []
    const maintenance = new Maintenance(
      {
        ...store,
        retain: async (limit, part) => {
          if (part === 'dead' && isSlow) throw new Error('canceling statement due to statement timeout')
          return store.retain(limit, part)
        },
      },
      { staleMs: 4_000, onError: (error, duty) => failures.push(`${duty}: ${error.message}`) },
    )

    await maintenance.start()
    await until(async () => ((await dutyOf('retain_dlq'))?.failures ?? 0) > 0)
    const before = await count()
    isSlow = false
    await until(async () => (await count()) === '0', { within: '10s' })
    await maintenance.stop()

    expect(before).toBe('10')
    expect(failures).toContain('retain_dlq: canceling statement due to statement timeout')
    expect(await dutyOf('retain_dlq')).toMatchObject({ lastError: 'canceling statement due to statement timeout' })
  })

  it('that come while others are deleted stay when they are younger', async () => {
    await given.jobs(3_000, { state: 'archived', dlqAt: ago(31 * DAY), retainFrom: ago(31 * DAY) })
    const arriving = (async () => {
      const ids: string[] = []
      for (let n = 0; n < 10; n++) ids.push(...(await given.jobs(500, { state: 'archived' })))
      return ids
    })()

    while ((await store.retain(200, 'dead')).dlq !== 0);
    const ids = await arriving
    await store.retain(1_000)

    expect(await count()).toBe(String(ids.length))
  })

  async function dutyOf(name: string) {
    return (await store.duties()).find(({ duty }) => duty === name)
  }
})

function withTimeout(url: string, ms: number): string {
  const changed = new URL(url)
  changed.searchParams.set('options', `-c statement_timeout=${ms}`)
  return changed.href
}
