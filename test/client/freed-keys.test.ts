import { expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import type { JobState } from '../../src/job/states.js'
import { describeStore } from '../support/store.js'

/** The ways in which an operator ends a job, or deletes what is left of it. */
const ENDS: readonly [string, JobState, (client: Client, id: string) => Promise<unknown>][] = [
  ['cancelled while it waits', 'available', (client, id) => client.jobs.cancel(id)],
  ['cancelled before its time', 'scheduled', (client, id) => client.jobs.cancel(id)],
  ['cancelled while it runs', 'running', (client, id) => client.jobs.cancel(id)],
  ['cancelled while it is held', 'quarantined', (client, id) => client.jobs.cancel(id)],
  ['killed', 'retryable', (client, id) => client.jobs.kill(id)],
  ['purged', 'archived', (client, id) => client.dlq.purge(id)],
  ['purged in bulk', 'archived', async (client) => (await client.dlq.purgeMany({ all: true })).done()],
  ['discarded', 'archived', (client, id) => client.dlq.discard(id)],
  [
    'killed and purged',
    'available',
    async (client, id) => {
      await client.jobs.kill(id)
      await client.dlq.purge(id)
    },
  ],
]

describeStore('the unique key of a job', ({ store, given }) => {
  const client = new Client({ store })

  it.each(ENDS)('that was %s is free at once', async (_, state, end) => {
    const { id } = await given.job({ state, uniqueKey: 'order-1' })

    await end(client, id)
    const next = await client.enqueue('test', {}, { unique: { key: 'order-1', onConflict: 'fail' } })

    expect(next).toMatchObject({ inserted: true })
    expect(next.id).not.toBe(id)
    expect(await client.jobs.get(next.id)).toMatchObject({ state: 'available', uniqueKey: 'order-1' })
  })
})
