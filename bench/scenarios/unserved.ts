import { type Bench, expectCount, type Scenario, withProducer, withWorker } from '../bench.js'
import { QUEUE } from '../jobs.js'
import { quantile } from '../rows.js'
import { SCHEMA, type Scratch } from '../scratch.js'
import { PER_SECOND, WARM_UP } from './latency.js'

const TIMEOUT_MS = 60_000

/**
 * Rows at the head of the queue that no worker serves: how long fresh jobs wait for their handler, and how long a drain of
 * others takes, by what they take without.
 */
export const unserved: Scenario = {
  rows: ['unserved_pickup_p99_ratio', 'unserved_drain_ratio'],
  async run(bench) {
    const rows = bench.quick ? 5_000 : 100_000
    const jobs = bench.quick ? 2_000 : 20_000
    const [quiet, beside] = [await pickup(bench, 0), await pickup(bench, rows)]
    const [alone, behind] = [await drained(bench, 0, jobs), await drained(bench, rows, jobs)]
    return [
      {
        name: 'unserved_pickup_p99_ratio',
        value: beside / quiet,
        settings: { unserved: rows, 'p99 ms without': round(quiet), 'p99 ms with': round(beside) },
      },
      {
        name: 'unserved_drain_ratio',
        value: behind / alone,
        settings: { unserved: rows, jobs, 'ms without': round(alone), 'ms with': round(behind) },
      },
    ]
  },
}

/** The p99 of fresh jobs from the moment the worker starts, so that what it does about the head is part of it. */
async function pickup(bench: Bench, rows: number): Promise<number> {
  const fresh = PER_SECOND * (bench.quick ? 2 : 20) + WARM_UP
  await fill(bench.scratch, rows)
  return withWorker(bench, { concurrency: 100, handling: 'stamp' }, async (worker) => {
    await worker.start()
    const sent = await withProducer(bench, (producer) => producer.paced(PER_SECOND, fresh, null))
    await worker.entered(fresh, TIMEOUT_MS)
    const stamps = (await worker.stamps()).sort((a, b) => a.n - b.n)
    const waits = sent.slice(WARM_UP).map(({ answered }, n) => stamps[n + WARM_UP]!.monotonic - answered)
    return quantile(
      waits.map((ms) => Math.max(0, ms)),
      0.99,
    )
  })
}

async function drained(bench: Bench, rows: number, jobs: number): Promise<number> {
  await fill(bench.scratch, rows)
  await withProducer(bench, (producer) => producer.preload('noop', jobs, '20', 2_000))
  await bench.scratch.checkpoint()
  return withWorker(bench, { concurrency: 200, handling: 'count' }, async (worker) => {
    const begin = performance.now()
    await worker.start()
    await worker.entered(jobs, TIMEOUT_MS)
    const ms = performance.now() - begin
    expectCount('handlers entered', await worker.count(), jobs)
    return ms
  })
}

/** Jobs of a version that the worker does not serve, before all others. */
async function fill(scratch: Scratch, rows: number): Promise<void> {
  await scratch.fresh()
  await scratch.query(
    `insert into ${SCHEMA}.ready_entries (id, queue, kind, schema_version, payload, position, slot)
     select id, '${QUEUE}', 'noop', 2, '{"n":1}', id, (select head from ${SCHEMA}.ring_state where ring = 'ready')
       from (select nextval('${SCHEMA}.job_ids') as id from generate_series(1, $1::integer)) as n`,
    [rows],
  )
  await scratch.checkpoint()
}

function round(ms: number): number {
  return Number(ms.toFixed(1))
}
