import { defineJob, Spillway } from 'spillway'
import { drain, signal } from 'spillway/testing'
import { afterAll, expect, it } from 'vitest'
import type { DutyName } from '../../src/job/duties.js'
import { Maintenance } from '../../src/maintenance/maintenance.js'
import { describeStore } from '../support/store.js'

const charge = defineJob<{ n: number }>({ kind: 'charge', queue: 'billing', maxAttempts: 1 })

describeStore('a job that was given up and sent back', ({ store, url, given, checker }) => {
  const spillway = new Spillway({ url, actor: 'ann' })
  afterAll(() => spillway.close())

  let tries = 0
  const failing = charge.handle(() => {
    tries += 1
    throw new Error(`failure ${tries}`)
  })
  const fail = () => drain(spillway, { jobs: [failing] })

  it('and fails again three times is one dead letter, of generation 3, with its history in order', async () => {
    tries = 0
    const { id } = await spillway.enqueue(charge, { n: 1 }, { tags: ['t'] })
    await fail()

    for (let round = 1; round <= 3; round++) {
      await spillway.dlq.retry(id, { reason: `round ${round}` })
      await fail()
    }

    const { items } = await spillway.dlq.list({})
    expect(items).toMatchObject([{ id, generation: 3, attempt: 1, tags: ['t'], dlq: { reason: 'attempts_exhausted' } }])
    const history = (await spillway.dlq.get(id))?.history ?? []
    expect(history.map((entry) => ('message' in entry ? entry.message : 'why' in entry ? entry.why : ''))).toEqual([
      'failure 1',
      'round 1',
      'failure 2',
      'round 2',
      'failure 3',
      'round 3',
      'failure 4',
    ])
    expect(history.map(({ generation }) => generation)).toEqual([0, 0, 1, 1, 2, 2, 3])
    expect(history.map(({ at }) => at.getTime())).toEqual(history.map(({ at }) => at.getTime()).sort((a, b) => a - b))
    expect(await checker.census()).toEqual({ archived: 1 })
    expect(await spillway.dlq.depth()).toBe(1)
  })

  it('over and over is not multiplied by sending everything back', async () => {
    await spillway.enqueueMany(
      charge,
      [1, 2, 3].map((n) => ({ payload: { n } })),
    )
    await fail()

    for (let round = 1; round <= 3; round++) {
      const all = await (await spillway.dlq.retryMany({ all: true })).done()
      expect(all).toMatchObject({ matched: 3, succeeded: 3, failed: 0, newerLeftAlone: 0 })
      await fail()
      expect(await checker.census()).toEqual({ archived: 3 })
    }
  })

  it('is left alone by ten rounds of every background duty, and then runs once', async () => {
    const { id } = await given.job({ state: 'archived', queue: 'billing', kind: 'charge', tags: ['t'] })
    const maintenance = new Maintenance(store)
    await spillway.dlq.retry(id)

    for (let round = 0; round < 10; round++) {
      for (const duty of DUTIES) await maintenance.runOnce(duty)
    }
    const before = await checker.census()
    const ran = signal<string>('the run of the job')
    const worker = spillway.worker({
      queues: { billing: {} },
      jobs: [charge.handle((_, { job }) => ran.fire(job.id))],
    })
    await worker.start()
    const first = await ran.next()
    await worker.idle()
    await worker.stop()

    expect(before).toEqual({ available: 1 })
    expect([first, ran.count]).toEqual([id, 1])
    expect(await checker.census()).toEqual({ completed: 1 })
  })

  it('is not purged with what an operator saw before, when it has died again meanwhile', async () => {
    const ids = (
      await spillway.enqueueMany(
        charge,
        [1, 2, 3].map((n) => ({ payload: { n } })),
      )
    ).map(({ id }) => id)
    await fail()
    const seen = await (await spillway.dlq.purgeMany({ queue: 'billing' }, { dryRun: true })).done()
    await spillway.dlq.retry(ids[1] as string)
    const { id: fresh } = await spillway.enqueue(charge, { n: 4 })
    await fail()

    const purge = await (await spillway.dlq.purgeMany({}, { preview: seen.id })).done()

    expect(seen).toMatchObject({ matched: 3, dryRun: true })
    expect(purge).toMatchObject({ state: 'done', matched: 2, succeeded: 2, failed: 0, newerLeftAlone: 2 })
    const left = (await spillway.dlq.list({})).items
    expect(left.map(({ id }) => id).sort()).toEqual([ids[1], fresh].sort())
  })
})

const DUTIES: readonly DutyName[] = [
  'promote',
  'rescue',
  'deadlines',
  'rings',
  'fold',
  'retain',
  'partitions',
  'operations',
]
