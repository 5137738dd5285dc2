import { expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { act, carryOut, FRESH, request } from './bulk-work.js'

describeStore('bulk retries of jobs whose key another job has', ({ store, given }) => {
  const all = { all: true }

  it('fail them, and list them', async () => {
    const holder = await given.job({ uniqueKey: 'k' })
    const dead = await given.job({ state: 'archived', uniqueKey: 'k' })
    await given.jobs(2, { state: 'archived' })

    const operation = await carryOut(store, { selector: all })

    expect(operation).toMatchObject({ matched: 3, succeeded: 2, failed: 1, skipped: 0 })
    expect((await store.operationRows(operation.id, { limit: 9 })).items).toEqual([
      { id: dead.id, outcome: 'failed', code: 'unique_conflict', message: expect.stringContaining('"k"') },
    ])
    expect(await store.getJob(dead.id, { payload: true })).toEqual(dead)
    expect(await store.getJob(holder.id, { payload: true })).toEqual(holder)
  })

  it('skip them where asked to', async () => {
    await given.job({ uniqueKey: 'k' })
    const dead = await given.job({ state: 'archived', uniqueKey: 'k' })

    const operation = await carryOut(store, { selector: all, retry: { ...FRESH, onConflict: 'skip' } })

    expect(operation).toMatchObject({ state: 'done', matched: 1, succeeded: 0, failed: 0, skipped: 1 })
    expect(await store.getJob(dead.id, { payload: true })).toEqual(dead)
  })

  it.each(['available', 'scheduled', 'retryable', 'waiting', 'quarantined'] as const)(
    'replace a holder that is %s where asked to',
    async (state) => {
      const holder = await given.job({ state, uniqueKey: 'k' })
      const dead = await given.job({ state: 'archived', uniqueKey: 'k' })
      await given.jobs(2, { state: 'archived' })

      const operation = await carryOut(store, { selector: all, retry: { ...FRESH, onConflict: 'replace' } })

      expect(operation).toMatchObject({ state: 'done', matched: 3, succeeded: 3, failed: 0, skipped: 0 })
      expect(await store.getJob(dead.id)).toMatchObject({ state: 'available', generation: 1 })
      expect(await store.getJob(holder.id)).toMatchObject({
        state: 'cancelled',
        reason: `replaced by a retry of job ${dead.id}`,
      })
      expect((await store.operationRows(operation.id, { limit: 9 })).items).toEqual([])
    },
  )

  it('leave a holder that runs, and the dead job, and say so', async () => {
    const holder = await given.job({ state: 'running', uniqueKey: 'k' })
    const dead = await given.job({ state: 'archived', uniqueKey: 'k' })

    const operation = await carryOut(store, { selector: all, retry: { ...FRESH, onConflict: 'replace' } })

    expect(operation).toMatchObject({ state: 'done', matched: 1, succeeded: 0, failed: 1 })
    expect((await store.operationRows(operation.id, { limit: 9 })).items).toMatchObject([
      { id: dead.id, outcome: 'failed', code: 'unique_conflict', message: expect.stringContaining(`job ${holder.id}`) },
    ])
    expect(await store.getJob(holder.id)).toMatchObject({ state: 'running' })
    expect(await store.getJob(dead.id, { payload: true })).toEqual(dead)
  })

  it('let the oldest of several dead jobs of one key have it, and cancel none of them', async () => {
    await given.job({ uniqueKey: 'k' })
    const ids = await given.jobs(3, { state: 'archived', uniqueKey: 'k' })

    const operation = await carryOut(store, { selector: all, retry: { ...FRESH, onConflict: 'replace' } })

    expect(operation).toMatchObject({ matched: 3, succeeded: 1, failed: 2 })
    const states = await Promise.all(ids.map(async (id) => (await store.getJob(id))?.state))
    expect(states).toEqual(['available', 'archived', 'archived'])
  })

  it('do the same for ids, at once', async () => {
    await given.job({ uniqueKey: 'a' })
    await given.job({ state: 'running', uniqueKey: 'b' })
    const [replacing] = await given.jobs(1, { state: 'archived', uniqueKey: 'a' })
    const [blocked] = await given.jobs(1, { state: 'archived', uniqueKey: 'b' })
    const [free] = await given.jobs(1, { state: 'archived' })
    const ids = [replacing, blocked, free, 'x', '77777777'] as string[]

    const asked = request({ selector: { ids }, retry: { ...FRESH, onConflict: 'replace' } })
    const { succeeded, failed, operation } = await store.actOnIds(ids, asked, act)

    expect([...succeeded].sort()).toEqual([replacing, free].sort())
    expect(failed.map(({ id, code }) => [id, code]).sort()).toEqual(
      [
        [blocked, 'unique_conflict'],
        ['x', 'not_found'],
        ['77777777', 'not_found'],
      ].sort() as never,
    )
    expect(operation).toMatchObject({ state: 'done', succeeded: 2 })
  })

  it('bring back a job whose key a finished one had: it runs again', async () => {
    await given.job({ state: 'completed', uniqueKey: 'k' })
    const [dead] = await given.jobs(1, { state: 'archived', uniqueKey: 'k' })

    expect(await carryOut(store, { selector: all })).toMatchObject({ succeeded: 1, failed: 0 })

    expect(await store.getJob(dead as string)).toMatchObject({ state: 'available', uniqueKey: 'k' })
  })
})
