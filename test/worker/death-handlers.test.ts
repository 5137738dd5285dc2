import { type DeathEvent, defineJob, Spillway, type SpillwayWorkerOptions } from 'spillway'
import { signal, until } from 'spillway/testing'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { describeStore } from '../support/store.js'

describeStore('death handlers', ({ store, url }) => {
  const spillway = new Spillway({ url })
  afterAll(() => spillway.close())
  const job = defineJob<{ n?: number }>({ kind: 'test', maxAttempts: 1 })
  const failing = job.handle(() => {
    throw new Error('no')
  })

  const start = async (options: Partial<SpillwayWorkerOptions>) => {
    const worker = spillway.worker({ queues: { default: {} }, poll: 100, jobs: [failing], ...options })
    const troubles: { service: string; error: unknown }[] = []
    worker.on('error', (trouble) => void troubles.push(trouble))
    onTestFinished(() => worker.stop({ grace: 1, abort: 1 }))
    await worker.start()
    return { worker, troubles }
  }
  const archived = (id: string) => until(async () => (await store.getJob(id))?.state === 'archived')

  it('are called in their order, each after the one before has ended', async () => {
    const calls: string[] = []
    const done = signal()
    const slow = signal()
    await start({
      onDeath: [
        async ({ job: { id } }) => {
          await slow.next()
          calls.push(`first ${id}`)
        },
        ({ job: { id } }) => calls.push(`second ${id}`),
        () => done.fire(),
      ],
    })
    const { id } = await spillway.enqueue(job, {})
    await archived(id)
    const before = [...calls]
    slow.fire()
    await done.next()

    expect(before).toEqual([])
    expect(calls).toEqual([`first ${id}`, `second ${id}`])
  })

  it('change nothing by what they throw: it is reported, and the others are called', async () => {
    const heard: DeathEvent[] = []
    const done = signal()
    const { troubles } = await start({
      onDeath: [
        () => {
          throw new Error('at once')
        },
        () => Promise.reject(new Error('later')),
        (event) => {
          heard.push(event)
          done.fire()
        },
      ],
    })
    const { id } = await spillway.enqueue(job, {})
    await done.next()

    expect(heard.map((event) => event.job.id)).toEqual([id])
    expect(troubles.map(({ service, error }) => [service, (error as Error).message])).toEqual([
      ['onDeath', 'at once'],
      ['onDeath', 'later'],
    ])
    expect((await store.getJob(id))?.state).toBe('archived')
  })

  it('that never settle are passed over in time, and that is said', async () => {
    const done = signal()
    const { troubles } = await start({
      onDeathTimeout: '50ms',
      onDeath: [() => new Promise(() => undefined), () => done.fire()],
    })
    const { id } = await spillway.enqueue(job, {})
    await done.next()

    expect(troubles.map(({ error }) => (error as Error).message)).toEqual([
      'a death handler took longer than 50 ms; the next one was called',
    ])
    await archived(id)
  })

  it('are called once for each death of a job, and not for a retry', async () => {
    const heard: DeathEvent[] = []
    await start({ onDeath: [(event) => void heard.push(event)] })
    const { id } = await spillway.enqueue(job, {})
    await until(() => heard.length === 1)
    await spillway.dlq.retry(id)
    await until(() => heard.length === 2)

    expect(heard.map(({ generation, job: it }) => [it.id, generation])).toEqual([
      [id, 0],
      [id, 1],
    ])
  })

  it('under way are waited for when the worker stops', async () => {
    const entered = signal()
    const release = signal()
    let ended = false
    const { worker } = await start({
      onDeath: [
        async () => {
          entered.fire()
          await release.next()
          ended = true
        },
      ],
    })
    await spillway.enqueue(job, {})
    await entered.next()
    const endedFirst = worker.stop().then(() => ended)
    // Meanwhile it would have stopped some times over.
    await until(async () => (await store.listWorkers())[0]?.state !== 'running')
    for (let n = 0; n < 30; n++) await store.listWorkers()
    release.fire()

    expect(await endedFirst).toBe(true)
  })

  it('are not the only ones who hear of it soon: the worker that wrote it sees to the event', async () => {
    await start({})
    const { position } = await store.eventHead()
    const { id } = await spillway.enqueue(job, {})
    await archived(id)

    // Long before the leader of the maintenance looks by itself, which is every 5 s.
    const head = await until(
      async () => {
        const now = await store.eventHead()
        return now.position !== position && now
      },
      { within: '2s' },
    )

    const { events } = await store.readEvents({}, position, 10)
    expect(events.map(({ jobId, position: at }) => [jobId, at])).toEqual([[id, head.position]])
  })
})
