import { describe, expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { describeStore } from '../support/store.js'

describeStore('lists', ({ store, given }) => {
  const client = new Client({ store })

  it('give one page when awaited, and the place where the next begins', async () => {
    for (const id of ['1', '2', '3']) await given.job({ state: 'archived', id, dlqAt: new Date(Number(id) * 1000) })

    const first = await client.dlq.list({}, { limit: 2 })
    const second = await client.dlq.list({}, { limit: 2, cursor: first.cursor })

    expect(first.items.map(({ id }) => id)).toEqual(['3', '2'])
    expect(second.items.map(({ id }) => id)).toEqual(['1'])
    expect(second.cursor).toBeNull()
  })

  it('give every row when iterated, page after page', async () => {
    for (const id of ['1', '2', '3', '4', '5']) await given.job({ id })

    const ids: string[] = []
    for await (const { id } of client.jobs.list({ state: 'available' }, { limit: 2 })) ids.push(id)

    expect(ids).toEqual(['5', '4', '3', '2', '1'])
  })

  it('ask for nothing beyond the page where the reader stops', async () => {
    for (const id of ['1', '2', '3', '4', '5']) await given.job({ id })
    let asked = 0
    const counting: typeof store = {
      ...store,
      listJobs(...args) {
        asked += 1
        return store.listJobs(...args)
      },
    }

    for await (const { id } of new Client({ store: counting }).jobs.list({}, { limit: 2 })) if (id === '4') break

    expect(asked).toBe(1)
  })

  it('of dead letters know the names other documents use for reasons', async () => {
    await given.job({ state: 'archived', id: '1', dlqReason: 'attempts_exhausted' })
    await given.job({ state: 'archived', id: '2', dlqReason: 'deadline_exceeded' })

    const { items } = await client.dlq.list({ reason: 'max_attempts' })

    expect(items.map(({ id }) => id)).toEqual(['1'])
  })

  it('of a filter with a misspelt name are refused, not everything', async () => {
    const misspelt = { quue: 'billing' } as object

    expect(() => client.dlq.list(misspelt)).toThrow(expect.objectContaining({ code: 'selector_refused' }))
    expect(() => client.jobs.list(misspelt)).toThrow(expect.objectContaining({ code: 'invalid_option' }))
  })

  it.each([0, 1_001, 1.5])('of %s rows a page are refused', (limit) => {
    expect(() => client.jobs.list({}, { limit })).toThrow(expect.objectContaining({ code: 'invalid_option' }))
  })
})

describeStore('dead letters', ({ store, given }) => {
  const client = new Client({ store, actor: 'ann' })

  it('are counted in all, and by queue', async () => {
    await given.job({ state: 'archived', queue: 'a' })
    await given.job({ state: 'archived', queue: 'a' })
    await given.job({ state: 'archived', queue: 'b' })

    const counts = [await client.dlq.depth(), await client.dlq.depth('a'), await client.dlq.depth('none')]

    expect(counts).toEqual([3, 2, 0])
    expect((await client.dlq.depthByQueue()).map(({ queue, depth }) => [queue, depth])).toEqual([
      ['a', 2],
      ['b', 1],
    ])
  })

  it('are found by id only while they are dead', async () => {
    const dead = await given.job({ state: 'archived', payload: { n: 1 } })
    const live = await given.job()

    expect(await client.dlq.get(dead.id)).toMatchObject({ id: dead.id, payload: { n: 1 } })
    expect(await client.dlq.get(dead.id, { payload: false })).not.toHaveProperty('payload')
    expect(await client.dlq.get(live.id)).toBeUndefined()
    expect(await client.dlq.get('no number')).toBeUndefined()
  })

  it('go back with a fresh budget, and the history says who and why', async () => {
    const dead = await given.job({ state: 'archived', attempt: 5, maxAttempts: 5 })

    await client.dlq.retry(dead.id, { reason: 'gateway is back', priority: 7, payload: { n: 2 } })

    const job = await client.jobs.get(dead.id)
    expect(job).toMatchObject({ state: 'available', attempt: 0, priority: 7, payload: { n: 2 } })
    expect(job?.history?.at(-1)).toMatchObject({ type: 'retried', by: 'ann', why: 'gateway is back' })
  })

  it('go back with what is left of the budget through `jobs`', async () => {
    const dead = await given.job({ state: 'archived', attempt: 5, maxAttempts: 5 })

    await client.jobs.retry(dead.id, { actor: 'bob' })

    const job = await client.jobs.get(dead.id)
    expect(job).toMatchObject({ state: 'available', attempt: 5 })
    expect(job?.history?.at(-1)).toMatchObject({ by: 'bob' })
  })

  it('answer to the names of the source guide', async () => {
    const dead = await given.job({ state: 'archived', queue: 'a' })

    expect((await client.listDlq({ queue: 'a' })).items.map(({ id }) => id)).toEqual([dead.id])
    expect((await client.getDlqJob(dead.id))?.id).toBe(dead.id)
    expect(await client.dlqDepth('a')).toBe(1)
    expect(await client.dlqDepthByQueue()).toMatchObject([{ queue: 'a', depth: 1 }])
    expect(await client.retryFromDlq(dead.id)).toMatchObject({ id: dead.id, state: 'available' })
  })

  it.each([
    { budget: { extra: 0 } },
    { budget: 'all' as 'keep' },
    { priority: -1 },
    { queue: '' },
    { onConflict: 'allow' as 'skip' },
    { runAt: new Date(Number.NaN) },
  ])('stay where they are when the retry is refused for %j', async (options) => {
    const dead = await given.job({ state: 'archived' })

    await expect(client.dlq.retry(dead.id, options)).rejects.toMatchObject({ code: 'invalid_option' })

    expect((await client.dlq.get(dead.id))?.generation).toBe(0)
  })
})

describeStore('jobs', ({ store, given }) => {
  const client = new Client({ store })

  it('are cancelled once; a second time changes nothing', async () => {
    const job = await given.job()

    const acted = [await client.jobs.cancel(job.id), await client.jobs.cancel(job.id)]

    expect(acted).toMatchObject([
      { state: 'cancelled', changed: true },
      { state: 'cancelled', changed: false },
    ])
  })

  it('that wait are promoted, and given another time as a date or a delay', async () => {
    const job = await given.job({ state: 'scheduled' })
    const date = new Date('2100-01-01T00:00:00.000Z')

    const states = [
      (await client.jobs.promote(job.id)).state,
      (await client.jobs.reschedule(job.id, { delay: '1h' })).state,
      (await client.jobs.reschedule(job.id, date)).state,
    ]

    expect(states).toEqual(['available', 'scheduled', 'scheduled'])
    expect((await client.jobs.get(job.id))?.runAt).toEqual(date)
  })

  describe.each(['99', 'abc', '', '-1', '99999999999999999999'])('whose id is %j', (id) => {
    it('are not there to be seen, and not found to be moved', async () => {
      const moves = [
        client.jobs.retry(id),
        client.jobs.cancel(id),
        client.jobs.promote(id),
        client.jobs.reschedule(id, new Date()),
        client.dlq.retry(id),
      ]

      const outcomes = await Promise.allSettled(moves)

      expect(await client.jobs.get(id)).toBeUndefined()
      expect(outcomes.map((it) => it.status === 'rejected' && it.reason.code)).toEqual(moves.map(() => 'not_found'))
    })
  })
})

describeStore('queues', ({ store }) => {
  const client = new Client({ store })

  it('take durations as text, and keep what is not named', async () => {
    await client.queues.set('billing', { dlqEnabled: false })

    await client.queues.set('billing', { retention: { dlq: '90d', completed: 0 } })

    const { policy } = await client.queues.get('billing')
    expect(policy).toMatchObject({
      dlqEnabled: false,
      retention: { dlq: 90 * 86_400_000, completed: 0, failed: 3 * 86_400_000 },
    })
  })

  it('are paused with who and why, and resumed', async () => {
    const paused = await client.queues.pause('billing', { actor: 'ann', reason: 'gateway is down' })
    const resumed = await client.queues.resume('billing')

    expect(paused).toMatchObject({ pausedBy: 'ann', pausedReason: 'gateway is down' })
    expect(resumed.pausedAt).toBeNull()
    expect((await client.queues.list()).map(({ queue }) => queue)).toEqual(['billing'])
  })

  it('refuse a setting nobody knows', async () => {
    await expect(client.queues.set('billing', { retries: 3 } as object)).rejects.toMatchObject({
      code: 'invalid_option',
    })
  })
})

describeStore('bulk work that names nothing', ({ store, given, checker }) => {
  const client = new Client({ store })
  const act = ['retryMany', 'discardMany', 'purgeMany', 'moveMany'] as const
  const nothing = [
    {},
    { ids: [] },
    { queue: '' },
    { queue: undefined },
    { quue: 'billing' },
    { filter: {} },
    { state: 'archived' },
  ]

  it.each(act.flatMap((how) => nothing.map((selector) => [how, selector] as const)))(
    '%s(%j) is refused, and nothing is touched',
    async (how, selector) => {
      await given.job({ state: 'archived' })
      await given.job({ state: 'failed' })

      await expect(client.dlq[how](selector as object)).rejects.toMatchObject({ code: 'selector_refused' })

      expect((await client.operations.list()).items).toEqual([])
      expect(await checker.census()).toEqual({ archived: 1, failed: 1 })
    },
  )
})
