import { defineJob, Spillway, snooze } from 'spillway'
import { assertEnqueued, assertNotEnqueued, drain } from 'spillway/testing'
import { afterAll, expect, it } from 'vitest'
import { describeStore } from './support/store.js'

describeStore('helpers for the tests of users', ({ store, given, url, clock }) => {
  const spillway = new Spillway({ url })
  afterAll(() => spillway.close())
  const mail = defineJob<{ to: string }>({ kind: 'mail', queue: 'out' })

  it('run everything that is available, and what that enqueues, and say how it ended', async () => {
    const seen: string[] = []
    await spillway.enqueueMany(mail, [
      { payload: { to: 'ada' } },
      { payload: { to: 'nobody' } },
      { payload: { to: 'later' } },
    ])

    const drained = await drain(spillway, {
      jobs: [
        mail.handle(async ({ to }, { job }) => {
          seen.push(to)
          if (to === 'nobody') throw new Error('no such address')
          if (to === 'later' && job.runLease === 1) return snooze('1h')
          if (to === 'ada') await spillway.enqueue(mail, { to: 'grace' })
        }),
      ],
    })

    expect(drained).toEqual({ completed: 2, retrying: 1, died: 0, snoozed: 1, waiting: 0, parked: 0 })
    expect(seen.sort()).toEqual(['ada', 'grace', 'later', 'nobody'])
  })

  it('let an hour pass between two drains', async () => {
    await spillway.enqueue(mail, { to: 'ada' }, { delay: '1h' })
    const jobs = [mail.handle(() => undefined)]
    const before = await drain(spillway, { jobs })

    await clock.advance('1h')
    await store.promote(10)
    const after = await drain(spillway, { jobs })

    expect([before.completed, after.completed]).toEqual([0, 1])
  })

  it('give up on a handler that does not end, without charging its job', async () => {
    const { id } = await spillway.enqueue(mail, { to: 'ada' })
    const endless = mail.handle(
      (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    )

    await expect(drain(spillway, { jobs: [endless], within: 1_000 })).rejects.toThrow('1 handlers still run')

    expect(await spillway.jobs.get(id)).toMatchObject({ state: 'available', attempt: 0 })
  })

  it('find what was enqueued by part of its payload', async () => {
    const { id } = await spillway.enqueue(mail, { to: 'ada' }, { tags: ['welcome'], delay: '5m' })
    await given.job({ state: 'completed', kind: 'mail', payload: { to: 'grace' } })

    const found = await assertEnqueued(store, {
      kind: 'mail',
      queue: 'out',
      payload: { to: 'ada' },
      tags: ['welcome'],
      count: 1,
    })

    expect(found.map((job) => job.id)).toEqual([id])
    await assertNotEnqueued(store, { kind: 'mail', payload: { to: 'grace' } })
    await expect(assertEnqueued(store, { kind: 'mail', payload: { to: 'bob' } })).rejects.toThrow(
      /0 live jobs match .*"ada"/,
    )
    await expect(assertNotEnqueued(store, { kind: 'mail' })).rejects.toThrow('1 live jobs match')
  })
})
