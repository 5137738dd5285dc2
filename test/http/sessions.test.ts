import { expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { type Api, type Ask, apiOn } from './api.js'

const OWN = { origin: 'http://127.0.0.1:8080', 'x-spillway-csrf': '1' }

async function signIn(api: Api, token: string, ask: Ask = {}) {
  const answer = await api('POST /session', { ...ask, body: { token } })
  const said = answer.headers.get('set-cookie') ?? ''
  return { answer, said, cookie: said.split(';')[0] ?? '' }
}

describeStore('a browser that has signed in', ({ store, given, db, clock }) => {
  const api = apiOn(store, { access: { tokens: true } })
  const tokenOf = (over: Partial<Parameters<Api['client']['tokens']['create']>[0]> = {}) =>
    api.client.tokens.create({ name: 'ann', role: 'operator', ...over })

  it('holds a cookie that no script reads and no other site sends, for 12 hours at most', async () => {
    const { secret } = await tokenOf()

    const { answer, said } = await signIn(api, secret)

    expect(answer).toMatchObject({
      status: 200,
      body: { signed_in: true, actor: 'ann', role: 'operator', queues: null, authentication: 'required' },
    })
    expect(said).toMatch(/^spillway_session=[\w-]{43}; Path=\/; Max-Age=4\d{4}; HttpOnly; SameSite=Strict$/)
    expect(Number(/Max-Age=(\d+)/.exec(said)?.[1])).toBeLessThanOrEqual(43_200)
    expect(said).not.toContain(secret)
  })

  it.each([
    ['over https', {}, 'https://api.example', {}, true],
    [
      'behind a proxy that is trusted',
      { trustProxy: true },
      'http://api.example',
      { 'x-forwarded-proto': 'https' },
      true,
    ],
    ['behind nobody who is trusted', {}, 'http://api.example', { 'x-forwarded-proto': 'https' }, false],
    ['over http', { trustProxy: true }, 'http://api.example', {}, false],
  ] as const)('says it only to TLS %s', async (_, options, origin, headers, isSecure) => {
    const { secret } = await tokenOf()
    const other = apiOn(store, { access: { tokens: true }, ...options })

    const { said } = await signIn(other, secret, { origin, headers })

    expect(said.endsWith('; Secure')).toBe(isSecure)
  })

  it('sends it nowhere but to where the API is mounted', async () => {
    const { secret } = await tokenOf()
    const mounted = apiOn(store, { access: { tokens: true }, basePath: '/admin/queues' })

    const answer = await mounted('POST //admin/queues/api/v1/session', { body: { token: secret } })

    expect(answer.headers.get('set-cookie')).toContain('; Path=/admin/queues;')
  })

  it('is stored by the hash of its secret, and its token not at all', async () => {
    const { secret } = await tokenOf()

    const { cookie } = await signIn(api, secret)

    const rows = JSON.stringify(
      await db.run({ name: 'all', text: 'select row_to_json(s) from spillway.api_sessions s' }, []),
    )
    expect(rows).toContain('expires_at')
    expect(rows).not.toContain(cookie.split('=')[1])
    expect(rows).not.toContain(secret.split('_').slice(2).join('_'))
  })

  it('reads, and acts under the name of the token', async () => {
    const { id } = await given.job({ state: 'archived', queue: 'q' })
    const { cookie } = await signIn(api, (await tokenOf({ queues: ['q'] })).secret)

    const list = await api('GET /dlq', { headers: { cookie } })
    const retry = await api(`POST /dlq/${id}/retry`, { headers: { cookie, ...OWN } })

    expect(list.body.items).toMatchObject([{ id }])
    expect(retry.status).toBe(200)
    expect((await api.client.audit.list({ action: 'retry' })).items).toMatchObject([{ actor: 'ann' }])
    expect((await api('GET /queues/other', { headers: { cookie } })).status).toBe(403)
  })

  it.each([
    ['that says nothing', {}],
    ['without the header', { origin: OWN.origin, 'sec-fetch-site': 'same-origin' }],
    ['with the header and no origin', { 'x-spillway-csrf': '1' }],
    ['of another origin', { ...OWN, origin: 'https://evil.example' }],
    ['of another port', { ...OWN, origin: 'http://127.0.0.1:9090' }],
    ['of nowhere', { ...OWN, origin: 'null' }],
    ['of a sibling', { ...OWN, 'sec-fetch-site': 'same-site' }],
    ['of another site', { ...OWN, 'sec-fetch-site': 'cross-site' }],
    ['of a link', { ...OWN, 'sec-fetch-site': 'none' }],
  ])('changes nothing for a page %s', async (_, headers) => {
    const { id } = await given.job({ state: 'archived' })
    const { cookie } = await signIn(api, (await tokenOf({ role: 'admin' })).secret)

    for (const line of [`POST /dlq/${id}/retry`, `DELETE /jobs/${id}`, 'DELETE /session', 'POST /dlq/export']) {
      const answer = await api(line, { headers: { cookie, ...headers } })
      expect(answer, line).toMatchObject({ status: 403, body: { code: 'cross_origin' } })
    }

    expect(await store.getJob(id)).toMatchObject({ state: 'archived' })
    expect((await api('GET /jobs', { headers: { cookie } })).status).toBe(200)
  })

  it('shows nothing to pages of others, and its own pages everything', async () => {
    const { id } = await given.job({ state: 'archived', payload: { a: 'precious' } })
    const { cookie } = await signIn(api, (await tokenOf()).secret)
    const look = (headers: object) =>
      api(`GET /jobs/${id}?include_payload=true`, { headers: { cookie, ...(headers as Record<string, string>) } })

    for (const site of ['cross-site', 'same-site']) expect((await look({ 'sec-fetch-site': site })).status).toBe(403)
    expect((await api.client.audit.list({ action: 'reveal_payload' })).items).toEqual([])
    for (const site of ['same-origin', 'none']) expect((await look({ 'sec-fetch-site': site })).status).toBe(200)
    expect((await api('GET /events', { headers: { cookie } })).headers.get('content-type')).toBe('text/event-stream')
  })

  it('is signed out at once, wherever else its cookie is', async () => {
    const { cookie } = await signIn(api, (await tokenOf()).secret)

    const left = await api('DELETE /session', { headers: { cookie, ...OWN } })

    expect(left.body).toEqual({ signed_in: false })
    expect(left.headers.get('set-cookie')).toMatch(/^spillway_session=; Path=\/; Max-Age=0; HttpOnly/)
    expect((await api('GET /jobs', { headers: { cookie } })).status).toBe(401)
    expect((await api('DELETE /session', { headers: OWN })).status).toBe(200)
  })

  it('is out when its token is revoked, when that ends, and after 12 hours', async () => {
    const [first, short, long] = [
      await tokenOf({ expiresIn: '30d' }),
      await tokenOf({ expiresIn: '1h' }),
      await tokenOf({ expiresIn: '30d' }),
    ]
    const cookies = [
      await signIn(api, first.secret),
      await signIn(api, short.secret),
      await signIn(api, long.secret),
    ].map(({ cookie }) => cookie)
    const statuses = () =>
      Promise.all(cookies.map(async (cookie) => (await api('GET /jobs', { headers: { cookie } })).status))
    expect(await statuses()).toEqual([200, 200, 200])

    await api.client.tokens.revoke(first.id)
    expect(await statuses()).toEqual([401, 200, 200])
    await clock.advance('2h')
    expect(await statuses()).toEqual([401, 401, 200])
    await clock.advance('11h')
    expect(await statuses()).toEqual([401, 401, 401])
    // What is over goes with the next one that is opened.
    await signIn(api, long.secret)
    expect(await db.run({ name: 'n', text: 'select count(*) from spillway.api_sessions' }, [])).toEqual([['1']])
  })

  it('stands in the audit log as it comes and goes, with its token, its address and the request', async () => {
    const { id, secret } = await tokenOf()
    const [address, headers] = ['10.0.0.1', (name: string) => ({ 'x-request-id': name })]

    const { cookie } = await signIn(api, secret, { address, headers: headers('r-in') })
    await api('DELETE /session', { address, headers: { cookie, ...OWN, ...headers('r-out') } })
    await api('DELETE /session', { address, headers: { cookie, ...OWN } })

    const target = { token: id, name: 'ann', address }
    expect((await api.client.audit.list({ actor: 'ann' })).items).toMatchObject([
      { action: 'sign_out', target, result: null, requestId: 'r-out' },
      { action: 'sign_in', target, result: { expires_at: expect.stringMatching(/^\d{4}-.*Z$/) }, requestId: 'r-in' },
    ])
    const rows = JSON.stringify(
      await db.run({ name: 'audits', text: 'select row_to_json(a) from spillway.audit_log a' }, []),
    )
    for (const hidden of [secret.slice(-43), cookie.split('=')[1] as string]) expect(rows).not.toContain(hidden)
  })

  it('neither comes nor goes where the audit log cannot be written', async () => {
    const { secret } = await tokenOf()
    const { cookie } = await signIn(api, secret)
    await db.script(`
      create function spillway.no_audit() returns trigger language plpgsql as $$ begin raise 'no audit'; end $$;
      create trigger no_audit before insert on spillway.audit_log for each row execute function spillway.no_audit()`)

    try {
      const refused = await signIn(api, secret)
      const stays = await api('DELETE /session', { headers: { cookie, ...OWN } })

      expect(refused).toMatchObject({ answer: { status: 500 }, said: '' })
      expect(stays.status).toBe(500)
      expect((await api('GET /jobs', { headers: { cookie } })).status).toBe(200)
      expect(await db.run({ name: 'n', text: 'select count(*) from spillway.api_sessions' }, [])).toEqual([['1']])
    } finally {
      await db.script('drop trigger no_audit on spillway.audit_log; drop function spillway.no_audit()')
    }
  })

  it('is in the audit log without what it said where its token is not valid, 20 times a minute at most', async () => {
    const wrong = `spw_1_${'g'.repeat(43)}`
    const address = '10.0.0.1'
    const other = apiOn(store, { access: { tokens: true } })

    await signIn(other, wrong, { address, headers: { 'x-request-id': 'r-1' } })
    const [entry] = (await api.client.audit.list({}, { limit: 1 })).items
    for (let n = 0; n < 30; n++) await signIn(other, wrong, { address })
    await signIn(other, wrong, { address: '10.0.0.2', headers: { origin: 'https://evil.example' } })

    expect(entry).toMatchObject({
      ...{ actor: 'anonymous', action: 'sign_in_refused', target: { address }, requestId: 'r-1' },
    })
    const all = (await api.client.audit.list({ action: 'sign_in_refused' })).items
    expect(all).toHaveLength(20)
    expect(JSON.stringify(all)).not.toContain('ggg')
  })

  it('does not fill the audit log from many addresses: a hundred refused ones a minute are enough', async () => {
    const other = apiOn(store, { access: { tokens: true } })

    for (let n = 0; n < 120; n++) await signIn(other, 'wrong', { address: `10.0.1.${n}` })

    const all = await other.client.audit.list({ action: 'sign_in_refused' }, { limit: 1_000 })
    expect(all.items).toHaveLength(100)
  })

  it('is asked who it is, and is a stranger with a cookie that is over', async () => {
    const { cookie } = await signIn(api, (await tokenOf({ role: 'viewer', queues: ['q'] })).secret)

    const known = await api('GET /session', { headers: { cookie } })
    const meta = await api('GET /meta', { headers: { cookie } })
    const stale = await api('GET /session', { headers: { cookie: `spillway_session=${'x'.repeat(43)}` } })

    expect(known.body).toMatchObject({
      ...{ signed_in: true, actor: 'ann', role: 'viewer', rights: ['read'], queues: ['q'], read_only: false },
      expires_at: expect.any(String),
    })
    expect(meta.body).toMatchObject({ ...known.body, version: expect.any(String) })
    expect(stale).toMatchObject({ status: 200, body: { signed_in: false, sessions: true, rights: [], queues: [] } })
  })

  it('waits after too many tokens that are wrong, as others do, and not for cookies that are over', async () => {
    const { secret } = await tokenOf()
    const address = '10.0.0.1'
    for (let n = 0; n < 25; n++) {
      await api('GET /jobs', { address, headers: { cookie: `spillway_session=${'x'.repeat(43)}` } })
    }
    expect((await signIn(api, secret, { address })).answer.status).toBe(200)

    const wrong = []
    for (let n = 0; n < 21; n++) wrong.push((await signIn(api, `spw_1_${'g'.repeat(43)}`, { address })).answer.status)

    expect(wrong.slice(0, 20).every((status) => status === 401)).toBe(true)
    expect(wrong.at(-1)).toBe(429)
    expect((await signIn(api, secret, { address })).answer.status).toBe(429)
    expect((await api('GET /jobs', { token: secret, address })).status).toBe(429)
    expect((await signIn(api, secret, { address: '10.0.0.2' })).answer.status).toBe(200)
  })

  it('behind a trusted proxy is told from its neighbours', async () => {
    const behind = apiOn(store, { access: { tokens: true }, trustProxy: true })
    const { secret } = await tokenOf()
    const from = (last: string) => ({ address: '10.9.9.9', headers: { 'x-forwarded-for': `1.1.1.1, ${last}` } })
    for (let n = 0; n < 21; n++) await signIn(behind, 'wrong', from('10.0.0.1'))

    expect((await signIn(behind, secret, from('10.0.0.1'))).answer.status).toBe(429)
    expect((await signIn(behind, secret, from('10.0.0.2'))).answer.status).toBe(200)
  })

  it('is not signed in by a page of somebody else, nor where nobody needs to be', async () => {
    const { secret } = await tokenOf()

    const forced = await signIn(api, secret, { headers: { origin: 'https://evil.example' } })
    const open = await signIn(apiOn(store), secret)
    const readOnly = await signIn(apiOn(store, { access: { tokens: true }, readOnly: true }), secret)

    expect(forced).toMatchObject({ answer: { status: 403, body: { code: 'cross_origin' } }, said: '' })
    expect(open).toMatchObject({ answer: { status: 422, body: { code: 'invalid_option' } }, said: '' })
    expect(readOnly.answer.body).toMatchObject({ signed_in: true, read_only: true })
  })

  it('is not looked at where a token is sent too', async () => {
    const { id } = await given.job({ state: 'archived' })
    const { cookie } = await signIn(api, (await tokenOf({ role: 'admin' })).secret)
    const viewer = (await tokenOf({ role: 'viewer' })).secret
    const operator = (await tokenOf()).secret

    expect((await api(`POST /dlq/${id}/retry`, { token: viewer, headers: { cookie, ...OWN } })).status).toBe(403)
    expect((await api(`POST /dlq/${id}/retry`, { token: operator, headers: { cookie } })).status).toBe(200)
  })
})

describeStore('an application that knows its users', ({ store, given }) => {
  const api = apiOn(store, {
    access: { tokens: false, authenticate: () => ({ actor: 'ann', rights: ['read', 'retry'], queues: null }) },
  })

  it('lends them to no page of another origin', async () => {
    const { id } = await given.job({ state: 'archived' })

    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'same-site' }]) {
      const forged = await api(`POST /dlq/${id}/retry`, { headers: headers as Record<string, string> })
      expect(forged).toMatchObject({ status: 403, body: { code: 'cross_origin' } })
    }
    expect(await store.getJob(id)).toMatchObject({ state: 'archived' })
    expect((await api(`POST /dlq/${id}/retry`, { headers: { origin: OWN.origin } })).status).toBe(200)
    expect((await api('GET /session')).body).toMatchObject({ signed_in: true, actor: 'ann', sessions: false })
  })
})
