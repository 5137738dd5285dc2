import pc from 'picocolors'
import { Spillway } from '../../index.js'
import { isolatedStore } from '../../testing/isolated-store.js'
import { delivering, deliverWebhook } from './deliver.js'
import { deliveries } from './deliveries.js'
import { PARSED, tellOfPoison } from './poison.js'
import { startReceiver } from './receiver.js'

const DELIVERIES = 2_303
const ALL = DELIVERIES + PARSED
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
    const groups = (await spillway.dlq.groups({ queue: QUEUE }, { limit: 20 })).items
    for (const { count, reason, title } of groups) {
      stage.line(`   ${String(count).padStart(5)}  ${reason.padEnd(19)}${(title ?? '').slice(0, 90)}`)
    }
    await showOne(spillway, groups[0]?.sampleId, stage)

    stage.line()
    stage.line(pc.bold('3. Somebody believes it is fixed: three canaries go first'))
    const hasty = await spillway.dlq.retryMany(
      { queue: QUEUE, reason: 'attempts_exhausted' },
      { canary: 3, reason: 'should be fine now' },
    )
    const held = await hasty.done()
    stage.line(`   ${pc.yellow(held.state)}: ${held.stateReason}`)
    stage.line(`   ${held.matched - held.succeeded} of ${held.matched} were not touched`)
    await spillway.operations.cancel(hasty.id)
    await settled(spillway, stage)

    stage.line()
    stage.line(pc.bold('4. Somebody discards what he should not have, and takes it back'))
    const binned = await (await spillway.dlq.discardMany({ queue: QUEUE, reason: 'skipped' })).done()
    const restored = await (await spillway.dlq.undo(binned.id)).done()
    stage.line(`   ${binned.succeeded} discarded, ${restored.succeeded} back as they were`)

    stage.line()
    stage.line(pc.bold('5. The receiver is fixed, and the dead come back: five first, then 400 a second'))
    receiver.fix()
    const redriven = performance.now()
    const redrive = await spillway.dlq.retryMany(
      { queue: QUEUE },
      { canary: 5, rate: 400, reason: 'the receiver is fixed' },
    )
    const done = await redrive.done({
      onProgress: ({ succeeded, matched }) => stage.progress(`   ${succeeded} of ${matched} sent back`),
    })
    await settled(spillway, stage)
    const left = await spillway.dlq.depth()
    stage.line(
      `   ${done.succeeded} redriven and delivered in ${seconds(redriven)}, ${left === 0 ? pc.green('0 dead') : pc.red(`${left} dead`)}`,
    )

    stage.line()
    stage.line(pc.bold('6. One webhook kills every process that reads it'))
    const place = { url, schema: isolated.schema }
    const isHealed = await tellOfPoison(spillway, place, await deliveries(PARSED), stage)

    const { completed } = await spillway.jobs.counts()
    const faults = await isolated.checker.faults()
    stage.line()
    stage.line(
      `   ${completed.toLocaleString('en')} of ${ALL.toLocaleString('en')} completed; every job is in exactly one place: ${faults.length === 0 ? pc.green('yes') : pc.red('no')}`,
    )
    const isDelivered = left === 0 && completed === ALL && receiver.accepted.size === DELIVERIES
    return isDelivered && isHealed && faults.length === 0
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

async function showOne(spillway: Spillway, id: string | undefined | null, stage: Stage): Promise<void> {
  const job = id ? await spillway.dlq.get(id) : undefined
  if (!job) return
  stage.line()
  stage.line(`   ${pc.dim(`job ${job.id} (${job.tags.join(', ')}) keeps its whole history:`)}`)
  for (const entry of job.history ?? []) {
    const said = 'message' in entry ? `${entry.message}`.slice(0, 80) : ''
    stage.line(`   ${pc.dim(`attempt ${entry.attempt + 1}  ${entry.type.padEnd(8)} ${said}`)}`)
  }
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`
}
