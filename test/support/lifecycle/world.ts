import { defineJob, type Handler, type Job, type JobState, type Spillway, type Worker } from 'spillway'
import type { Given, JobSeed } from 'spillway/testing'
import { onTestFinished } from 'vitest'
import type { SpillwayWorkerOptions } from '../../../src/index.js'
import type { Database } from '../../../src/store/postgres/database.js'
import { until } from '../patience.js'

/** The kind of every job of the scenarios. Its second attempt is far away. */
export const TEST_JOB = defineJob<unknown>({ kind: 'test', backoff: () => 3_600_000 })

/** A real store, and real workers on it. */
export interface World {
  readonly spillway: Spillway
  readonly db: Database
  /** Where the job of the scenario is. */
  readonly queue: string
  /** A job in that queue, as if the product had brought it there. */
  job(seed: JobSeed): Promise<Job>
  jobs(count: number, seed: JobSeed): Promise<readonly string[]>
  worker: Given['worker']
  /** Runs jobs of the kind from the queue; stopped when the test ends. */
  work(run: Handler<unknown>, options?: Partial<SpillwayWorkerOptions>): Promise<Worker>
  /** Does the duties of maintenance, and takes nothing from the queue unless told to. */
  keep(options?: Partial<SpillwayWorkerOptions>): Promise<Worker>
  /** Waits until the job is in that state; undefined once it is gone. */
  reaches(id: string, state: JobState | 'gone'): Promise<Job | undefined>
}

/** What happened to which job, and how it was before. */
export interface Moved {
  readonly id: string
  /** null: there was none. */
  readonly before: Job | null
}

/** Makes a row of the table of transitions happen, from one of its states. */
export type Scenario = (world: World, from: JobState | null) => Promise<Moved>

export function worldOf(spillway: Spillway, given: Given, db: Database, queue: string): World {
  const started = async (options: SpillwayWorkerOptions) => {
    const worker = spillway.worker({ poll: 50, ...options })
    onTestFinished(() => worker.stop({ grace: 20, abort: 2_000 }))
    await worker.start()
    return worker
  }
  return {
    spillway,
    db,
    queue,
    job: (seed) => given.job({ queue, ...seed }),
    jobs: (count, seed) => given.jobs(count, { queue, ...seed }),
    worker: given.worker,
    work: (run, options) =>
      started({ queues: { [queue]: {} }, jobs: [TEST_JOB.handle(run)], maintenance: false, ...options }),
    keep: (options) =>
      started({ queues: { elsewhere: {} }, jobs: [defineJob({ kind: 'other' }).handle(() => undefined)], ...options }),
    async reaches(id, state) {
      await until(async () => ((await spillway.jobs.get(id))?.state ?? 'gone') === state, {
        what: `job ${id} to be ${state}`,
      })
      return spillway.jobs.get(id)
    },
  }
}

export const ago = (ms: number) => new Date(Date.now() - ms)
export const ahead = (ms: number) => new Date(Date.now() + ms)
export const DAY = 86_400_000

/** A handler that runs until its signal aborts, and then fails as one that gives way does. */
export const untilAborted: Handler<unknown> = (_, { signal }) =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error)
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
