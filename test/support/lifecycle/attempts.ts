import { rateLimited, retryAfter, revoke, skip, snooze } from 'spillway'
import type { JobSeed } from 'spillway/testing'
import { ago, ahead, type Scenario, untilAborted, type World } from './world.js'

/** A job that is run by a worker, and how its attempt ends. */
const runs =
  (run: Parameters<World['work']>[0], seed: JobSeed = {}): Scenario =>
  async (world) => {
    const before = await world.job({ attempt: 1, crashAttempt: 1, maxAttempts: 5, ...seed })
    await world.work(run)
    return { id: before.id, before }
  }

const fail = () => {
  throw new Error('it failed')
}

/** A job whose handler gives way when its worker stops. */
const handedBack =
  (handbacks: number): Scenario =>
  async (world) => {
    const before = await world.job({ handbacks })
    const worker = await world.work(untilAborted)
    await world.reaches(before.id, 'running')
    await worker.stop({ grace: 1, abort: 5_000 })
    return { id: before.id, before }
  }

/** A job whose worker was killed: its registration has been silent for a minute. */
const crashed =
  (seed: JobSeed): Scenario =>
  async (world) => {
    const registration = await world.worker({ heartbeatAt: ago(60_000), queues: [world.queue] })
    const before = await world.job({ state: 'running', registration, ...seed })
    await world.keep({ heartbeat: 200, stale: 600 })
    return { id: before.id, before }
  }

/** What a worker does with a job it has claimed, by the first state a row of the table comes from, and its event. */
export const ATTEMPTS: Readonly<Record<string, Scenario>> = {
  'available claim': async (world) => {
    const before = await world.job({})
    await world.work(untilAborted)
    return { id: before.id, before }
  },
  'running complete': runs(() => ({ done: true })),
  'running fail_retry': runs(fail),
  'running exhaust': runs(fail, { maxAttempts: 2 }),
  'running skip': runs(() => skip('no_such_user', { id: 7 })),
  'running revoke': runs(() => revoke()),
  'running snooze': runs(() => snooze('1h')),
  'running rate_limit': runs(() => rateLimited('1h')),
  'running undecodable': runs(() => undefined, { payloadText: '{"n":9007199254740993}' }),
  'running handback': handedBack(0),
  'running handback_limit': handedBack(9),
  'running crash': crashed({ attempt: 1, crashAttempt: 1 }),
  'running crash_bound': crashed({ maxAttempts: 1, crashAttempt: 3 }),
  'available deadline': async (world, from) => {
    const isRunning = from === 'running'
    const seed = { attempt: 1, crashAttempt: 1, deadline: isRunning ? ahead(400) : ago(1_000) }
    const before = await world.job({ ...seed, state: isRunning ? 'available' : (from ?? 'available') })
    if (isRunning) await world.work(untilAborted)
    else await world.keep()
    return { id: before.id, before }
  },
}

/** Outcomes that are failures under another name, for the rows that have several. */
export const FAILURES: Readonly<Record<string, Parameters<World['work']>[0]>> = {
  'an error': fail,
  'a returned retryAfter': () => retryAfter('1h', new Error('later')),
  'a thrown retryAfter': () => {
    throw retryAfter('1h', new Error('later'))
  },
}
