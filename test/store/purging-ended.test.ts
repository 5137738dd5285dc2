import { expect, it } from 'vitest'
import { statesAccepting } from '../../src/job/lifecycle.js'
import { JOB_STATES } from '../../src/job/states.js'
import type { BulkRequest } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'

const act = { actor: 'ann', reason: 'a test', requestId: 'r1' }
const purgeable = statesAccepting('purge')
// Dead letters are purged by an operation.
const ended = purgeable.filter((state) => state !== 'archived')

describeStore('purging one job', ({ store, given, inTransaction }) => {
  it.each(ended)('takes one that is %s for good, with what is kept about it, and says who did it', async (state) => {
    const { id } = await given.job({ state })

    const acted = await store.purgeJob(id, act)

    expect(acted).toEqual({ id, state: 'gone', changed: true })
    expect(await store.getJob(id)).toBeUndefined()
    expect((await store.listAudit({ action: 'purge' }, { limit: 5 })).items).toMatchObject([
      { actor: 'ann', target: { id }, reason: 'a test', result: { from: state, state: 'gone' }, requestId: 'r1' },
    ])
  })

  it.each(JOB_STATES.filter((state) => !purgeable.includes(state)))('leaves one that is %s alone', async (state) => {
    const job = await given.job({ state })

    await expect(store.purgeJob(job.id, act)).rejects.toMatchObject({ code: 'invalid_state', state })

    expect(await store.getJob(job.id, { payload: true })).toEqual(job)
  })

  it('finds none that is nowhere, also the second time', async () => {
    const { id } = await given.job({ state: 'completed' })
    await store.purgeJob(id, act)

    await expect(store.purgeJob(id, act)).rejects.toMatchObject({ code: 'not_found' })
    await expect(store.purgeJob('x', act)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('frees the key of one that was held', async () => {
    const { id } = await given.job({ state: 'quarantined', uniqueKey: 'u' })

    await store.purgeJob(id, act)

    const other = await given.job({ uniqueKey: 'u' })
    expect(await store.getJob(other.id)).toMatchObject({ uniqueKey: 'u' })
  })

  it('waits for whoever has the job, and then sees it where it is', async () => {
    const { id } = await given.job({ state: 'completed' })
    let purged: Promise<unknown> = Promise.resolve()

    await inTransaction(async (tx) => {
      await tx.execute(`delete from spillway.terminal_entries where id = ${id}`)
      purged = store.purgeJob(id, act).catch((error: unknown) => error)
    })

    expect(await purged).toMatchObject({ code: 'not_found' })
  }, 30_000)
})

describeStore('one dead letter', ({ store, given }) => {
  const discard: BulkRequest = {
    action: 'discard',
    ...{ selector: {}, dryRun: false, rate: null, maxWaiting: 0, canary: null, abortAbove: 0 },
    ...{ holdMs: 1, preview: null },
  }

  it('is acted on with an operation to undo it by', async () => {
    const { id } = await given.job({ state: 'archived' })

    const done = await store.actOnOne(id, discard, act)

    expect(done).toEqual({ operation: expect.any(String) })
    expect(await store.getJob(id)).toMatchObject({ state: 'discarded' })
  })

  it('that is none leaves nothing, the operation included', async () => {
    const { id } = await given.job({ state: 'running' })

    expect(await store.actOnOne(id, discard, act)).toEqual({ refused: 'invalid_state' })
    expect(await store.actOnOne('99', discard, act)).toEqual({ refused: 'not_found' })
    expect(await store.actOnOne('x', discard, act)).toEqual({ refused: 'not_found' })

    expect((await store.listOperations({ limit: 5 })).items).toEqual([])
    expect((await store.listAudit({}, { limit: 5 })).items).toEqual([])
  })
})

describeStore('counting dead letters', ({ store, given }) => {
  it('by queue, kind and cause is exact, before and after the counts are folded', async () => {
    await given.jobs(3, { state: 'archived', queue: 'a', kind: 'x', cause: 'c1' })
    await given.jobs(2, { state: 'archived', queue: 'b', kind: 'x', cause: 'c2' })
    await given.jobs(4, { state: 'archived', queue: 'b', kind: 'y', cause: 'c3' })
    const counts = async () => [
      ...[await store.countDlq({}), await store.countDlq({ queue: 'a' }), await store.countDlq({ queues: ['a', 'b'] })],
      ...[await store.countDlq({ kind: 'x' }), await store.countDlq({ queue: 'b', kind: 'x' })],
      ...[await store.countDlq({ cause: 'c3' }), await store.countDlq({ queue: 'a', cause: 'c3' })],
    ]

    const before = await counts()
    await store.fold(1_000)

    expect(before).toEqual([9, 3, 9, 5, 2, 4, 0])
    expect(await counts()).toEqual(before)
  })
})
