import { setTimeout as sleep } from 'node:timers/promises'
import { Spillway } from 'spillway'
import { JOBS, type JobName } from './jobs.js'
import { monotonic } from './load.js'
import { payload } from './payloads.js'
import { serve } from './remote.js'

const TICK_MS = 5

let spillway: Spillway
let streams: Promise<void>[] = []
let isHalted = false
/** Jobs answered since they were last asked for: number, and when by the monotonic clock. */
let answered: [n: number, at: number][] = []
const sent: Record<JobName, number> = { noop: 0, boom: 0 }
const troubles: string[] = []

const methods = {
  async open(url: string, schema: string) {
    spillway = new Spillway({ url, schema })
    await spillway.dlq.depth()
  },

  /** From now on enqueues that many of each a second, whatever becomes of them, until it is halted. */
  begin(failing: number, fresh: number) {
    streams = [stream('boom', failing), stream('noop', fresh)]
  },

  /** Fresh jobs whose enqueue was answered since the last call. */
  taken() {
    const now = answered
    answered = []
    return now
  },

  /** Ends both streams when what is under way is answered. @returns how many of each were stored, and what went wrong. */
  async halt() {
    isHalted = true
    await Promise.all(streams)
    return { ...sent, troubles }
  },

  close: () => spillway.close(),
}

/** Waits for no answer: a slow store is not asked less often. */
async function stream(name: JobName, perSecond: number): Promise<void> {
  const open = new Set<Promise<void>>()
  const begin = monotonic()
  for (let n = 0; !isHalted; await sleep(TICK_MS)) {
    for (const due = ((monotonic() - begin) * perSecond) / 1000; n < due; n++) {
      const one = enqueue(name, n).finally(() => open.delete(one))
      open.add(one)
    }
  }
  await Promise.all(open)
}

async function enqueue(name: JobName, n: number): Promise<void> {
  try {
    await spillway.enqueue(JOBS[name], payload('20', n))
    sent[name]++
    if (name === 'noop') answered.push([n, monotonic()])
  } catch (error) {
    troubles.push((error as Error).message)
  }
}

export type TrafficMethods = typeof methods

serve(methods)
