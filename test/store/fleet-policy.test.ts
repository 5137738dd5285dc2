import { defineJob, Spillway } from 'spillway'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'

const job = defineJob({ kind: 'work', queue: 'billing' })

describeStore('a policy that changes', ({ store, url }) => {
  const operator = new Spillway({ url })
  afterAll(() => operator.close())

  const working = async () => {
    // A process of its own, as far as the store can tell.
    const spillway = new Spillway({ url })
    const worker = spillway.worker({ queues: { billing: {} }, jobs: [job.handle(() => 'done')] })
    onTestFinished(async () => {
      await worker.stop()
      await spillway.close()
    })
    await worker.start()
    return worker
  }

  it('is seen by every process within a second: paused, nobody claims; resumed, somebody does', async () => {
    const fleet = [await working(), await working(), await working()]
    const arePaused = (paused: boolean) => () => fleet.every(({ usage }) => usage[0]?.isPaused === paused)
    const claimed = () => fleet.reduce((sum, { usage }) => sum + (usage[0]?.claimed ?? 0), 0)

    await operator.queues.pause('billing', { reason: 'bank is down' })
    await until(arePaused(true), { within: '1s' })
    const { id } = await operator.enqueue(job, {})
    // A look of each that finds nothing to claim.
    await Promise.all(fleet.map((worker) => worker.idle()))
    const whilePaused = claimed()
    await operator.queues.resume('billing')
    await until(arePaused(false), { within: '1s' })
    await until(async () => (await store.getJob(id))?.state === 'completed')

    expect(whilePaused).toBe(0)
    expect(claimed()).toBe(1)
  })

  it('counts for the next job that ends: without a dead-letter queue it fails', async () => {
    const spillway = new Spillway({ url })
    const failing = job.handle(() => {
      throw new Error('no')
    })
    const worker = spillway.worker({ queues: { billing: {} }, jobs: [failing] })
    onTestFinished(async () => {
      await worker.stop()
      await spillway.close()
    })
    await worker.start()
    const first = await operator.enqueue(job, {}, { maxAttempts: 1 })
    await until(async () => (await store.getJob(first.id))?.state === 'archived')

    await operator.queues.set('billing', { dlqEnabled: false })
    const second = await operator.enqueue(job, {}, { maxAttempts: 1 })
    await until(async () => (await store.getJob(second.id))?.state === 'failed')

    expect((await store.getJob(first.id))?.state).toBe('archived')
  })
})
