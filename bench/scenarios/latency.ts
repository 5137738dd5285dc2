import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, expectCount, type Scenario, withProducer, withWorker } from '../bench.js'
import { quantile, type Sample } from '../rows.js'

export const PER_SECOND = 50
/** The first jobs only warm both sides up and are left out. */
export const WARM_UP = 25
const CONCURRENCY = 100

interface Sent {
  readonly called: number
  readonly answered: number
}

/** Enqueue answered → handler entered, of fresh jobs; producer and worker are two processes. */
export const pickup: Scenario = {
  rows: ['pickup_p50', 'pickup_p99'],
  async run(bench) {
    const { sent, stamps } = await paced(bench, null)
    return pickupSamples('', sent, (n) => stamps[n]!.monotonic)
  },
}

/** Jobs scheduled 1 to 3 s ahead: handler entered, by the store's clock, after runAt. */
export const dueLateness: Scenario = {
  rows: ['due_lateness_p50', 'due_lateness_p99'],
  async run(bench) {
    const offset = await bench.scratch.clockOffset()
    const { sent, stamps } = await paced(bench, [1000, 3000])
    const late = sent.map(({ runAt }, n) => stamps[n]!.wall + offset - runAt)
    // The two clocks are compared to about a millisecond.
    if (Math.min(...late) < -5) throw new Error(`a job ran ${-Math.min(...late)} ms before its time`)
    const settings = {
      jobs: late.length,
      'per second': PER_SECOND,
      runAt: '1 to 3 s ahead',
      'max ms': round(Math.max(...late)),
    }
    return [
      { name: 'due_lateness_p50', value: quantile(late, 0.5), settings },
      { name: 'due_lateness_p99', value: quantile(late, 0.99), settings },
    ]
  },
}

/** The two rows of pickup, from what the producer saw and when each handler was entered. */
export function pickupSamples(suffix: string, sent: readonly Sent[], enteredAt: (n: number) => number): Sample[] {
  // A handler may be entered before the producer hears that its job is stored: no wait at all.
  const waits = sent.map(({ answered }, n) => Math.max(0, enteredAt(n) - answered))
  const answers = sent.map(({ called, answered }) => answered - called)
  const settings = {
    jobs: waits.length,
    'per second': PER_SECOND,
    'enqueue p50 ms': round(quantile(answers, 0.5)),
    'max ms': round(Math.max(...waits)),
  }
  return [
    { name: `pickup_p50${suffix}`, value: quantile(waits, 0.5), settings },
    { name: `pickup_p99${suffix}`, value: quantile(waits, 0.99), settings },
  ]
}

/** Enqueues at a steady rate beside an idle worker. Answers in the order of the calls. */
async function paced(bench: Bench, due: [number, number] | null) {
  const count = PER_SECOND * (bench.quick ? 2 : 20) + WARM_UP
  await bench.scratch.fresh()
  return withWorker(bench, { concurrency: CONCURRENCY, handling: 'stamp' }, async (worker) => {
    await worker.start()
    const sent = await withProducer(bench, async (producer) => {
      await sleep(1000)
      return producer.paced(PER_SECOND, count, due)
    })
    await worker.entered(count, 30_000)
    const stamps = (await worker.stamps()).sort((a, b) => a.n - b.n)
    expectCount('jobs whose handler was entered', new Set(stamps.map((it) => it.n)).size, count)
    return { sent: sent.slice(WARM_UP), stamps: stamps.slice(WARM_UP) }
  })
}

function round(ms: number): number {
  return Number(ms.toFixed(1))
}
