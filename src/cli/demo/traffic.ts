import { createInterface } from 'node:readline'
import type { Spillway, WorkerOptions } from '../../index.js'
import { delivering, deliverWebhook } from './deliver.js'
import { deliveries } from './deliveries.js'
import { startReceiver } from './receiver.js'

const EVERY_MS = 500
const AT_A_TIME = 10

/** Webhooks that go on coming, and a receiver that fails until it is fixed: what `spillway dev` shows. */
export interface Traffic {
  /** The worker that delivers them. */
  readonly config: WorkerOptions
  stop(): Promise<void>
}

/**
 * Starts a broken receiver and enqueues 20 deliveries a second. On a terminal, `f` and Enter fixes the receiver.
 *
 * @param say - Told what a person can do now.
 */
export async function startTraffic(client: Spillway, say: (line: string) => void): Promise<Traffic> {
  const receiver = await startReceiver()
  const all = await deliveries(3_290)
  let next = 0
  let sending: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    const some = Array.from({ length: AT_A_TIME }, () => all[next++ % all.length]!)
    const entries = some.map((payload) => ({ payload, tags: [payload.event] }))
    // A database that is away for a moment costs deliveries here; the worker says that it is.
    sending = client.enqueueMany(deliverWebhook, entries).catch(() => undefined)
  }, EVERY_MS)

  say('20 webhooks a second go to a receiver that is broken; what cannot succeed dies with its evidence')
  say('in another terminal of this folder: spillway dlq depth, spillway dlq list, spillway dlq get ID')
  const keys = process.stdin.isTTY ? createInterface({ input: process.stdin }) : undefined
  if (keys) say('press f and Enter to fix the receiver; then: spillway dlq retry ID')
  keys?.on('line', (line) => {
    if (line.trim() !== 'f') return
    receiver.fix()
    say('the receiver is fixed: what is retried now is delivered')
  })

  return {
    config: { queues: { [deliverWebhook.queue]: { concurrency: 20 } }, jobs: [delivering(receiver.url)] },
    async stop() {
      clearInterval(timer)
      keys?.close()
      await sending
      await receiver.close()
    },
  }
}
