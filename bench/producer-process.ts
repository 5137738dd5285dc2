import { Spillway } from 'spillway'
import { JOBS, type JobName } from './jobs.js'
import { closedLoop, fill, monotonic, openLoop } from './load.js'
import { type PayloadSize, payload } from './payloads.js'
import { serve } from './remote.js'

let spillway: Spillway

const methods = {
  async open(url: string, schema: string) {
    spillway = new Spillway({ url, schema })
    await spillway.dlq.depth()
  },

  /** That many jobs, by `enqueueMany`. */
  async preload(name: JobName, count: number, size: PayloadSize, batch: number) {
    await fill(count, batch, (from, to) => spillway.enqueueMany(JOBS[name], range(from, to, size)))
  },

  /** Callers that each enqueue one job and wait for the answer, again and again. */
  async single(callers: number, seconds: number, size: PayloadSize) {
    const call = (n: number) => spillway.enqueue(JOBS.noop, payload(size, n))
    await Promise.all(Array.from({ length: callers }, (_, n) => call(n)))
    return closedLoop(callers, seconds, 1, call)
  },

  /** Callers that each enqueue a batch and wait for the answer, again and again. */
  async bulk(callers: number, seconds: number, batch: number, size: PayloadSize) {
    const call = (n: number) => spillway.enqueueMany(JOBS.noop, range(n, n + batch, size))
    await call(0)
    return closedLoop(callers, seconds, batch, call)
  },

  /**
   * Enqueues at a fixed rate.
   *
   * @param due - Scheduled between these many ms ahead, evenly spread; null for now.
   * @returns per job when its enqueue was called and answered, by the monotonic clock, and its runAt, all in ms.
   */
  async paced(perSecond: number, count: number, due: [from: number, to: number] | null) {
    return openLoop(perSecond, count, async (n) => {
      const called = monotonic()
      // A coprime step through the range: due times are spread, and not in the order of the calls.
      const runAt = due && new Date(Date.now() + due[0] + (((n * 617) % 1000) / 1000) * (due[1] - due[0]))
      await spillway.enqueue(JOBS.noop, payload('20', n), runAt ? { runAt } : {})
      return { called, answered: monotonic(), runAt: runAt?.getTime() ?? 0 }
    })
  },

  close: () => spillway.close(),
}

function range(from: number, to: number, size: PayloadSize): { payload: unknown }[] {
  return Array.from({ length: to - from }, (_, i) => ({ payload: payload(size, from + i) }))
}

export type ProducerMethods = typeof methods

serve(methods)
