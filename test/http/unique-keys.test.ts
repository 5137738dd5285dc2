import { expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { apiOn } from './api.js'

describeStore('a unique key, which is one of all queues,', ({ store, given }) => {
  const api = apiOn(store, { access: { tokens: true } })
  const tokenOf = async (...queues: string[]) =>
    (await api.client.tokens.create({ name: 'ann', role: 'admin', queues })).secret
  const replacing = (queue: string) => ({ kind: 'k', queue, unique: { key: 'u', on_conflict: 'replace' } })

  it.each([undefined, 'key'])(
    'is taken from no job of a queue that the token does not reach (Idempotency-Key: %s)',
    async (key) => {
      const holder = await given.job({ id: '800042800042', queue: 'theirs', uniqueKey: 'u' })
      const dead = await given.job({ state: 'archived', queue: 'mine', uniqueKey: 'u' })
      const done = await given.job({ state: 'completed', queue: 'mine', uniqueKey: 'u' })
      const ask = { token: await tokenOf('mine'), ...(key !== undefined && { key }) }

      for (const [line, body] of [
        ['POST /jobs', replacing('mine')],
        ['POST /jobs', { ...replacing('mine'), unique: { key: 'u', on_conflict: 'fail' } }],
        [`POST /dlq/${dead.id}/retry`, { on_conflict: 'replace' }],
        [`POST /jobs/${dead.id}/retry`, { on_conflict: 'fail' }],
        [`POST /jobs/${done.id}/clone`, {}],
      ] as const) {
        const answer = await api(line, { ...ask, body })
        expect(answer, line).toMatchObject({ status: 409, body: { code: 'unique_conflict' } })
        expect(answer.text, line).not.toContain(holder.id)
        expect(answer.text, line).not.toContain('theirs')
      }
      expect(await store.getJob(holder.id)).toMatchObject({ state: 'available' })
      expect(await store.getJob(dead.id)).toMatchObject({ state: 'archived' })
    },
  )

  it.each([undefined, 'key'])('is taken from one that it reaches (Idempotency-Key: %s)', async (key) => {
    const ask = { token: await tokenOf('mine', 'also'), ...(key !== undefined && { key }) }
    const holder = await given.job({ queue: 'also', uniqueKey: 'u' })

    const enqueued = await api('POST /jobs', { ...ask, body: replacing('mine') })
    const dead = await given.job({ state: 'archived', queue: 'mine', uniqueKey: 'u' })
    const retried = await api(`POST /dlq/${dead.id}/retry`, { ...ask, body: { on_conflict: 'replace' } })

    expect([enqueued.status, retried.status]).toEqual([201, 200])
    expect(await store.getJob(holder.id)).toMatchObject({ state: 'cancelled' })
    expect(await store.getJob(enqueued.body.id)).toMatchObject({ state: 'cancelled' })
    expect(await store.getJob(dead.id)).toMatchObject({ state: 'available' })
  })

  it('is taken in bulk by nobody who reaches some queues only', async () => {
    const { id } = await given.job({ state: 'archived', queue: 'mine', uniqueKey: 'u' })
    const token = await tokenOf('mine')

    for (const [line, body] of [
      ['POST /dlq/bulk-retry', { selector: { all: true }, on_conflict: 'replace' }],
      ['POST /dlq/bulk-retry', { ids: [id], on_conflict: 'replace' }],
      ['POST /jobs/bulk', { action: 'retry', selector: { all: true }, on_conflict: 'replace' }],
      ['POST /jobs/actions', { action: 'retry', ids: [id], on_conflict: 'replace' }],
    ] as const) {
      expect(await api(line, { token, body, key: 'k' }), line).toMatchObject({
        status: 403,
        body: { code: 'forbidden', detail: expect.stringContaining('one by one') },
      })
    }
    expect(await store.getJob(id)).toMatchObject({ state: 'archived' })
  })
})
