import { expect, it } from 'vitest'
import { CONTRACT } from '../../src/http/index.js'
import { ACTION_RIGHTS, isMutation } from '../../src/http/route.js'
import { RIGHTS, type Right, ROLES } from '../../src/job/rights.js'
import { describeStore } from '../support/store.js'
import { apiOn, lineOf, ROUTE_NAMES } from './api.js'
import { SAMPLES } from './samples.js'

const asked = ROUTE_NAMES.filter((name) => CONTRACT[name].right !== 'none')
const mutations = ROUTE_NAMES.filter((name) => isMutation(CONTRACT[name]))
const everything =
  'select (select count(*) from spillway.dlq_entries), (select count(*) from spillway.ready_entries), (select count(*) from spillway.audit_log), (select count(*) from spillway.operations), (select count(*) from spillway.idempotency_keys)'

describeStore('what a token may do', ({ store, given, db }) => {
  const api = apiOn(store, { access: { tokens: true } })
  const open = apiOn(store)
  const tokenWith = async (rights: readonly Right[], queues?: string[]) =>
    (await api.client.tokens.create({ name: 'ann', rights, queues })).secret
  const rows = () => db.run({ name: 'rows', text: everything }, [])

  it.each(asked)('%s asks for a token', async (name) => {
    const { status, body, headers } = await api(lineOf(name), {
      body: CONTRACT[name].method === 'GET' ? undefined : {},
    })

    expect(status).toBe(401)
    expect(body.code).toBe('unauthenticated')
    expect(headers.get('www-authenticate')).toMatch(/^Bearer/)
  })

  it.each(asked.filter((name) => CONTRACT[name].right !== 'by_action'))(
    '%s is refused without its right, whatever else the token may do',
    async (name) => {
      const { right } = CONTRACT[name]
      await given.job({ state: 'archived' })
      const token = await tokenWith(RIGHTS.filter((it) => it !== right))
      const before = await rows()

      const { status, body } = await api(lineOf(name), {
        token,
        key: 'k',
        body: CONTRACT[name].method === 'GET' ? undefined : {},
      })

      expect(status).toBe(403)
      expect(body).toMatchObject({ code: 'forbidden', detail: expect.stringContaining(right) })
      expect(await rows()).toEqual(before)
    },
  )

  it.each(Object.entries(ACTION_RIGHTS))('the action %s is refused without the right %s', async (action, right) => {
    const id = (await given.job({ state: 'archived' })).id
    const token = await tokenWith(RIGHTS.filter((it) => it !== right))

    const named = await api('POST /jobs/actions', { token, key: 'k', body: { action, ids: [id] } })
    const many = await api('POST /jobs/bulk', { token, key: 'k', body: { action, selector: { all: true } } })

    expect(named.status).toBe(403)
    expect([403, 422]).toContain(many.status)
    expect(await store.getJob(id)).toMatchObject({ state: 'archived' })
  })

  it.each(asked)('%s is answered with its right alone', async (name) => {
    const { line, body } = await SAMPLES[name]({ given, api: open, db })
    const { right } = CONTRACT[name]
    const rights: Right[] = [right === 'by_action' ? 'retry' : (right as Right)]
    if (line.includes('include_payload')) rights.push('payload:read')
    if (name === 'createToken') rights.push(...RIGHTS)
    const token = await tokenWith(rights)
    const type = typeof body === 'string' ? { headers: { 'content-type': 'application/x-ndjson' } } : {}

    const answer = await api(line, { body, token, key: 'k', ...type })

    expect(answer.status, answer.text).toBeLessThan(300)
  })

  it('hides payloads from whoever may only read', async () => {
    const { id } = await given.job({ state: 'archived', payload: { a: 1 } })
    const token = await tokenWith(ROLES.viewer)

    expect((await api(`GET /jobs/${id}?include_payload=true`, { token })).status).toBe(403)
    expect((await api(`GET /dlq/${id}?include_payload=true`, { token })).status).toBe(403)
    expect((await api(`GET /jobs/${id}`, { token })).body).not.toHaveProperty('payload')
    expect((await api.client.audit.list({ action: 'reveal_payload' })).items).toEqual([])
  })

  it('shows no payload where it cannot note who saw it', async () => {
    const { id } = await given.job({ state: 'archived', payload: { a: 'precious' } })
    const blind = apiOn({ ...store, note: () => Promise.reject(new Error('read-only replica')) })

    const { status, text } = await blind(`GET /jobs/${id}?include_payload=true`)

    expect(status).toBe(500)
    expect(text).not.toContain('precious')
  })

  it('writes every change under the name of the token, with the request', async () => {
    const { id } = await given.job({ state: 'archived' })
    const token = await tokenWith(['retry'])

    await api(`POST /dlq/${id}/retry`, { token, body: { reason: 'fixed' }, headers: { 'x-request-id': 'r-7' } })

    const { items } = await api.client.audit.list({ action: 'retry' })
    expect(items[0]).toMatchObject({ actor: 'ann', reason: 'fixed', requestId: 'r-7' })
  })

  it('says who the caller is, and to a stranger no more than that', async () => {
    const token = await tokenWith(['read', 'retry'], ['q'])

    expect((await api('GET /meta', { token })).body).toMatchObject({
      actor: 'ann',
      rights: ['read', 'retry'],
      queues: ['q'],
    })
    expect((await api('GET /meta')).body).toMatchObject({ authentication: 'required', rights: [], queues: [] })
    expect((await api('GET /meta', { token: 'spw_1_x' })).status).toBe(401)
  })
})

describeStore('a read-only server', ({ store, given, db }) => {
  const api = apiOn(store, { readOnly: true })

  it.each(mutations)('refuses %s, and changes nothing', async (name) => {
    const { id } = await given.job({ state: 'archived' })
    const before = await db.run({ name: 'rows', text: everything }, [])

    const { status, body } = await api(lineOf(name, id), { body: {}, key: 'k' })

    expect(status).toBe(403)
    expect(body.code).toBe('read_only')
    expect(await db.run({ name: 'rows', text: everything }, [])).toEqual(before)
  })

  it('shows everything all the same', async () => {
    const { id } = await given.job({ state: 'archived' })

    expect((await api(`GET /jobs/${id}`)).status).toBe(200)
    expect((await api('GET /meta')).body.read_only).toBe(true)
  })
})
