import { Spillway } from 'spillway'
import { type Bench, expectCount, type Scenario, withProducer, withWorker } from '../bench.js'
import { fillDead } from '../fill-dead.js'
import { quantile } from '../rows.js'
import { SCHEMA } from '../scratch.js'
import { PER_SECOND, WARM_UP } from './latency.js'

const MIB = 1024 * 1024
const SAMPLE_MS = 50
/** How many dead letters go back: `BENCH_REDRIVE=1000000` is the size that was promised. */
const DEAD = Number(process.env.BENCH_REDRIVE ?? 100_000)

/** Everything dead goes back to work, without a limit on what waits, from this process. */
export const redrive: Scenario = {
  rows: ['redrive', 'redrive_answer', 'redrive_memory', 'redrive_slowest_statement'],
  async run(bench) {
    const count = bench.quick ? 2_000 : DEAD
    await dead(bench, count)
    const spillway = new Spillway({ url: bench.scratch.url, schema: SCHEMA })
    const slowestStatement = await bench.scratch.slowestStatement()
    const memory = watchMemory()
    try {
      const begin = performance.now()
      const operation = await spillway.dlq.retryMany({ all: true }, { maxWaiting: 0 })
      const answered = performance.now() - begin
      const { succeeded } = await operation.done()
      const seconds = (performance.now() - begin) / 1000
      const slowest = await slowestStatement()

      expectCount('jobs redriven', succeeded, count)
      const ready = await bench.scratch.number(`select count(*) as n from ${SCHEMA}.ready_entries`)
      expectCount('jobs at work', ready, count)
      const settings = { dead: count, history: '5 entries, 5 kB', 'max waiting': 0 }
      return [
        { name: 'redrive', value: count / seconds, settings },
        { name: 'redrive_answer', value: answered, settings },
        {
          name: 'redrive_memory',
          value: memory.grown() / MIB,
          settings: { ...settings, sampled: `every ${SAMPLE_MS} ms` },
        },
        ...(slowest === undefined ? [] : [{ name: 'redrive_slowest_statement', value: slowest, settings }]),
      ]
    } finally {
      memory.stop()
      await spillway.close()
    }
  },
}

/** How long fresh jobs wait beside a redrive with its usual limit, by how long they wait without one. */
export const redrivePickup: Scenario = {
  rows: ['redrive_pickup_p99_ratio'],
  async run(bench) {
    const alone = await freshBeside(bench, false)
    const beside = await freshBeside(bench, true)
    const settings = { 'p99 ms alone': Number(alone.toFixed(1)), 'p99 ms beside': Number(beside.toFixed(1)) }
    return [{ name: 'redrive_pickup_p99_ratio', value: beside / alone, settings }]
  },
}

async function freshBeside(bench: Bench, redriving: boolean): Promise<number> {
  const { scratch, quick } = bench
  const fresh = PER_SECOND * (quick ? 2 : 10) + WARM_UP
  await dead(bench, quick ? 1_000 : 50_000)
  // To the queue and priority of the fresh jobs: they stand in one line.
  await scratch.query(`update ${SCHEMA}.dlq_entries set queue = 'bench', kind = 'noop', priority = 50`)
  // What the update leaves is nothing that a redrive would meet.
  await scratch.query(`vacuum analyze ${SCHEMA}.dlq_entries`)
  await scratch.checkpoint()
  const spillway = new Spillway({ url: scratch.url, schema: SCHEMA })
  try {
    return await withWorker(bench, { concurrency: 100, handling: 'stamp' }, async (worker) => {
      await worker.start()
      const operation = redriving ? await spillway.dlq.retryMany({ all: true }) : undefined
      const stop = new AbortController()
      const run = operation?.done({ signal: stop.signal })
      const sent = await withProducer(bench, (producer) => producer.paced(PER_SECOND, fresh, null))
      stop.abort()
      await run
      const stamps = new Map((await worker.stamps()).map((it) => [it.n, it.monotonic]))
      const waits = sent.slice(WARM_UP).flatMap(({ answered }, n) => {
        const entered = stamps.get(n + WARM_UP)
        return entered === undefined ? [] : [Math.max(0, entered - answered)]
      })
      return quantile(waits, 0.99)
    })
  } finally {
    await spillway.close()
  }
}

async function dead({ scratch }: Bench, rows: number): Promise<void> {
  await scratch.fresh()
  await fillDead({ query: (text) => scratch.query(text) }, { rows, schema: SCHEMA })
  await scratch.checkpoint()
}

/** By how much this process has grown at most. */
function watchMemory() {
  const before = process.memoryUsage().rss
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss)
  }, SAMPLE_MS)
  return { grown: () => Math.max(0, peak - before), stop: () => clearInterval(timer) }
}
