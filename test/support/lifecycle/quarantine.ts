import { sql } from '../../../src/store/postgres/sql.js'
import { fingerprintOfTest } from '../crashing.js'
import { ago, type Scenario, type World } from './world.js'

export const FINGERPRINT = fingerprintOfTest()

/** Jobs of the scenarios have killed so many workers, each alone. */
const crashedBefore = (world: World, times: number) =>
  world.db.run(
    sql<[fingerprint: string, queue: string, times: number], []>`
      insert into spillway.crashes (fingerprint, kind, queue, job_id, registration, alone)
      select $1, 'test', $2, 1, n, true from generate_series(1, $3) n`,
    [FINGERPRINT, world.queue, times],
  )

/** Its fingerprint is quarantined. */
export const convicted = (world: World) =>
  world.db.run(
    sql<[fingerprint: string, queue: string], []>`
      insert into spillway.quarantine (fingerprint, kind, queue) values ($1, 'test', $2) on conflict do nothing`,
    [FINGERPRINT, world.queue],
  )

/** What becomes of jobs whose fingerprint has killed workers. */
export const QUARANTINE: Readonly<Record<string, Scenario>> = {
  'new enqueue_parked': async (world) => {
    await convicted(world)
    const { id } = await world.spillway.enqueue('test', {}, { queue: world.queue, onQuarantine: 'park' })
    return { id, before: null }
  },
  'scheduled quarantine': async (world, from) => {
    await convicted(world)
    const seed = { attempt: 1, crashAttempt: 1, payload: {} }
    if (from === 'available') {
      const before = await world.job(seed)
      await world.work(() => undefined)
      return { id: before.id, before }
    }
    const before = await world.job({ ...seed, state: from ?? 'scheduled', dueAt: ago(1_000) })
    await world.keep()
    return { id: before.id, before }
  },
  'running quarantine': async (world) => {
    await convicted(world)
    const before = await world.job({ attempt: 2, payload: {} })
    await world.work(() => {
      throw new Error('its handler was entered')
    })
    return { id: before.id, before }
  },
  'running convict': async (world) => {
    await crashedBefore(world, 2)
    const registration = await world.worker({ heartbeatAt: ago(60_000), queues: [world.queue] })
    const before = await world.job({ state: 'running', registration, crashAttempt: 1, payload: {} })
    await world.keep({ heartbeat: 200, stale: 600 })
    return { id: before.id, before }
  },
  'quarantined release': async (world) => {
    await convicted(world)
    const held = { state: 'quarantined', heldReason: 'crash_limit', fingerprint: FINGERPRINT, payload: {} } as const
    const before = await world.job({ ...held, attempt: 1, crashAttempt: 3 })
    await world.spillway.quarantine.release(FINGERPRINT)
    return { id: before.id, before }
  },
}
