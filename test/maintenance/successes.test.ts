import { until } from 'spillway/testing'
import { expect, it, onTestFinished } from 'vitest'
import { Maintenance } from '../../src/maintenance/maintenance.js'
import { sql } from '../../src/store/postgres/sql.js'
import type { Store } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'

describeStore('how duties fare', ({ store, db }) => {
  const start = async (over: Partial<Store> = {}) => {
    // The lead is renewed twice a second.
    const maintenance = new Maintenance({ ...store, ...over }, { staleMs: 4_000 })
    onTestFinished(() => maintenance.stop())
    await maintenance.start()
    return maintenance
  }
  const lastSuccessOf = async (name: string) =>
    (await store.duties()).find(({ duty }) => duty === name)?.lastSuccessAt?.getTime() ?? 0
  const measured = async (name: string) => (await store.measure()).duties.find(({ duty }) => duty === name)
  /** The version of its row: another one after every write. */
  const writtenBy = async (name: string) =>
    (await db.run(sql<[string], [string]>`select xmin::text from spillway.duties where duty = $1`, [name]))[0]?.[0]

  it('is told with the lease of who leads: each success within a renewal, and no row is written for it', async () => {
    const maintenance = await start()
    await maintenance.runOnce('partitions')
    const first = await until(() => lastSuccessOf('partitions'))
    const row = await writtenBy('partitions')

    await maintenance.runOnce('partitions')
    await until(async () => (await lastSuccessOf('partitions')) > first, { within: '5s', what: 'a later success' })

    expect(await writtenBy('partitions')).toBe(row)
    expect((await measured('partitions'))?.lastSuccessAt?.getTime()).toBe(await lastSuccessOf('partitions'))
  })

  it('outlives who led: another one adds its own, and who stops takes nothing along', async () => {
    const first = await start()
    await first.runOnce('partitions')
    const told = await until(() => lastSuccessOf('partitions'))
    await first.runOnce('partitions')
    const last = await until(async () => {
      const at = await lastSuccessOf('partitions')
      return at > told && at
    })
    await first.stop()

    // Whose own passes of this duty never end.
    await start({ preparePartitions: () => new Promise(() => undefined) })
    await until(async () => (await measured('partitions'))?.underWaySeconds != null)

    expect(await lastSuccessOf('partitions')).toBe(last)
  })

  it('shows a pass that does not end, and since when, and no longer once nobody leads', async () => {
    const maintenance = await start({ retain: () => new Promise(() => undefined) })

    const early = await until(async () => (await measured('retain_dlq'))?.underWaySeconds)
    await until(async () => ((await measured('retain_dlq'))?.underWaySeconds ?? 0) > early + 0.2)
    const others = (await store.measure()).duties.filter(({ duty }) => !RETAINING.test(duty))
    await maintenance.stop()

    expect(early).toBeGreaterThanOrEqual(0)
    expect(others.length).toBeGreaterThan(3)
    expect(others.filter(({ lastSuccessAt }) => lastSuccessAt === null)).toEqual([])
    expect((await store.measure()).duties.filter(({ underWaySeconds }) => underWaySeconds !== null)).toEqual([])
  })
})

const RETAINING = /^(retain|retain_dlq|retain_held|evict|forget)$/
