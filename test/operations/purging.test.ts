import { expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { JOB_STATES, LIVE_STATES } from '../../src/job/states.js'
import { describeStore } from '../support/store.js'
import { act, deadIds, request, stepUntil } from './bulk-work.js'

const SHARED = { queue: 'billing', kind: 'charge', tags: ['t'] } as const
const LIVE = { available: 1, scheduled: 1, retryable: 1, running: 1, waiting: 1 }
const LONG_AGO = new Date('2020-01-01T00:00:00.000Z')

describeStore('purging dead letters', ({ store, given, db, checker }) => {
  const client = new Client({ store, actor: 'ann' })

  /** Five live jobs, one of each state, and five dead ones, alike in everything a selector may name. */
  async function tenJobs(): Promise<{ live: string[]; dead: readonly string[] }> {
    const live: string[] = []
    for (const state of LIVE_STATES) live.push((await given.job({ ...SHARED, state })).id)
    return { live, dead: await given.jobs(5, { ...SHARED, state: 'archived' }) }
  }

  it.each([{ all: true }, { queue: 'billing' }, { kind: 'charge' }, { tag: 't' }, { since: LONG_AGO }])(
    'by %j takes the five dead and leaves the five live',
    async (selector) => {
      await tenJobs()

      const operation = await (await client.dlq.purgeMany(selector)).done()

      expect(operation).toMatchObject({ state: 'done', matched: 5, succeeded: 5, failed: 0 })
      expect(await checker.census()).toEqual(LIVE)
      expect(await client.dlq.depth()).toBe(0)
    },
  )

  it('by the ids of all ten takes the five dead, and says of each live one what it is', async () => {
    const { live, dead } = await tenJobs()

    const { succeeded, failed } = await client.dlq.purgeIds([...live, ...dead])

    expect([...succeeded].sort()).toEqual([...dead].sort())
    expect(failed.map(({ id, code }) => [id, code]).sort()).toEqual(live.map((id) => [id, 'invalid_state']).sort())
    expect(await checker.census()).toEqual(LIVE)
  })

  it('of the only one leaves none', async () => {
    const { id } = await given.job({ state: 'archived' })

    expect(await client.dlq.purge(id)).toMatchObject({ id, state: 'gone', changed: true })

    expect(await client.dlq.depth()).toBe(0)
    expect(await checker.census()).toEqual({})
    await expect(client.dlq.purge(id)).rejects.toMatchObject({ code: 'not_found' })
  })

  it.each(JOB_STATES.filter((state) => state !== 'archived'))('refuses one that is %s', async (state) => {
    const job = await given.job({ state })

    await expect(client.dlq.purge(job.id)).rejects.toMatchObject({ code: 'invalid_state', state })

    expect(await store.getJob(job.id, { payload: true })).toEqual(job)
  })

  it.each(JOB_STATES.filter((state) => state !== 'archived'))('refuses to select those that are %s', async (state) => {
    const job = await given.job({ state })

    const purge = async () => client.dlq.purgeMany({ all: true, state })

    await expect(purge()).rejects.toMatchObject({ code: 'selector_refused' })
    expect((await client.operations.list()).items).toEqual([])
    expect(await store.getJob(job.id, { payload: true })).toEqual(job)
  })

  it('takes what an undo brings back after it was counted, and its total says so', async () => {
    await given.jobs(2, { ...SHARED, state: 'archived' })
    const [binned = ''] = await given.jobs(1, { ...SHARED, state: 'archived' })
    const { operation } = await client.dlq.discardIds([binned])
    const { id } = await store.startOperation(request({ action: 'purge', selector: { queue: 'billing' } }), act)
    const counted = await stepUntil(store, id, 'me', ({ phase }) => phase === 'moving')
    await (await client.dlq.undo(operation.id)).done()

    const done = await stepUntil(store, id, 'me', ({ state }) => state !== 'running')

    expect(counted).toMatchObject({ matched: 2, succeeded: 0 })
    expect(done).toMatchObject({ state: 'done', matched: 3, succeeded: 3, newerLeftAlone: 0 })
    expect(await checker.census()).toEqual({})
  })

  it('leaves the 5,000 that die while it runs, whatever their time of death', async () => {
    await given.jobs(3_000, { ...SHARED, state: 'archived' })
    const { id } = await store.startOperation(request({ action: 'purge', selector: { queue: 'billing' } }), act)
    await stepUntil(store, id, 'me', ({ succeeded }) => succeeded === 1_000)
    const newer = [...(await given.jobs(2_500, { ...SHARED, state: 'archived' }))]
    await stepUntil(store, id, 'me', ({ succeeded }) => succeeded === 2_000)
    newer.push(...(await given.jobs(2_500, { ...SHARED, state: 'archived', dlqAt: LONG_AGO })))

    const done = await stepUntil(store, id, 'me', ({ state }) => state !== 'running')

    expect(done).toMatchObject({ state: 'done', matched: 3_000, succeeded: 3_000, newerLeftAlone: 5_000 })
    const left = (await db.run(deadIds, [])).map(([each]) => each)
    expect(left.sort()).toEqual(newer.sort())
  })
})
