import { setTimeout as sleep } from 'node:timers/promises'
import { closedLoop, fill, monotonic, openLoop } from './load.js'
import { PEERS, type PeerName, type PeerQueue } from './peer-queues.js'
import { serve } from './remote.js'

const TIMEOUT_MS = 180_000

let queue: PeerQueue
let dies = false
let entered = 0
/** When the handler of job n was entered, by the monotonic clock in ms. */
const stamps: [n: number, at: number][] = []

const methods = {
  async open(name: PeerName, url: string, mayDie: boolean) {
    dies = mayDie
    queue = await PEERS[name].open(url, dies)
  },

  preload: (count: number) => fill(count, 1000, (from, to) => queue.addMany(from, to)),

  /** From the start of a worker until nothing is left; every job must have been handed out. Seconds. */
  async drain(count: number) {
    const begin = monotonic()
    await queue.work(() => {
      entered++
      if (dies) throw new Error('boom')
    }, false)
    const isDone = async () => (dies ? (await queue.dead()) >= count : (await queue.left()) === 0)
    while (entered < count || !(await isDone())) {
      await sleep(entered < count ? 5 : 20)
      if (monotonic() - begin > TIMEOUT_MS) throw new Error(`${entered} of ${count} handlers were entered, and no end`)
    }
    return (monotonic() - begin) / 1000
  },

  single: (callers: number, seconds: number) => closedLoop(callers, seconds, 1, (i) => queue.addOne({ i })),

  bulk: (callers: number, seconds: number, batch: number) =>
    closedLoop(callers, seconds, batch, (n) => queue.addMany(n, n + batch)),

  paced: (perSecond: number, count: number) =>
    openLoop(perSecond, count, async (i) => {
      const called = monotonic()
      await queue.addOne({ i })
      return { called, answered: monotonic() }
    }),

  stamp: () => queue.work(({ i }) => stamps.push([i, monotonic()]), true),

  async stamps(count: number) {
    while (stamps.length < count) await sleep(20)
    return stamps
  },

  close: () => queue.close(),
}

export type PeerMethods = typeof methods

serve(methods)
