import { expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { describeStore } from '../support/store.js'

const DAY = 86_400_000

describeStore('what left for good', ({ store, given, clock }) => {
  const client = new Client({ store, actor: 'tests' })
  const removed = async (options: Parameters<typeof client.queues.removed>[0] = {}) =>
    (await client.queues.removed(options)).map(({ queue, why, reason, count }) => `${queue} ${why} ${reason} ${count}`)

  it('is told by queue, and of what retention took by the state it was in or why it had died', async () => {
    await client.queues.set('a', { retention: { held: '1d' } })
    await given.jobs(3, { state: 'completed', queue: 'a' })
    await given.jobs(2, { state: 'failed', queue: 'a' })
    await given.jobs(1, { state: 'cancelled', queue: 'a' })
    await given.jobs(2, { state: 'archived', queue: 'a', dlqReason: 'skipped' })
    await given.jobs(1, { state: 'archived', queue: 'a', dlqReason: 'audit_2026_q2' })
    await given.jobs(2, { state: 'discarded', queue: 'a' })
    await given.jobs(1, { state: 'quarantined', queue: 'a' })
    await given.jobs(1, { state: 'undecodable', queue: 'b' })
    await given.jobs(1, { state: 'completed', queue: 'b' })
    await clock.advance('31d')

    await store.retain(1_000)

    expect(await removed()).toEqual([
      ...['a expired audit_2026_q2 1', 'a expired cancelled 1', 'a expired completed 3', 'a expired discarded 2'],
      ...['a expired failed 2', 'a expired quarantined 1', 'a expired skipped 2', 'b expired completed 1'],
    ])
    expect(await removed({ queue: 'b' })).toEqual(['b expired completed 1'])
  })

  it('is told apart from what a cap took, what somebody purged, and what is not kept at all', async () => {
    await client.queues.set('a', { dlqMaxRows: 1, retention: { cancelled: 0 } })
    await given.jobs(3, { state: 'archived', queue: 'a' })
    const { id: waiting } = await given.job({ queue: 'a' })
    const { id: done } = await given.job({ state: 'completed', queue: 'a' })

    await store.retain(1_000)
    await client.jobs.cancel(waiting)
    await client.jobs.purge(done)

    expect(await removed()).toEqual(['a evicted evicted 2', 'a not_kept cancelled 1', 'a purged purged 1'])
  })

  it('is told of the cold archive when its month goes', async () => {
    await client.queues.set('a', { coldArchive: true, retention: { completed: '1d', archive: '1d' } })
    await given.jobs(2, { state: 'completed', queue: 'a' })
    await clock.advance('2d')
    await store.retain(1_000)
    await clock.advance('40d')
    const [first] = await client.archive.months()

    await client.archive.prune(first?.month as string)

    expect(await removed()).toEqual(['a pruned archive 2'])
    expect(await removed({ since: '60d' })).toEqual(['a expired completed 2', 'a pruned archive 2'])
  })

  it('is told of the span that is asked for, also when the counts have been folded', async () => {
    await given.jobs(2, { state: 'completed', queue: 'a' })
    await clock.advance('3d')
    await store.retain(1_000)
    await clock.advance('2d')
    await store.fold(1_000)

    expect(await removed()).toEqual([])
    expect(await removed({ since: '3d' })).toEqual(['a expired completed 2'])
    expect(await removed({ since: new Date(Date.now() - 3 * DAY) })).toEqual(['a expired completed 2'])
  })

  it.each([
    [{ since: '91d' }, 'the last 90 days'],
    [{ queue: '' }, 'not empty'],
    [{ since: 'yesterday' }, 'since'],
    [{ by: 'hour' }, 'known are queue, since'],
  ])('is not told by %j', async (options, why) => {
    await expect(client.queues.removed(options as never)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(why),
    })
  })
})
