import { expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { apiOn } from './api.js'

describeStore('the metrics', ({ store, given, clock }) => {
  const api = apiOn(store)
  const ages = async () =>
    Object.fromEntries(
      [...(await api('GET //metrics')).text.matchAll(/spillway_dlq_oldest_age_seconds\{queue="(\w+)"\} ([\d.]+)/g)].map(
        ([, queue, age]) => [queue, Number(age)],
      ),
    ) as Record<string, number>

  it('tell how long the oldest dead letter has been lying there, also in a queue where nothing happens', async () => {
    await given.jobs(2, { state: 'archived', queue: 'idle' })
    const before = (await ages())['idle'] as number
    await clock.advance('2h')
    await given.jobs(3, { state: 'archived', queue: 'idle' })

    const after = (await ages())['idle'] as number

    expect(after - before).toBeGreaterThanOrEqual(7_190)
    expect(after - before).toBeLessThan(7_300)
    await api('POST /dlq/bulk-purge', {
      body: { ids: (await store.listDlq({}, { limit: 10 })).items.map(({ id }) => id) },
    })
    expect(await ages()).toEqual({})
  })
})
