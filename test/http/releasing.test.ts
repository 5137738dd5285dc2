import { expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { apiOn } from './api.js'

describeStore('releasing held jobs that are named', ({ store, given }) => {
  const api = apiOn(store, { access: { tokens: true } })
  const release = async (ids: readonly string[], ...queues: string[]) => {
    const token = await api.client.tokens.create({
      ...{ name: 'ann', role: 'operator' },
      ...(queues.length === 0 ? {} : { queues }),
    })
    const body = { action: 'release', ids, reason: 'fixed in 2.4.1' }
    return (await api('POST /jobs/actions', { token: token.secret, key: 'k', body })).body
  }
  const held = (settings: object = {}) => given.job({ state: 'quarantined', fingerprint: 'ab'.repeat(16), ...settings })

  it('lets those go that can, and says of each other one why it stays', async () => {
    const [first, second] = [await held(), await held()]
    const [unread, waiting] = [await given.job({ state: 'undecodable', kind: 'k' }), await given.job()]

    const { succeeded, failed } = await release([first.id, second.id, unread.id, waiting.id, '424242'])

    expect([...succeeded].sort()).toEqual([first.id, second.id].sort())
    expect(Object.fromEntries(failed.map(({ id, code }: { id: string; code: string }) => [id, code]))).toEqual({
      [unread.id]: 'not_checked',
      [waiting.id]: 'invalid_state',
      424242: 'not_found',
    })
    expect(await store.getJob(first.id)).toMatchObject({ state: 'available' })
    expect(await store.getJob(unread.id)).toMatchObject({ state: 'undecodable' })
  })

  it('reaches no job of a queue that the token is not for', async () => {
    const [mine, theirs] = [await held({ queue: 'mine' }), await held({ queue: 'theirs' })]

    const answer = await release([mine.id, theirs.id], 'mine')

    expect(answer).toMatchObject({ succeeded: [mine.id], failed: [{ id: theirs.id, code: 'not_found' }] })
    expect(await store.getJob(theirs.id)).toMatchObject({ state: 'quarantined' })
  })
})
