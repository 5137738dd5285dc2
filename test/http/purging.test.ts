import { expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { apiOn } from './api.js'

describeStore('purging by id over HTTP', ({ store, given }) => {
  const api = apiOn(store)

  it.each(['jobs/actions', 'jobs/bulk'])(
    'takes any job that is not live, and leaves the others: POST /%s',
    async (path) => {
      const completed = await given.job({ state: 'completed' })
      const cancelled = await given.job({ state: 'cancelled' })
      const dead = await given.job({ state: 'archived' })
      const held = await given.job({ state: 'undecodable' })
      const live = await given.job({ state: 'available' })
      const ids = [completed, cancelled, dead, held, live].map(({ id }) => id)

      const { status, body } = await api(`POST /${path}`, { key: 'k', body: { action: 'purge', ids } })

      expect(status).toBe(200)
      expect([...body.succeeded].sort()).toEqual(ids.slice(0, 4).sort())
      expect(body.failed).toMatchObject([{ id: live.id, code: 'invalid_state' }])
      expect(await Promise.all(ids.map(async (id) => (await store.getJob(id))?.state))).toEqual([
        ...[undefined, undefined, undefined, undefined],
        'available',
      ])
    },
  )

  it('takes dead letters and nothing else under /dlq', async () => {
    const completed = await given.job({ state: 'completed' })
    const dead = await given.job({ state: 'archived' })

    const { body } = await api('POST /dlq/bulk-purge', { key: 'k', body: { ids: [completed.id, dead.id] } })

    expect(body.succeeded).toEqual([dead.id])
    expect(body.failed).toMatchObject([{ id: completed.id, code: 'invalid_state' }])
  })
})
