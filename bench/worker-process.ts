import { Spillway, type Worker } from 'spillway'
import { boom, noop, QUEUE } from './jobs.js'
import { monotonic } from './load.js'
import { numberOf } from './payloads.js'
import { serve } from './remote.js'

/** What the handler does besides nothing: `stamp` notes when it was entered. */
type Handling = 'count' | 'stamp' | 'throw'

let spillway: Spillway
let worker: Worker
let entered = 0
let wanted: { count: number; resolve: () => void } | undefined
let peakRss = 0
/** When the handler of job `n` was entered, by either clock, in ms. */
const stamps: { n: number; monotonic: number; wall: number }[] = []

function enter(): void {
  entered++
  if (wanted && entered >= wanted.count) wanted.resolve()
}

const methods = {
  /** Boots and connects, so that what follows measures work alone. */
  async open(url: string, schema: string, concurrency: number, handling: Handling) {
    spillway = new Spillway({ url, schema })
    await spillway.dlq.depth()
    const handle = noop.handle(async (payload: unknown) => {
      if (handling === 'stamp') stamps.push({ n: numberOf(payload), monotonic: monotonic(), wall: Date.now() })
      enter()
    })
    const fail = boom.handle(async () => {
      enter()
      throw new Error('boom')
    })
    worker = spillway.worker({ queues: { [QUEUE]: { concurrency } }, jobs: [handle, fail] })
    setInterval(() => {
      peakRss = Math.max(peakRss, process.memoryUsage.rss())
    }, 50).unref()
  },

  async start() {
    await worker.start()
  },

  /** Waits until that many handlers have been entered. @returns how many have been. */
  async entered(count: number, timeoutMs: number) {
    if (entered >= count) return entered
    return new Promise<number>((resolve, reject) => {
      const late = () => reject(new Error(`${entered} of ${count} handlers were entered within ${timeoutMs / 1000} s`))
      const timer = setTimeout(late, timeoutMs)
      wanted = {
        count,
        resolve: () => {
          clearTimeout(timer)
          resolve(entered)
        },
      }
    })
  },

  /** How many handlers have been entered. */
  count: () => entered,

  stamps: () => stamps,

  /** Those since the last call. */
  takeStamps: () => stamps.splice(0),

  /** Highest resident set so far, in bytes. */
  peakRss: () => Math.max(peakRss, process.memoryUsage.rss()),

  async close() {
    await worker.stop()
    await spillway.close()
  },
}

export type WorkerMethods = typeof methods

serve(methods)
