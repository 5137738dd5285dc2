import { signal } from 'spillway/testing'
import type { Scenario, World } from './world.js'

/** A job that waits for a callback, with no worker left that could take it again. */
const waits =
  (answered: (world: World, token: string) => Promise<unknown>, { timeout, maxAttempts = 5 } = NEVER): Scenario =>
  async (world) => {
    const token = signal<string>()
    const before = await world.job({ attempt: 1, crashAttempt: 1, maxAttempts })
    const worker = await world.work(async (_, context) => {
      const callback = await context.callback('approval', timeout === undefined ? {} : { timeout })
      token.fire(callback.token)
      return callback.result()
    })
    await world.reaches(before.id, 'waiting')
    await worker.stop({ grace: 20, abort: 100 })
    await answered(world, await token.next())
    return { id: before.id, before }
  }

interface Waiting {
  readonly timeout?: number
  readonly maxAttempts?: number
}

const NEVER: Waiting = {}
const LAST = { maxAttempts: 2 }
const SOON = { timeout: 300 }

const fail = ({ spillway }: World, token: string) => spillway.callbacks.fail(token, 'refused')
const timeOut = ({ keep }: World) => keep()

/** What becomes of a job that waits for a callback, by the first state a row of the table comes from, and its event. */
export const CALLBACKS: Readonly<Record<string, Scenario>> = {
  'running wait': waits(async () => undefined),
  'waiting answer': waits(({ spillway }, token) => spillway.callbacks.complete(token, { ok: true })),
  'waiting callback_fail': waits(fail),
  'waiting callback_exhaust': waits(fail, LAST),
  'waiting callback_timeout': waits(timeOut, SOON),
  'waiting callback_timeout_exhaust': waits(timeOut, { ...SOON, ...LAST }),
}
