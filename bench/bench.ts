import type { ProducerMethods } from './producer-process.js'
import { type Remote, spawn } from './remote.js'
import type { RowName, Sample } from './rows.js'
import { SCHEMA, type Scratch } from './scratch.js'
import type { WorkerMethods } from './worker-process.js'

/** What a scenario is given. */
export interface Bench {
  readonly scratch: Scratch
  /** Small numbers: everything runs once and shows that it works. */
  readonly quick: boolean
  /** Whether somebody wants to see that row. */
  readonly wants: (name: RowName) => boolean
}

/** One or more rows that are measured together, once a round. */
export interface Scenario {
  readonly rows: readonly RowName[]
  /** Of another queue: it is held to no bar. */
  readonly isPeer?: boolean
  run(bench: Bench): Promise<Sample[]>
}

/** Options for the worker's Node.js, such as `--cpu-prof`. */
const WORKER_FLAGS = (process.env.BENCH_WORKER_FLAGS ?? '').split(' ').filter(Boolean)

/** Runs `work` beside a worker process that is connected but not started; stops it in any case. */
export async function withWorker<T>(
  bench: Bench,
  options: { concurrency: number; handling: 'count' | 'stamp' | 'throw' },
  work: (worker: Remote<WorkerMethods>) => Promise<T>,
): Promise<T> {
  const worker = spawn<WorkerMethods>('worker-process.js', WORKER_FLAGS)
  try {
    await worker.open(bench.scratch.url, SCHEMA, options.concurrency, options.handling)
    const answer = await work(worker)
    await worker.close()
    return answer
  } finally {
    await worker.end()
  }
}

/** Runs `work` beside a producer process. */
export async function withProducer<T>(
  bench: Bench,
  work: (producer: Remote<ProducerMethods>) => Promise<T>,
): Promise<T> {
  const producer = spawn<ProducerMethods>('producer-process.js')
  try {
    await producer.open(bench.scratch.url, SCHEMA)
    const answer = await work(producer)
    await producer.close()
    return answer
  } finally {
    await producer.end()
  }
}

/** Throws when the engine lost or doubled something: such a figure would be worth nothing. */
export function expectCount(what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${what}: found ${found}, expected ${expected}`)
}
