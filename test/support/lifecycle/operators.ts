import type { Job, JobState } from 'spillway'
import type { JobSeed } from 'spillway/testing'
import { sql } from '../../../src/store/postgres/sql.js'
import { until } from '../patience.js'
import { ago, ahead, DAY, type Scenario, TEST_JOB, untilAborted, type World } from './world.js'

/** A job in the state the row comes from, and what somebody does with it. */
const acts =
  (act: (world: World, job: Job) => Promise<unknown>, seed: JobSeed = {}): Scenario =>
  async (world, from) => {
    const before = await made(world, from as JobState, seed)
    await act(world, before)
    return { id: before.id, before }
  }

/** A job in a state; running ones are run by a worker. */
export async function made(world: World, state: JobState, seed: JobSeed): Promise<Job> {
  const counters = { attempt: 1, crashAttempt: 1, maxAttempts: 5 }
  const job = await world.job({ ...counters, ...seed, state: state === 'running' ? 'available' : state })
  if (state === 'running') {
    await world.work(untilAborted)
    await world.reaches(job.id, 'running')
  }
  return job
}

/** How long ago the job ended, for its retention to have lapsed: by the columns of its state. */
export function lapsed(state: JobState): JobSeed {
  if (state === 'archived') return { dlqAt: ago(31 * DAY), retainFrom: ago(31 * DAY) }
  if (state === 'discarded') return { discardedAt: ago(8 * DAY) }
  if (state === 'quarantined' || state === 'undecodable') return { heldAt: ago(2 * DAY) }
  return { finalizedAt: ago(4 * DAY) }
}

/** What becomes of jobs that do not run, by the first state a row of the table comes from, and its event. */
export const OPERATORS: Readonly<Record<string, Scenario>> = {
  'new enqueue': async ({ spillway, queue }) => {
    const { id } = await spillway.enqueue(TEST_JOB, {}, { queue })
    return { id, before: null }
  },
  'new enqueue_later': async ({ spillway, queue }) => {
    const { id } = await spillway.enqueue(TEST_JOB, {}, { queue, delay: '1h' })
    return { id, before: null }
  },
  'new import': async (world) => {
    const before = await world.job({ state: 'archived' })
    const lines: string[] = []
    for await (const line of world.spillway.dlq.export({ queue: world.queue })) lines.push(line)
    await world.spillway.dlq.purge(before.id)
    await world.spillway.dlq.import(lines)
    return { id: before.id, before }
  },
  'new restore': async (world) => {
    await world.spillway.queues.set(world.queue, { coldArchive: true })
    const before = await world.job({ state: 'archived', crashAttempt: 1, ...lapsed('archived') })
    await world.keep()
    await world.reaches(before.id, 'gone')
    await world.spillway.archive.restore(before.id)
    return { id: before.id, before }
  },
  'scheduled promote': async (world, from) => {
    const before = await made(world, from as JobState, { dueAt: ago(1_000) })
    await world.keep()
    return { id: before.id, before }
  },
  'scheduled reschedule': acts(({ spillway }, { id }) => spillway.jobs.reschedule(id, ahead(3_600_000))),
  'scheduled edit': acts(({ spillway }, { id }) => spillway.jobs.edit(id, { priority: 7 })),
  'scheduled edit_payload': acts(({ spillway }, { id }) => spillway.jobs.editPayload(id, { repaired: true })),
  'available set_aside': async (world) => {
    const [id] = await world.jobs(1_000, { kind: 'nobody knows' })
    const before = (await world.spillway.jobs.get(id as string)) ?? null
    await world.work(() => undefined)
    const aside = sql<[], [n: string]>`select count(*) from spillway.deferred_jobs where state = 'available'`
    await until(async () => (await world.db.run(aside, []))[0]?.[0] === '1000')
    return { id: id as string, before }
  },
  'available no_handler': async (world) => {
    const before = await world.job({ kind: 'nobody knows', attempt: 1, runAt: ago(60_000) })
    await world.spillway.queues.set(world.queue, { noHandlerAfterMs: 1_000 })
    await world.keep({ queues: { [world.queue]: {} } })
    return { id: before.id, before }
  },
  'available cancel': acts(({ spillway }, { id }) => spillway.jobs.cancel(id)),
  'scheduled kill': acts(({ spillway }, { id }) => spillway.jobs.kill(id)),
  'failed move': acts(({ spillway }, { id }) => spillway.dlq.move(id)),
  'archived retry': acts(({ spillway }, { id }) => spillway.dlq.retry(id)),
  'archived discard': acts(({ spillway }, { id }) => spillway.dlq.discard(id)),
  'discarded undo': async ({ spillway, job }) => {
    const before = await job({ state: 'archived' })
    const { operation } = await spillway.dlq.discard(before.id)
    await (await spillway.dlq.undo(operation as string)).done()
    return { id: before.id, before }
  },
  'available undo': async ({ spillway, job }, from) => {
    const before = await job({ state: 'archived', attempt: 3, crashAttempt: 1 })
    const later = from === 'scheduled' ? { runAt: ahead(3_600_000) } : {}
    const { operation } = await spillway.dlq.retry(before.id, later)
    await (await spillway.dlq.undo(operation as string)).done()
    return { id: before.id, before }
  },
  'undecodable release': acts(({ spillway }, { id }) => spillway.undecodable.release(id, { jobs: [TEST_JOB] })),
  'completed clone': acts(({ spillway }, { id }) => spillway.jobs.clone(id)),
  'completed purge': acts(({ spillway }, { id }) => spillway.jobs.purge(id)),
  'completed expire': async (world, from) => {
    await world.spillway.queues.set(world.queue, { retention: { held: '1d' } })
    const before = await made(world, from as JobState, lapsed(from as JobState))
    await world.keep()
    return { id: before.id, before }
  },
}
