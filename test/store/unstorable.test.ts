import { expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { describeStore } from '../support/store.js'

describeStore('a text with U+0000, which no store can hold,', ({ store }) => {
  const client = new Client({ store })

  it.each<[string, () => Promise<unknown>]>([
    ['a depth', () => client.dlq.depth('a\0')],
    ['a queue', () => client.queues.pause('a\0')],
    ['a mask', () => client.masking.add('a\0')],
    ['a list of the archive', async () => client.archive.list({ queue: 'a\0' })],
    ['the audit log', async () => client.audit.list({ actor: 'a\0' })],
  ])('is a fault of who asks for %s with it, not of the store', async (_, ask) => {
    await expect(ask()).rejects.toMatchObject({ code: 'invalid_option' })
  })
})
