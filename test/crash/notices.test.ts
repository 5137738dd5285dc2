import { defineJob, Spillway } from 'spillway'
import { afterAll, afterEach, expect, it } from 'vitest'
import { until } from '../support/patience.js'
import { type Receiver, startReceiver } from '../support/receiver.js'
import { describeStore } from '../support/store.js'
import { workerProcesses } from '../support/worker-process.js'

describeStore('a worker killed right after it has written a death', ({ store, url, checker }) => {
  const spillway = new Spillway({ url, webhooks: { allowPrivate: true } })
  const workers = workerProcesses()
  let receiver: Receiver | undefined
  afterAll(() => spillway.close())
  afterEach(async () => {
    await workers.killAll()
    await receiver?.close()
  })

  it.each([1, 2, 3])('leaves an event of it, and the webhook arrives with its id (round %i)', async () => {
    receiver = await startReceiver()
    await spillway.webhooks.create({ url: receiver.url })
    const after = await spillway.events.position()
    const killed = await workers.start({ url, dieOnDeath: true, concurrency: 1, heartbeat: 500 })
    const { id } = await spillway.enqueue('work', { do: 'fail' }, { maxAttempts: 1 })
    expect(await killed.exited).toBe('SIGKILL')

    const { items } = await spillway.events.list({ after })
    expect(items.map(({ jobId, type }) => [jobId, type])).toEqual([[id, 'died']])
    // Whoever comes next sends it: here a process that takes no jobs.
    const other = spillway.worker({
      ...{ queues: { other: {} }, jobs: [defineJob({ kind: 'other' }).handle(() => undefined)], heartbeat: 500 },
    })
    await other.start()
    const { headers, body } = await until(() => receiver?.received[0])
    await other.stop()

    expect(headers['webhook-id']).toBe(`evt_${items[0]?.id}`)
    expect(JSON.parse(body).data).toMatchObject({ job_id: id, reason: 'attempts_exhausted', id: items[0]?.id })
    expect((await store.getJob(id))?.state).toBe('archived')
    await checker.expectClean()
  })
})
