import { expect, it } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'
import { workerInfo } from '../support/worker-info.js'
import { listenFor } from './heard.js'

describeStore('a head of rows that nobody serves', ({ store, given, db, url, clock, checker }) => {
  const aside = async () =>
    (
      await db.run(
        sql<[], [id: string, position: string, inMs: string, times: string]>`
        select id, position, date_part('epoch', due_at - now()) * 1000, set_aside
          from spillway.deferred_jobs where state = 'available' order by position`,
        [],
      )
    ).map(([id, position, inMs, times]) => ({ id, position, inMs: Number(inMs), times: Number(times) }))
  const positions = () =>
    db.run(
      sql<[], [id: string, position: string]>`select id, position from spillway.ready_entries order by position`,
      [],
    )
  const old = () => store.register(workerInfo())
  /** It happens beside the claims. */
  const asideOf = (count: number) =>
    until(async () => {
      const rows = await aside()
      return rows.length === count && rows
    })

  it('is set aside, 1,000 rows at a time, so that what stands behind it is claimed', async () => {
    const unserved = await given.jobs(2_000, { version: 2, attempt: 1 })
    const [served] = await given.jobs(1)
    const before = await positions()
    const session = await old()

    const claimed = await session.claim('default', 1)

    expect(claimed.map(({ id }) => id)).toEqual([served])
    const rows = await asideOf(2_000)
    expect(rows.map(({ id, position }) => [id, position])).toEqual(before.slice(0, 2_000))
    expect(rows.every(({ inMs }) => inMs < 6_500)).toBe(true)
    expect(Math.max(...rows.map(({ inMs }) => inMs))).toBeGreaterThan(4_000)
    expect(await store.getJob(unserved[0] as string)).toMatchObject({ state: 'available', attempt: 1, handbacks: 0 })
    expect((await store.countJobs()).available).toBe(2_000)
    expect((await store.listJobs({ state: 'available' }, { limit: 1_000 })).items).toHaveLength(1_000)
    await session.close()
  })

  it('of fewer rows stays where it is', async () => {
    await given.jobs(999, { version: 2 })
    await given.jobs(1)
    const session = await old()

    const claimed = await session.claim('default', 1)
    await session.close()

    expect(claimed).toHaveLength(1)
    expect(await aside()).toEqual([])
  })

  it('that is mixed with what others serve stays where it is', async () => {
    await given.worker({ kinds: ['test@3'] })
    await given.jobs(500, { version: 3 })
    await given.jobs(600, { version: 2 })
    await given.jobs(1)
    const session = await old()

    const claimed = await session.claim('default', 1)
    await session.close()

    expect(claimed).toHaveLength(1)
    expect(await aside()).toEqual([])
  })

  it('stays where another worker of the queue serves it', async () => {
    await given.jobs(1_000, { version: 2 })
    await given.jobs(1)
    await given.worker({ kinds: ['test@2'] })
    const session = await old()

    await session.claim('default', 1)
    await session.close()

    expect(await aside()).toEqual([])
  })

  it('comes back with its positions after 5 s, and is set aside for longer each time, up to 5 min', async () => {
    await given.jobs(1_000, { version: 2 })
    const before = await positions()
    const waits: number[] = []

    for (let round = 0; round < 8; round++) {
      const session = await old()
      await session.claim('default', 1)
      waits.push(Math.min(...(await asideOf(1_000)).map(({ inMs }) => inMs)))
      await session.close()
      await clock.advance('7m')
      await store.promote(1_000)
      expect(await positions()).toEqual(before)
    }

    expect(waits.map((ms) => Math.round(ms / 1_000))).toEqual([5, 10, 20, 40, 80, 160, 300, 300])
  })

  it('comes back by itself without a word to the workers, who do not serve it', async () => {
    await given.jobs(1_000, { version: 2 })
    const session = await old()
    await session.claim('default', 1)
    await asideOf(1_000)
    await session.close()
    const { id } = await given.job({ state: 'scheduled', dueAt: new Date(Date.now() - 60_000) })
    await clock.advance('1m')
    const heard = await listenFor(url, 'spillway_notices')

    await store.promote(1_000)
    await store.promote(1_000)

    const told = (await heard.close()).filter((text) => text.startsWith('r|'))
    const last = (await positions()).find(([job]) => job === id)?.[1]
    expect(await positions()).toHaveLength(1_001)
    expect(told).toEqual([`r|50|${last}|default`])
  })

  it('comes back at once, in its order, when somebody who serves it registers', async () => {
    const unserved = await given.jobs(1_000, { version: 2 })
    const session = await old()
    await session.claim('default', 1)
    await asideOf(1_000)

    const young = await store.register(workerInfo({ serves: [{ kind: 'test', version: 2 }] }))
    const claimed = await young.claim('default', 3)

    expect(await aside()).toEqual([])
    expect(claimed.map(({ id, attempt, runLease }) => [id, attempt, runLease])).toEqual(
      unserved.slice(0, 3).map((id) => [id, 0, 1]),
    )
    await Promise.all([session.close(), young.close()])
  })

  it('comes back with the next pass of maintenance where a registration could not take all of it', async () => {
    await given.jobs(1_000, { version: 2 })
    const session = await old()
    await session.claim('default', 1)
    await asideOf(1_000)
    await given.worker({ kinds: ['test@2'] })

    const { returned } = await store.judgeUnserved(45_000, 1_000)

    expect(returned).toBe(1_000)
    expect(await aside()).toEqual([])
    await session.close()
  })

  it('neither waits for nor takes what somebody else is moving', async () => {
    const ids = await given.jobs(1_001, { version: 2 })
    const session = await old()

    await db.transaction(async (tx) => {
      await tx.run(sql<[string], []>`select from spillway.ready_entries where id = $1 for update`, [ids[0] as string])
      await session.claim('default', 1)
      await asideOf(1_000)
    })
    await session.close()

    expect((await positions()).map(([id]) => id)).toEqual([ids[0]])
    expect(await checker.census()).toEqual({ available: 1_001 })
  })
})
