import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, expectCount, type Scenario, withProducer, withWorker } from '../bench.js'
import type { JobName } from '../jobs.js'
import type { PayloadSize } from '../payloads.js'
import type { RowName, Sample } from '../rows.js'
import { SCHEMA } from '../scratch.js'

const CONCURRENCY = 1000
const TIMEOUT_MS = 180_000
const MIB = 1024 * 1024

export interface Drained {
  readonly seconds: number
  readonly peakRss: number
  readonly dead: ReadonlyMap<string, number> | undefined
}

export interface DrainOptions {
  readonly job?: JobName
  readonly count: number
  readonly size?: PayloadSize
  /** A REPEATABLE READ transaction that has read every table stays open meanwhile. */
  readonly reader?: boolean
  /** Count dead rows at the end, with the worker still there to tidy up for 3 s. */
  readonly dead?: boolean
}

/**
 * Fills the queue, starts a worker on it, and takes the time until nothing is left to run.
 *
 * Autovacuum is off for all tables, so that what is dead at the end is what the engine left behind.
 */
export async function drain(bench: Bench, options: DrainOptions): Promise<Drained> {
  const { job = 'noop', count, size = '20', reader = false, dead = false } = options
  const { scratch } = bench
  await scratch.fresh({ vacuum: false })
  await withProducer(bench, (producer) => producer.preload(job, count, size, size === '8k' ? 500 : 2000))
  await scratch.checkpoint()
  const open = reader ? await scratch.reader() : undefined

  try {
    return await withWorker(bench, { concurrency: CONCURRENCY, handling: 'count' }, async (worker) => {
      const begin = performance.now()
      await worker.start()
      await worker.entered(count, TIMEOUT_MS)
      await scratch.empty(TIMEOUT_MS)
      const seconds = (performance.now() - begin) / 1000

      expectCount('handlers entered', await worker.count(), count)
      const peakRss = await worker.peakRss()
      if (dead) await sleep(3000)
      const table = job === 'boom' ? 'dlq_entries' : 'terminal_entries'
      const found = dead ? await scratch.deadTuples() : undefined
      expectCount(`rows in ${table}`, await scratch.number(`select count(*) as n from ${SCHEMA}.${table}`), count)
      return { seconds, peakRss, dead: found }
    })
  } finally {
    await open?.end()
  }
}

/** Drain, and what can be seen on the same run: memory of the worker and dead rows. */
export const drainSmall: Scenario = {
  rows: ['drain', 'dead_tuples', 'worker_memory'],
  async run(bench) {
    const count = bench.quick ? 5000 : 200_000
    const dead = bench.wants('dead_tuples')
    const drained = await drain(bench, { count, dead })
    return [
      ...drainSamples('', count, drained),
      ...(drained.dead
        ? [{ name: 'dead_tuples', value: sum(drained.dead), settings: deadSettings(count, drained.dead) }]
        : []),
    ]
  },
}

export const drainLarge: Scenario = {
  rows: ['drain_8k', 'worker_memory_8k'],
  async run(bench) {
    const count = bench.quick ? 1000 : 20_000
    return drainSamples('_8k', count, await drain(bench, { count, size: '8k' }))
  },
}

/** Deaths at the first failure. Every one must be counted in the DLQ, with all its indexes. */
export const terminalFailure = failing('terminal_failure', '20', 50_000)
export const terminalFailureLarge = failing('terminal_failure_8k', '8k', 10_000)

/** The same drain without and with an open reader, in turn first. */
export const snapshot: Scenario = {
  rows: ['snapshot_slowdown'],
  async run(bench) {
    const count = bench.quick ? 5000 : 200_000
    turn = !turn
    const seconds = { with: 0, without: 0 }
    for (const reader of turn ? [false, true] : [true, false]) {
      const drained = await drain(bench, { count, reader })
      seconds[reader ? 'with' : 'without'] = drained.seconds
    }
    const settings = { jobs: count, 's without': round(seconds.without), 's with': round(seconds.with) }
    return [{ name: 'snapshot_slowdown', value: seconds.with / seconds.without, settings }]
  },
}

let turn = false

function failing(name: RowName, size: PayloadSize, full: number): Scenario {
  return {
    rows: [name],
    async run(bench) {
      const count = bench.quick ? full / 10 : full
      const { seconds } = await drain(bench, { job: 'boom', count, size })
      return [{ name, value: count / seconds, settings: { jobs: count, concurrency: CONCURRENCY, 'max attempts': 1 } }]
    },
  }
}

function drainSamples(suffix: string, count: number, { seconds, peakRss }: Drained): Sample[] {
  const settings = { jobs: count, concurrency: CONCURRENCY }
  return [
    { name: `drain${suffix}`, value: count / seconds, settings: { ...settings, history: 'kept' } },
    { name: `worker_memory${suffix}`, value: peakRss / MIB, settings: { ...settings, sampled: 'every 50 ms' } },
  ]
}

function deadSettings(count: number, dead: ReadonlyMap<string, number>) {
  const most = [...dead].sort((a, b) => b[1] - a[1]).slice(0, 3)
  return { jobs: count, autovacuum: 'off', after: '3 s', most: most.map(([table, n]) => `${table} ${n}`).join(', ') }
}

function sum(dead: ReadonlyMap<string, number>): number {
  return [...dead.values()].reduce((total, n) => total + n, 0)
}

function round(seconds: number): number {
  return Number(seconds.toFixed(2))
}
