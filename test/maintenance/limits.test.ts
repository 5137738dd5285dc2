import { defineJob, Spillway } from 'spillway'
import { until } from 'spillway/testing'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { Maintenance } from '../../src/maintenance/maintenance.js'
import { sql } from '../../src/store/postgres/sql.js'
import type { Notice, Store } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'

const HOUR = 3_600_000
const act = { actor: 'ann', reason: 'a migration', requestId: 'r1' }
const POLICY: Notice = { type: 'policy' }
const ago = (ms: number) => new Date(Date.now() - ms)

describeStore('limits that change while everything runs', ({ store, given, db, url }) => {
  afterEach(async () => {
    for (const ring of ['ready', 'leases'] as const)
      await store.setRing(ring, { rotateRows: 20_000, rotateMs: 10_000 }, act)
  })
  const stateOf = async (id: string) => (await store.getJob(id))?.state
  const start = async (over: Partial<Store> = {}) => {
    const maintenance = new Maintenance({ ...store, ...over }, { staleMs: 45_000 })
    onTestFinished(() => maintenance.stop())
    await maintenance.start()
    return maintenance
  }
  const succeeded = async (name: string) =>
    until(async () => (await store.duties()).find(({ duty }) => duty === name)?.lastSuccessAt, { what: name })

  it('a shorter retention holds at once, without a restart', async () => {
    const dead = await given.job({ state: 'archived', queue: 'q', dlqAt: ago(2 * HOUR), retainFrom: ago(2 * HOUR) })
    const done = await given.job({ state: 'completed', queue: 'q', finalizedAt: ago(2 * HOUR) })
    const maintenance = await start()
    await succeeded('retain')
    await succeeded('retain_dlq')
    const before = [await stateOf(dead.id), await stateOf(done.id)]

    await store.setQueue('q', { retention: { dlq: HOUR, completed: HOUR } }, act)
    maintenance.heard(POLICY)
    await until(async () => (await stateOf(dead.id)) === undefined && (await stateOf(done.id)) === undefined, {
      within: '2s',
    })

    expect(before).toEqual(['archived', 'completed'])
  })

  it('so does a cap', async () => {
    await given.jobs(5, { state: 'archived', queue: 'q' })
    const maintenance = await start()
    await succeeded('evict')

    await store.setQueue('q', { dlqMaxRows: 2 }, act)
    maintenance.heard(POLICY)

    await until(async () => (await store.dlqDepth('q')).total === 2, { within: '2s' })
  })

  it('a paused duty begins no other pass, over restarts too, and goes on at once when it is resumed', async () => {
    const maintenance = await start()
    maintenance.heard({ type: 'resync' })
    await succeeded('promote')
    const paused = await store.pauseDuty('promote', act)
    maintenance.heard(POLICY)
    const seen = countingPromotes()
    await maintenance.stop()
    const next = await start({ promote: seen.promote })
    const due = await given.job({ state: 'scheduled', dueAt: ago(1_000) })
    next.heard({ type: 'due', at: Date.now() })
    // Another duty has run meanwhile, so this one would have.
    const late = await given.job({ deadline: ago(1_000) })
    await until(async () => (await stateOf(late.id)) === 'archived', { within: '8s' })
    const whilePaused = [await stateOf(due.id), seen.count()]

    const resumed = await store.resumeDuty('promote', act)
    next.heard(POLICY)
    await until(async () => (await stateOf(due.id)) === 'available', { within: '2s' })

    expect(whilePaused).toEqual(['scheduled', 0])
    expect(paused).toMatchObject({
      duty: 'promote',
      pausedBy: 'ann',
      pausedReason: 'a migration',
      pausedAt: expect.any(Date),
    })
    expect(resumed).toMatchObject({ pausedAt: null, pausedBy: null })
    const audit = (await store.listAudit({ actor: 'ann' }, { limit: 10 })).items
    expect(audit.map(({ action, target }) => [action, target])).toEqual([
      ['resume_duty', { duty: 'promote' }],
      ['pause_duty', { duty: 'promote' }],
    ])
  })

  it('reach every process within a poll where no notices come', async () => {
    const spillway = new Spillway({ url, listen: false })
    const worker = spillway.worker({
      queues: { default: {} },
      jobs: [defineJob({ kind: 'test' }).handle(() => undefined)],
    })
    onTestFinished(async () => {
      await worker.stop()
      await spillway.close()
    })
    await worker.start()
    await succeeded('retain_dlq')
    const dead = await given.job({ state: 'archived', queue: 'q', dlqAt: ago(2 * HOUR), retainFrom: ago(2 * HOUR) })

    await spillway.queues.set('q', { dlqRetention: '1h' })

    await until(async () => (await stateOf(dead.id)) === undefined, { within: '4s' })
  })

  it('a ring turns by what is set now', async () => {
    await store.setRing('ready', { rotateMs: 24 * HOUR }, act)
    await given.jobs(600, {})
    const head = async () => (await store.rings()).find(({ ring }) => ring === 'ready')?.head
    const before = await head()
    const idle = await store.turnRings()

    await store.setRing('ready', { rotateRows: 500 }, act)
    const turned = await store.turnRings()

    expect([idle.rotated, turned.rotated]).toEqual([0, 1])
    expect(await head()).not.toBe(before)
    expect((await store.listAudit({ action: 'set_ring' }, { limit: 1 })).items).toMatchObject([
      { target: { ring: 'ready' }, result: { rotate_rows: 500, rotate_ms: 24 * HOUR } },
    ])
  })

  it('a retention that hangs keeps no other part of it waiting', async () => {
    const dead = await given.job({ state: 'archived', dlqAt: ago(31 * 24 * HOUR), retainFrom: ago(31 * 24 * HOUR) })
    const { retain } = store
    await start({ retain: (limit, part) => (part === 'finished' ? new Promise(() => undefined) : retain(limit, part)) })

    await until(async () => (await stateOf(dead.id)) === undefined, { within: '3s' })
    for (const name of ['retain_dlq', 'retain_held', 'evict', 'forget']) await succeeded(name)

    expect((await store.duties()).find(({ duty }) => duty === 'retain')?.lastSuccessAt).toBeNull()
  })

  it('counts every pass of a duty that failed, and says when it last succeeded', async () => {
    let fails = 0
    const { fold } = store
    const maintenance = await start({
      fold: async (limit) => {
        if (fails++ < 3) throw new Error('no')
        return fold(limit)
      },
    })

    await until(async () => fails > 3, { within: '10s' })
    await maintenance.runOnce('fold')
    await until(async () => (await dutyOf('fold'))?.lastSuccessAt)

    expect(await dutyOf('fold')).toMatchObject({ failures: 3, lastError: 'no' })
    expect(await db.run(sql`select count(*) from spillway.duties where paused_at is not null`, [])).toEqual([['0']])
  })

  async function dutyOf(name: string) {
    return (await store.duties()).find(({ duty }) => duty === name)
  }

  function countingPromotes() {
    let promotes = 0
    return {
      count: () => promotes,
      promote: (limit: number) => {
        promotes++
        return store.promote(limit)
      },
    }
  }
})
