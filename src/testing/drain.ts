import type { JobHandler } from '../job/definition.js'
import { type Duration, parseDuration } from '../job/duration.js'
import type { Worker } from '../worker/worker.js'
import type { WorkerOptions } from '../worker/worker-options.js'

/** What makes workers: a `Spillway`. */
export interface WorkerSource {
  worker(options: WorkerOptions): Worker
}

export interface DrainOptions {
  /** What runs: `definition.handle(fn)`. */
  readonly jobs: readonly JobHandler[]
  /** Default: the queues of the definitions. */
  readonly queues?: WorkerOptions['queues']
  readonly onDeath?: WorkerOptions['onDeath']
  /** How long at most. Default: 10 s. */
  readonly within?: Duration
}

/** How many attempts ended how. */
export interface Drained {
  readonly completed: number
  /** Failed, and will be tried again when due. */
  readonly retrying: number
  readonly died: number
  readonly snoozed: number
  /** Wait for a callback. */
  readonly waiting: number
  /** Could not be read. */
  readonly parked: number
}

/**
 * Runs everything that is available now, and what its handlers enqueue, until nothing is left; then stops the worker.
 * What waits for its time stays: let time pass with `fakeClock` and drain again.
 *
 * Rejects when that takes too long; handlers that still run are aborted, and their jobs go back uncharged.
 *
 * @example
 * await spillway.enqueue(sendMail, { to: 'ada@example.com' })
 * expect(await drain(spillway, { jobs: [sendMail.handle(deliver)] })).toMatchObject({ completed: 1 })
 */
export async function drain(spillway: WorkerSource, options: DrainOptions): Promise<Drained> {
  const { jobs, onDeath, queues = queuesOf(jobs) } = options
  const withinMs = parseDuration(options.within ?? 10_000, 'a drain')
  const worker = spillway.worker({ jobs, queues, ...(onDeath && { onDeath }) })
  const counts = { completed: 0, retrying: 0, died: 0, snoozed: 0, waiting: 0, parked: 0 }
  for (const event of Object.keys(counts) as (keyof typeof counts)[]) worker.on(event, () => void counts[event]++)

  let timer: NodeJS.Timeout | undefined
  try {
    await worker.start()
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), withinMs)
    })
    const how = await Promise.race([worker.idle(), late])
    if (how === 'late') throw new Error(`not drained within ${withinMs} ms: ${worker.running} handlers still run`)
  } finally {
    clearTimeout(timer)
    await worker.stop({ grace: 1, abort: 1_000 })
  }
  return counts
}

function queuesOf(jobs: readonly JobHandler[]): WorkerOptions['queues'] {
  return Object.fromEntries(jobs.map(({ definition }) => [definition.queue, {}]))
}
