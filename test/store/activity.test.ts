import { expect, it } from 'vitest'
import { activityQueries } from '../../src/store/postgres/queries/activity.js'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'
import { plansOf } from './explain.js'

const ago = (ms: number) => new Date(Date.now() - ms)

describeStore('how a queue keeps up', ({ store, given, db, url }) => {
  const activity = async (queue: string) => (await store.getQueue(queue)).activity

  it('is since when its oldest available job waits, and how many completed in the last minute', async () => {
    const oldest = ago(300_000)
    await given.jobs(1, { queue: 'mail', runAt: oldest })
    await given.jobs(5, { queue: 'mail', runAt: ago(1_000) })
    await given.jobs(3, { queue: 'mail', state: 'completed', finalizedAt: ago(10_000) })
    await given.jobs(2, { queue: 'mail', state: 'completed', finalizedAt: ago(90_000) })
    await given.jobs(4, { queue: 'mail', state: 'cancelled', finalizedAt: ago(10_000) })
    await given.jobs(2, { queue: 'other', state: 'completed', finalizedAt: ago(5_000) })
    await given.jobs(1, { queue: 'other', state: 'scheduled' })

    expect(await activity('mail')).toEqual({ oldestAt: oldest, completedPerMinute: 3 })
    expect(await activity('other')).toEqual({ oldestAt: null, completedPerMinute: 2 })
    expect((await store.listQueues()).map((it) => it.activity?.completedPerMinute)).toEqual([3, 2])
  })

  it('is nothing of a queue where nothing waits or completes', async () => {
    await given.jobs(2, { queue: 'quiet', state: 'scheduled' })

    expect(await activity('quiet')).toEqual({ oldestAt: null, completedPerMinute: 0 })
    expect(await activity('unheard of')).toEqual({ oldestAt: null, completedPerMinute: 0 })
  })

  it('counts those that a queue does not keep, too', async () => {
    await db.run(
      sql<[], []>`
        insert into spillway.counters (queue, kind, reason, what, n, minute)
        select 'mail', 'k', 'completed', 'gone', 7, date_trunc('minute', now())
        union all select 'mail', 'k', 'completed', 'gone', 500, date_trunc('minute', now()) - interval '5 minutes'
        union all select 'mail', 'k', 'cancelled', 'gone', 9, date_trunc('minute', now())`,
      [],
    )

    expect((await activity('mail'))?.completedPerMinute).toBe(7)
  })

  it('follows from the last 20,000 where more completed within the minute', async () => {
    await given.jobs(20_000, { queue: 'fast', state: 'completed', finalizedAt: ago(10_000) })
    await given.jobs(10_000, { queue: 'fast', state: 'completed', finalizedAt: ago(20_000) })

    const { completedPerMinute = 0 } = (await activity('fast')) ?? {}

    // 20,000 in the 10 s and little more that were looked at.
    expect(completedPerMinute).toBeGreaterThan(60_000)
    expect(completedPerMinute).toBeLessThanOrEqual(120_000)
  })

  it('is read off the newest end of what completed, however much did before', async () => {
    await given.jobs(40_000, { queue: 'q', state: 'completed', finalizedAt: ago(3_600_000) })

    const [plan = ''] = await plansOf(url, activityQueries('spillway').activity, [])

    expect(plan).toContain('finalized_at')
    expect(plan).not.toMatch(/Seq Scan on terminal_\d_\d+.*rows=\d{5,}/)
  })
})
