import { expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { apiOn } from './api.js'

const of = (items: { id: string }[]) => items.map(({ id }) => id).sort()

describeStore('tokens of one name and different queues', ({ store, given }) => {
  const api = apiOn(store, { access: { tokens: true } })
  const tokenOf = async (...queues: string[]) =>
    (await api.client.tokens.create({ name: 'ann', role: 'admin', ...(queues.length > 0 && { queues }) })).secret

  it('know, and steer, the bulk work on their own queues alone', async () => {
    const [whole, theirs, mine] = [await tokenOf(), await tokenOf('theirs'), await tokenOf('mine')]
    await given.jobs(2, { state: 'archived', queue: 'theirs' })
    const begin = async (token: string, body: object) => (await api('POST /dlq/bulk-discard', { token, body })).body.id
    const all = { selector: { all: true } }
    const others = [
      await begin(whole, all),
      await begin(theirs, all),
      await begin(whole, { ...all, dry_run: true }),
      await begin(theirs, { ...all, dry_run: true }),
    ]
    const own = await begin(mine, all)

    expect(of((await api('GET /operations', { token: mine })).body.items)).toEqual([own])
    for (const id of others) {
      for (const line of ['GET', 'PATCH'].map((it) => `${it} /operations/${id}`)) {
        const body = line.startsWith('GET') ? undefined : { rate: 1 }
        expect((await api(line, { token: mine, body })).status, line).toBe(404)
      }
      for (const verb of ['pause', 'resume', 'cancel', 'undo']) {
        expect((await api(`POST /operations/${id}/${verb}`, { token: mine })).status, verb).toBe(404)
      }
      expect((await api(`GET /operations/${id}/rows`, { token: mine })).status).toBe(404)
      expect((await api('POST /dlq/bulk-discard', { token: mine, body: { preview: id } })).status).toBe(404)
    }
    expect((await store.dlqDepth()).total).toBe(2)
  })

  it('take back what they did to named jobs, where these are theirs', async () => {
    const [mine, theirs] = [await tokenOf('mine'), await tokenOf('theirs')]
    const discard = async (token: string, queue: string) => {
      const { id } = await given.job({ state: 'archived', queue })
      return (await api('POST /dlq/bulk-discard', { token, body: { ids: [id] } })).body.operation.id
    }
    const [own, other] = [await discard(mine, 'mine'), await discard(theirs, 'theirs')]

    const undone = await api(`POST /operations/${own}/undo`, { token: mine })
    const refused = await api(`POST /operations/${other}/undo`, { token: mine })

    expect(undone.status).toBe(202)
    expect(await api.client.operations.run(undone.body.id)).toMatchObject({ succeeded: 1 })
    expect(refused).toMatchObject({ status: 404, body: { code: 'operation_not_found' } })
  })

  it('are told of no deed that names other queues, or all of them', async () => {
    const [whole, theirs, mine] = [await tokenOf(), await tokenOf('theirs'), await tokenOf('mine', 'also')]
    await api('POST /queues/theirs/pause', { token: theirs })
    await api('POST /dlq/bulk-discard', { token: theirs, body: { selector: { all: true } } })
    await api('POST /dlq/bulk-discard', { token: whole, body: { selector: { all: true } } })
    await api('POST /queues/mine/pause', { token: whole })
    const begun = await api('POST /dlq/bulk-discard', { token: mine, body: { selector: { all: true } } })

    const { items } = (await api('GET /audit', { token: mine })).body
    const deeds = items.filter((it: { action: string }) => it.action !== 'create_token')

    expect(begun.status).toBe(202)
    expect(deeds.map((it: { target: object }) => it.target)).toEqual([
      expect.objectContaining({ selector: { all: true, queues: ['mine', 'also'] } }),
      { queue: 'mine' },
    ])
  })

  it('do not answer each other’s idempotency keys', async () => {
    const [mine, theirs] = [await tokenOf('mine'), await tokenOf('theirs')]
    const { id } = await given.job({ state: 'archived', queue: 'theirs' })
    const line = `POST /dlq/${id}/retry`

    const first = await api(line, { token: theirs, key: 'k' })
    const other = await api(line, { token: mine, key: 'k' })
    const again = await api(line, { token: theirs, key: 'k' })

    expect(first.status).toBe(200)
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
  })
})
