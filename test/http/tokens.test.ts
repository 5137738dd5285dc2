import { expect, it } from 'vitest'
import type { AnswerNotice } from '../../src/http/index.js'
import { describeStore } from '../support/store.js'
import { apiOn } from './api.js'

describeStore('a token', ({ store, db, clock }) => {
  const notices: AnswerNotice[] = []
  const api = apiOn(store, { access: { tokens: true }, onAnswer: (it) => notices.push(it) })

  it('is stored by its hash alone, and shown once', async () => {
    const { id, secret } = await api.client.tokens.create({ name: 'ann', role: 'admin' })

    const stored = JSON.stringify(
      await db.run({ name: 'all', text: `select row_to_json(t) from spillway.api_tokens t` }, []),
    )
    const listed = await api('GET /tokens', { token: secret })
    const audit = JSON.stringify((await api.client.audit.list()).items)

    const part = secret.split('_').slice(2).join('_')
    expect(secret).toMatch(/^spw_\d+_[\w-]{43}$/)
    for (const text of [stored, listed.text, audit, JSON.stringify(notices)]) expect(text).not.toContain(part)
    expect(listed.body.items).toMatchObject([{ id, name: 'ann', revoked_at: null }])
  })

  it('made over HTTP under a key is not kept with the answers', async () => {
    const { secret } = await api.client.tokens.create({ name: 'root', role: 'admin' })
    const make = () => api('POST /tokens', { token: secret, key: 'k', body: { name: 'ci', rights: ['enqueue'] } })

    const first = await make()
    const again = await make()

    expect(first.body.secret).toMatch(/^spw_/)
    expect(again.body).toEqual({ ...first.body, secret: null })
    expect(
      JSON.stringify(await db.run({ name: 'kept', text: 'select answer from spillway.idempotency_keys' }, [])),
    ).not.toContain(first.body.secret)
    expect((await api('POST /jobs', { token: first.body.secret, body: { kind: 'k' } })).status).toBe(201)
    expect((await api('GET /jobs', { token: first.body.secret })).status).toBe(403)
  })

  it('ends with its time, and at once when it is revoked', async () => {
    const short = await api.client.tokens.create({ name: 'short', expiresIn: '1h' })
    const long = await api.client.tokens.create({ name: 'long', expiresIn: '2d' })
    expect((await api('GET /jobs', { token: short.secret })).status).toBe(200)

    await clock.advance('2h')

    expect((await api('GET /jobs', { token: short.secret })).status).toBe(401)
    expect((await api('GET /jobs', { token: long.secret })).status).toBe(200)
    await api.client.tokens.revoke(long.id)
    expect((await api('GET /jobs', { token: long.secret })).status).toBe(401)
    expect(await api.client.tokens.revoke(long.id)).toMatchObject({ revokedBy: 'tests' })
  })

  it('cannot grant what it does not have', async () => {
    const { secret } = await api.client.tokens.create({ name: 'half', rights: ['admin'] })
    const some = await api.client.tokens.create({ name: 'some', role: 'admin', queues: ['q'] })

    expect((await api('POST /tokens', { token: some.secret, body: { name: 'x' } })).status).toBe(403)
    expect((await api('POST /tokens', { token: secret, body: { name: 'x', rights: ['retry'] } })).status).toBe(403)
    expect((await api('POST /tokens', { token: secret, body: { name: 'x', rights: ['admin'] } })).status).toBe(201)
    expect((await api('POST /tokens', { token: secret, body: { name: 'x', rights: ['root'] } })).status).toBe(422)
  })

  it.each(['', 'spw_', 'spw_1_x', `spw_999_${'a'.repeat(43)}`, 'spw_1_%00', `${'x'.repeat(9_000)}`, 'a.b.c'])(
    '%s is none',
    async (token) => {
      expect((await api('GET /jobs', { token })).status).toBe(401)
    },
  )

  it('that is wrong too often makes its address wait, and no other', async () => {
    const { secret } = await api.client.tokens.create({ name: 'ann' })
    const guess = (address: string) => api('GET /jobs', { token: `spw_1_${'g'.repeat(43)}`, address })

    const answers = []
    for (let n = 0; n < 22; n++) answers.push(await guess('10.0.0.1'))

    expect(answers.slice(0, 20).every(({ status }) => status === 401)).toBe(true)
    expect(answers.at(-1)).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    expect(Number(answers.at(-1)?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await api('GET /jobs', { token: secret, address: '10.0.0.1' })).status).toBe(429)
    expect((await api('GET /jobs', { token: secret, address: '10.0.0.2' })).status).toBe(200)
  })
})
