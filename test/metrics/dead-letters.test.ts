import { Spillway } from 'spillway'
import { afterAll, expect, it } from 'vitest'
import { Bounded } from '../../src/metrics/bounded.js'
import { Metrics } from '../../src/metrics/metrics.js'
import { foldQueries } from '../../src/store/postgres/queries/fold.js'
import { sql } from '../../src/store/postgres/sql.js'
import type { Store } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'

const DAY = 24 * 3_600_000

describeStore('metrics of the dead-letter queue', ({ store, given, db, url, schema, clock, inTransaction }) => {
  const spillway = new Spillway({ url })
  afterAll(() => spillway.close())

  /** A new look each time. */
  const measured = async (name: string, labels: Record<string, string> = {}) => {
    const found = await new Metrics(store, { everyMs: 0 }).samples()
    const samples = found.get(name as never) ?? []
    const matching = samples.filter((it) => Object.entries(labels).every(([key, value]) => it.labels[key] === value))
    return matching.length === 0 ? undefined : matching.reduce((sum, { value }) => sum + value, 0)
  }
  const arrivals = (labels: Record<string, string> = {}) => measured('spillway_dlq_arrivals_total', labels)
  const departures = (labels: Record<string, string> = {}) => measured('spillway_dlq_departures_total', labels)

  it('say the age of the oldest row, which grows on an idle queue and is absent where there is none', async () => {
    await given.job({ state: 'archived', queue: 'billing', dlqAt: new Date(Date.now() - 60_000) })
    await given.job({ state: 'archived', queue: 'billing', dlqAt: new Date() })

    const first = await measured('spillway_dlq_oldest_age_seconds', { queue: 'billing' })
    await clock.advance('1h')
    const later = await measured('spillway_dlq_oldest_age_seconds', { queue: 'billing' })

    expect(first).toBeGreaterThan(59)
    expect(first).toBeLessThan(600)
    expect((later ?? 0) - (first ?? 0)).toBeGreaterThan(3_599)
    expect(await measured('spillway_dlq_oldest_age_seconds', { queue: 'mail' })).toBeUndefined()
  })

  it('say nothing of the age once the last row has left, and a depth of nothing', async () => {
    const { id } = await given.job({ state: 'archived', queue: 'billing' })
    await store.fold(1_000)

    await spillway.dlq.purge(id)

    expect(await measured('spillway_dlq_oldest_age_seconds', { queue: 'billing' })).toBeUndefined()
    expect(await measured('spillway_dlq_depth', { queue: 'billing' })).toBeUndefined()
  })

  it('say for how long workers of a queue have left a kind alone, by the single job, and no more once one serves it', async () => {
    const unserved = () => measured('spillway_unserved_seconds', { queue: 'default', kind: 'other' })
    await given.worker({ kinds: ['test@1'] })
    await given.job({ kind: 'other' })
    await given.job()
    await store.judgeUnserved(DAY, 100)
    const first = await unserved()
    await clock.advance('60s')
    await store.judgeUnserved(DAY, 100)
    const later = await unserved()

    await given.worker({ kinds: ['other@1'] })
    await store.judgeUnserved(DAY, 100)

    expect(first).toBe(0)
    expect(later).toBeGreaterThanOrEqual(60)
    expect(await unserved()).toBeUndefined()
    expect(await measured('spillway_unserved_seconds')).toBeUndefined()
  })

  it('say how many nobody has looked at', async () => {
    const [first, second] = await given.jobs(3, { state: 'archived', queue: 'billing' })
    const unreviewed = () => measured('spillway_dlq_unreviewed', { queue: 'billing' })
    const before = await unreviewed()

    await spillway.dlq.ack(first!)
    await spillway.dlq.purge(second!)

    expect([before, await unreviewed()]).toEqual([3, 1])
  })

  it('count every way in and every way out, by reason', async () => {
    const [killed, moved] = await given.jobs(2, { queue: 'billing', kind: 'charge' })
    await given.job({ id: '900', state: 'failed', queue: 'billing', kind: 'charge' })
    await given.jobs(3, { state: 'available', queue: 'billing', kind: 'charge', deadline: new Date(0) })

    await spillway.jobs.kill(killed!)
    await spillway.jobs.kill(moved!, { reason: 'wrong customer' })
    await spillway.dlq.move('900')
    await store.expireDeadlines(10)
    await spillway.dlq.retry(killed!)
    await spillway.dlq.purge(moved!)

    expect(await arrivals({ queue: 'billing', kind: 'charge' })).toBe(6)
    expect(await arrivals({ reason: 'deadline_exceeded' })).toBe(3)
    expect(await arrivals({ reason: 'manual' })).toBe(2)
    expect(await arrivals({ reason: 'operator' })).toBe(1)
    expect(await departures({ reason: 'retried' })).toBe(1)
    expect(await departures({ reason: 'purged' })).toBe(1)
    expect(await departures()).toBe(2)
  })

  it('count what a cap removes apart from what its retention ended, both ways', async () => {
    await spillway.queues.set('billing', { dlqMaxRows: 2 })
    await given.jobs(5, { state: 'archived', queue: 'billing' })
    const old = new Date(Date.now() - 31 * DAY)
    await given.job({ state: 'archived', queue: 'mail', dlqAt: old, retainFrom: old })
    await store.fold(1_000)

    await store.retain(1_000)

    expect(await departures({ queue: 'billing', reason: 'evicted' })).toBe(3)
    expect(await measured('spillway_jobs_removed_total', { queue: 'billing', reason: 'evicted' })).toBe(3)
    expect(await measured('spillway_jobs_removed_total', { queue: 'mail', reason: 'expired' })).toBe(1)
    expect(await measured('spillway_jobs_removed_total')).toBe(4)
  })

  it('count what retention removed by the state it was in or why it had died, and months of the archive', async () => {
    await spillway.queues.set('mail', { coldArchive: true, retention: { archive: '1d' } })
    await given.jobs(3, { state: 'completed', queue: 'billing' })
    await given.jobs(2, { state: 'discarded', queue: 'billing' })
    await given.jobs(1, { state: 'archived', queue: 'mail', dlqReason: 'skipped' })
    await given.jobs(1, { state: 'archived', queue: 'mail', dlqReason: 'audit_2026_q2' })
    await clock.advance('31d')
    await store.retain(1_000)
    await clock.advance('40d')
    const [first] = await spillway.archive.months()
    await spillway.archive.prune(first?.month as string)
    const kept = (labels: Record<string, string>) => measured('spillway_retention_removed_total', labels)

    expect(await kept({ queue: 'billing', reason: 'completed' })).toBe(3)
    expect(await kept({ queue: 'billing', reason: 'discarded' })).toBe(2)
    expect(await kept({ queue: 'mail', reason: 'skipped' })).toBe(1)
    expect(await kept({ queue: 'mail', reason: 'operator' })).toBe(1)
    expect(await kept({ queue: 'mail', reason: 'pruned' })).toBe(2)
    expect(await measured('spillway_jobs_removed_total', { reason: 'expired' })).toBe(7)
  })

  it('never go back: neither when deltas are folded, nor when the history of the minutes is forgotten', async () => {
    const ids = await given.jobs(5, { queue: 'billing' })
    for (const id of ids) await spillway.jobs.kill(id)
    const before = await arrivals()

    await clock.advance('2m')
    const folded = await store.fold(1_000)
    const afterFold = await arrivals()
    const rows = await db.run(
      sql<[], [folded: string, n: string]>`select folded, sum(n) from spillway.counters group by folded`,
      [],
    )
    const history = await store.dlqHistory({ since: new Date(Date.now() - DAY), by: 'hour' })
    await clock.advance(91 * DAY)
    await store.retain(1_000)
    const afterAge = await arrivals()

    expect(folded).toBeGreaterThanOrEqual(5)
    const [late] = await given.jobs(1, { queue: 'billing' })
    await spillway.jobs.kill(late!)
    await clock.advance('2m')
    await store.fold(1_000)

    expect([before, afterFold, afterAge, await arrivals()]).toEqual([5, 5, 5, 6])
    expect(rows).toEqual([['t', '5']])
    expect(history.reduce((sum, { arrived }) => sum + arrived, 0)).toBe(5)
  })

  it('are counted once, before, while and after they are folded', async () => {
    const [id] = await given.jobs(1, { queue: 'billing' })
    await spillway.jobs.kill(id!)
    await store.fold(10)
    await clock.advance('2m')

    const meanwhile = await inTransaction(async (tx) => {
      const [row] = await tx.run(foldQueries(schema).foldCounters, [10])
      return { folded: row?.[0], seen: await arrivals(), foldedByAnother: await store.fold(10) }
    })

    expect(meanwhile).toEqual({ folded: '1', seen: 1, foldedByAnother: 0 })
    expect(await arrivals()).toBe(1)
  })

  it('have a bounded number of series, whatever queues there are', () => {
    const bounded = new Bounded(3)
    const of = (n: number) => Array.from({ length: n }, (_, k) => ({ labels: { queue: `q${k}` }, value: 1 }))

    bounded.bound('spillway_dlq_depth', of(2))
    const depths = bounded.bound('spillway_dlq_depth', of(100))
    const ages = new Bounded(1).bound('spillway_dlq_oldest_age_seconds', [
      { labels: { queue: 'a' }, value: 1 },
      { labels: { queue: 'b' }, value: 7 },
      { labels: { queue: 'c' }, value: 5 },
    ])

    expect(depths.map(({ labels, value }) => [labels['queue'], value])).toEqual([
      ['q0', 1],
      ['q1', 1],
      ['q2', 1],
      ['other', 97],
    ])
    expect(ages.at(-1)).toEqual({ labels: { queue: 'other' }, value: 7 })
  })

  it('read the store once, however many scrape', async () => {
    let looks = 0
    const counting: Pick<Store, 'measure'> = {
      measure() {
        looks += 1
        return store.measure()
      },
    }
    const metrics = new Metrics(counting, { everyMs: 60_000 })

    await Promise.all(Array.from({ length: 20 }, () => metrics.text()))
    await metrics.text()

    expect(looks).toBe(1)
  })

  it('say of a store that is away that it is, and nothing else of it', async () => {
    const away: Pick<Store, 'measure'> = { measure: () => Promise.reject(new Error('away')) }

    const text = await new Metrics(away).text()

    expect(text).toMatch(/^spillway_store_up 0$/m)
    expect(text).not.toMatch(/^spillway_maintenance_led \d/m)
    expect(text).not.toMatch(/^spillway_dlq_depth\{/m)
  })
})
