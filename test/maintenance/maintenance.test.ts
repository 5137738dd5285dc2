import { signal, until } from 'spillway/testing'
import { expect, it, onTestFinished } from 'vitest'
import { Maintenance, type MaintenanceOptions } from '../../src/maintenance/maintenance.js'
import { sql } from '../../src/store/postgres/sql.js'
import type { Notice, Store } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'

const FAST = { staleMs: 4_000 }
const RESYNC: Notice = { type: 'resync' }

describeStore('maintenance', ({ store, given, db }) => {
  const make = (options: MaintenanceOptions = {}, over: Partial<Store> = {}) => {
    const maintenance = new Maintenance({ ...store, ...over }, { ...FAST, ...options })
    onTestFinished(() => maintenance.stop())
    return maintenance
  }
  const stateOf = async (id: string) => (await store.getJob(id))?.state

  it('is led by one process, and by another soon after that one resigned', async () => {
    const first = make()
    const second = make()
    await first.start()
    await second.start()
    const before = [first.isLeading, second.isLeading]

    await first.stop()
    await until(() => second.isLeading, { within: '3s' })

    expect(before).toEqual([true, false])
    expect(first.isLeading).toBe(false)
  })

  it('is led at once by a process that starts after the leader resigned', async () => {
    const first = make({ staleMs: 45_000 })
    const second = make({ staleMs: 45_000 })
    await first.start()
    await first.stop()

    await second.start()

    expect(second.isLeading).toBe(true)
  })

  it('is led by another when its leader falls silent', async () => {
    const lead = store.lead
    let isAway = false
    const first = make({}, { lead: (...given) => (isAway ? new Promise(() => undefined) : lead(...given)) })
    const second = make()
    await first.start()
    await second.start()

    isAway = true
    await until(() => second.isLeading, { within: '5s' })

    // It stops believing by its own clock, so the two never lead side by side.
    expect(first.isLeading).toBe(false)
  })

  it('is led by another within 15 s when its leader is killed, with the times of a default worker', async () => {
    const lead = store.lead
    let isKilled = false
    const first = make(
      { staleMs: 45_000 },
      { lead: (...given) => (isKilled ? new Promise(() => undefined) : lead(...given)) },
    )
    const second = make({ staleMs: 45_000 })
    await first.start()
    await second.start()

    isKilled = true

    await until(() => second.isLeading, { within: '15s' })
  })

  it('promotes a job when it is due', async () => {
    // The leader's own look comes only every 5 s.
    const maintenance = make({ staleMs: 45_000 })
    await maintenance.start()
    maintenance.heard(RESYNC)
    const dueAt = new Date(Date.now() + 700)
    const job = await given.job({ state: 'scheduled', dueAt })

    maintenance.heard({ type: 'due', at: dueAt.getTime() })
    await until(async () => (await stateOf(job.id)) === 'available', { within: '5s' })

    expect(Date.now() - dueAt.getTime()).toBeGreaterThanOrEqual(-5)
    expect(Date.now() - dueAt.getTime()).toBeLessThan(600)
  })

  it('finds due jobs nobody told of: by polling, and by the look of the leader where there are notices', async () => {
    const untold = await given.job({ state: 'scheduled', dueAt: new Date(Date.now() + 600_000) })
    const missed = await given.job({ state: 'scheduled', dueAt: new Date(Date.now() + 600_000) })
    const polling = make({ staleMs: 45_000 })
    await polling.start()
    await until(async () => (await duties()).has('promote'))

    await makeDue(untold.id)
    await until(async () => (await stateOf(untold.id)) === 'available', { within: '3s' })
    await polling.stop()

    const listening = make()
    await listening.start()
    listening.heard(RESYNC)
    await until(async () => (await duties()).has('rings'))
    await makeDue(missed.id)
    await until(async () => (await stateOf(missed.id)) === 'available', { within: '3s' })
  })

  it('keeps the house: deadlines, lost workers, counts', async () => {
    const maintenance = make()
    await maintenance.start()
    const late = await given.job({ deadline: new Date(Date.now() - 1_000) })
    const orphan = await given.job({ state: 'running', leaseId: '5' })

    await until(async () => (await stateOf(late.id)) === 'archived' && (await stateOf(orphan.id)) === 'retryable')
    await until(async () => {
      const [row] = await db.run(sql<[], [string]>`select sum(count) from spillway.dlq_causes`, [])
      return row?.[0] === '1'
    })

    expect((await store.getJob(orphan.id))?.crashAttempt).toBe(1)
  })

  it('takes jobs of dead workers back as soon as it starts, whoever leads', async () => {
    const leader = make({ staleMs: 45_000 })
    await leader.start()
    await until(async () => (await duties()).has('rescue'))
    const orphan = await given.job({ state: 'running', leaseId: '5' })

    await make({ staleMs: 45_000 }).start()

    await until(async () => (await stateOf(orphan.id)) === 'retryable', { within: '5s' })
  })

  it('lets no duty that hangs or throws delay another', async () => {
    const errors: string[] = []
    const maintenance = make(
      { onError: (error, duty) => errors.push(`${duty}: ${error.message}`) },
      {
        retain: () => new Promise(() => undefined),
        turnRings: () => Promise.reject(new Error('no rings today')),
        rescue: () => new Promise(() => undefined),
      },
    )
    await maintenance.start()
    const due = await given.job({ state: 'scheduled', dueAt: new Date(Date.now() + 100) })

    await until(async () => (await stateOf(due.id)) === 'available', { within: '3s' })
    await until(() => errors.length > 0)

    expect(errors).toContain('rings: no rings today')
    expect((await duties()).get('rings')).toBe('no rings today')
    const from = performance.now()
    await maintenance.stop()
    expect(performance.now() - from).toBeLessThan(3_500)
  })

  it('brings back what was set aside as soon as it is told that somebody may serve it', async () => {
    // By itself it looks only every 30 s.
    const maintenance = make({ staleMs: 45_000 })
    await maintenance.start()
    await until(async () => (await duties()).has('unserved'))
    const aside = await given.job({ setAside: 1, dueAt: new Date(Date.now() + 600_000) })
    await given.worker({ kinds: ['test@1'] })

    maintenance.heard({ type: 'policy' })

    await until(async () => (await readyIds()).includes(aside.id), { within: '5s' })
  })

  it('survives a database that is away, says so, and goes on', async () => {
    const refused = signal<string>()
    let isAway = true
    const lead = store.lead
    const maintenance = make(
      { onError: (error, duty) => refused.fire(`${duty}: ${error.message}`) },
      { lead: (...given) => (isAway ? Promise.reject(new Error('away')) : lead(...given)) },
    )

    await maintenance.start()
    const said = await refused.next()
    isAway = false
    await until(() => maintenance.isLeading)

    expect(said).toBe('leader: away')
  })

  it('can be stopped before its start, twice, and during it', async () => {
    const never = make()
    await never.stop()
    await never.start()
    const hasty = make()
    const starting = hasty.start()
    await Promise.all([hasty.stop(), hasty.stop(), starting])

    expect([never.isLeading, hasty.isLeading]).toEqual([false, false])
    const other = make()
    await other.start()
    await until(() => other.isLeading, { within: '3s' })
  })

  async function readyIds(): Promise<string[]> {
    return (await db.run(sql<[], [id: string]>`select id from spillway.ready_entries`, [])).map(([id]) => id)
  }

  async function makeDue(id: string): Promise<void> {
    await db.run(sql<[string], []>`update spillway.deferred_jobs set due_at = now() where id = $1`, [id])
  }

  async function duties(): Promise<ReadonlyMap<string, string | null>> {
    return new Map(await db.run(sql<[], [string, string | null]>`select duty, last_error from spillway.duties`, []))
  }
})
