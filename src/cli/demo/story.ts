import pc from 'picocolors'
import { type Job, Spillway } from '../../index.js'
import { isolatedStore } from '../../testing/isolated-store.js'
import { delivering, deliverWebhook } from './deliver.js'
import { deliveries } from './deliveries.js'
import { startReceiver } from './receiver.js'

const DELIVERIES = 3_290
const QUEUE = 'webhooks'

/** Where the story is told: lines, and one that is written over while something is under way. */
export interface Stage {
  line(text?: string): void
  progress(text: string): void
}

/**
 * The main job on real input: webhooks are delivered to a broken receiver, the dead are looked at, the receiver is
 * fixed, and the dead are brought back.
 *
 * @param url - A PostgreSQL; the story plays in a schema of its own, which is dropped at its end.
 * @returns whether it ended as it should: every job delivered, none dead.
 */
export async function tellStory(url: string, stage: Stage): Promise<boolean> {
  const isolated = await isolatedStore({ url, prefix: 'spillway_demo' })
  const spillway = new Spillway({ url, schema: isolated.schema })
  const receiver = await startReceiver()
  const worker = spillway.worker({ queues: { [QUEUE]: { concurrency: 60 } }, jobs: [delivering(receiver.url)] })
  try {
    stage.line(pc.bold(`1. ${DELIVERIES.toLocaleString('en')} webhooks are to be delivered; the receiver is broken`))
    const started = performance.now()
    const entries = (await deliveries(DELIVERIES)).map((payload) => ({ payload, tags: [payload.event] }))
    await spillway.enqueueMany(deliverWebhook, entries)
    stage.line(`   enqueued in ${seconds(started)}`)
    await worker.start()
    await settled(spillway, stage)
    const dead = await spillway.dlq.depth()
    stage.line(
      `   ${receiver.accepted.size.toLocaleString('en')} delivered, ${pc.red(`${dead} dead`)} after ${seconds(started)}`,
    )

    stage.line()
    stage.line(pc.bold('2. What died, by cause'))
    const jobs = await all(spillway)
    for (const row of byCause(jobs)) stage.line(`   ${row}`)
    await showOne(spillway, jobs[0], stage)

    stage.line()
    stage.line(pc.bold('3. The receiver is fixed, and the dead come back'))
    receiver.fix()
    const redriven = performance.now()
    await retryAll(spillway, jobs)
    await settled(spillway, stage)
    const left = await spillway.dlq.depth()
    stage.line(
      `   ${jobs.length} redriven and delivered in ${seconds(redriven)}, ${left === 0 ? pc.green('0 dead') : pc.red(`${left} dead`)}`,
    )

    const { completed } = await spillway.jobs.counts()
    const faults = await isolated.checker.faults()
    stage.line()
    stage.line(
      `   ${completed.toLocaleString('en')} of ${DELIVERIES.toLocaleString('en')} completed; every job is in exactly one place: ${faults.length === 0 ? pc.green('yes') : pc.red('no')}`,
    )
    return left === 0 && completed === DELIVERIES && receiver.accepted.size === DELIVERIES && faults.length === 0
  } finally {
    await worker.stop({ grace: '2s', abort: '1s' })
    await receiver.close()
    await spillway.close()
    await isolated.drop()
  }
}

async function settled(spillway: Spillway, stage: Stage): Promise<void> {
  for (;;) {
    const { available, scheduled, retryable, running, completed, archived } = await spillway.jobs.counts()
    const open = available + scheduled + retryable + running
    stage.progress(`   ${open} to go, ${completed} delivered, ${archived} dead`)
    if (open === 0) return
    await new Promise((resolve) => setTimeout(resolve, 150))
  }
}

async function all(spillway: Spillway): Promise<Job[]> {
  const jobs: Job[] = []
  for await (const job of spillway.dlq.list()) jobs.push(job)
  return jobs
}

function byCause(jobs: readonly Job[]): string[] {
  const causes = new Map<string, { count: number; sample: Job }>()
  for (const job of jobs) {
    const cause = job.dlq?.cause ?? ''
    causes.set(cause, { count: (causes.get(cause)?.count ?? 0) + 1, sample: job })
  }
  return [...causes.values()]
    .sort((a, b) => b.count - a.count)
    .map(({ count, sample: { dlq } }) => {
      const said = `${dlq?.errorClass ?? ''}: ${dlq?.errorMessage ?? ''}`.slice(0, 90)
      return `${String(count).padStart(5)}  ${(dlq?.reason ?? '').padEnd(19)}${said}`
    })
}

async function showOne(spillway: Spillway, job: Job | undefined, stage: Stage): Promise<void> {
  if (!job) return
  const whole = await spillway.dlq.get(job.id)
  stage.line()
  stage.line(`   ${pc.dim(`job ${job.id} (${job.tags.join(', ')}) keeps its whole history:`)}`)
  for (const entry of whole?.history ?? []) {
    const said = 'message' in entry ? `${entry.message}`.slice(0, 80) : ''
    stage.line(`   ${pc.dim(`attempt ${entry.attempt + 1}  ${entry.type.padEnd(8)} ${said}`)}`)
  }
}

/** Each in one statement, a few at a time. */
async function retryAll(spillway: Spillway, jobs: readonly Job[]): Promise<void> {
  const queue = [...jobs]
  const lane = async () => {
    for (let job = queue.pop(); job; job = queue.pop())
      await spillway.dlq.retry(job.id, { reason: 'the receiver is fixed' })
  }
  await Promise.all(Array.from({ length: 8 }, lane))
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`
}
