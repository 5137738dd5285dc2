import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { type Access, createHandler } from '../../src/http/index.js'
import { describeStore } from '../support/store.js'

describeStore('a JWT of an identity provider', ({ store, clock }) => {
  const keys = generateKeyPair('ES256', { extractable: true })
  const others = generateKeyPair('ES256', { extractable: true })
  let url = ''
  const published = keys.then(async ({ publicKey }) => {
    const key = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }
    return JSON.stringify({ keys: [key] })
  })
  const provider = createServer((_, response) => {
    void published.then((text) => response.setHeader('content-type', 'application/json').end(text))
  })
  beforeAll(async () => {
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/keys`
  })
  afterAll(() => new Promise((resolve) => provider.close(resolve)))

  const claims = { sub: 'ann', iss: 'https://id.example', aud: 'spillway', spillway_role: 'viewer' }
  const signed = async (
    over: JWTPayload = {},
    { key = keys, expires = '5m' }: { key?: typeof keys; expires?: string } = {},
  ) =>
    new SignJWT({ ...claims, ...over })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .setExpirationTime(expires)
      .sign((await key).privateKey)
  const ask = (token: string, path = '/meta') => {
    const access: Access = { jwks: { url, issuer: claims.iss, audience: claims.aud } }
    const handler = createHandler({ spillway: new Client({ store }), access, freshMs: 0 })
    return handler(
      new Request(`http://spillway.example/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } }),
    )
  }
  const who = async (token: string) => (await ask(token)).json() as Promise<object>

  it('says who asks, what they may do, and on which queues', async () => {
    expect(await who(await signed())).toMatchObject({ actor: 'ann', rights: ['read'], queues: null })
    expect(await who(await signed({ spillway_rights: ['retry', 'root'], spillway_queues: ['q'] }))).toMatchObject({
      rights: ['read', 'retry'],
      queues: ['q'],
    })
    expect((await ask(await signed({ spillway_role: 'emperor' }), '/jobs')).status).toBe(403)
  })

  it('is exchanged for a session that ends with it', async () => {
    const access: Access = { jwks: { url, issuer: claims.iss, audience: claims.aud } }
    const handler = createHandler({ spillway: new Client({ store }), access, freshMs: 0 })
    const at = 'http://spillway.example/api/v1'
    const token = await signed({ spillway_queues: ['q'] }, { expires: '10m' })

    const begun = await handler(
      new Request(`${at}/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      }),
    )
    const [cookie = ''] = (begun.headers.get('set-cookie') ?? '').split(';')
    const ask = async () => (await handler(new Request(`${at}/session`, { headers: { cookie } }))).json()

    expect(await begun.json()).toMatchObject({ signed_in: true, actor: 'ann', role: 'viewer', queues: ['q'] })
    expect(await ask()).toMatchObject({ signed_in: true, actor: 'ann', rights: ['read'], queues: ['q'] })
    expect(cookie).not.toContain(token)
    expect((await new Client({ store }).audit.list({ action: 'sign_in' })).items).toMatchObject([
      { actor: 'ann', target: { name: 'ann' } },
    ])
    await clock.advance('11m')
    expect(await ask()).toMatchObject({ signed_in: false, rights: [] })
  })

  it.each<[string, () => Promise<string> | string]>([
    ['of another issuer', () => signed({ iss: 'https://evil.example' })],
    ['for somebody else', () => signed({ aud: 'other' })],
    ['that has expired', () => signed({}, { expires: '-5m' })],
    ['that is not valid yet', () => signed({ nbf: Math.floor(Date.now() / 1_000) + 3_600 })],
    ['without a subject', () => signed({ sub: '' })],
    ['with queues of another shape', () => signed({ spillway_queues: 'all' as never })],
    ['signed with another key', () => signed({}, { key: others })],
    ['that is not signed', () => new UnsecuredJWT(claims).setExpirationTime('5m').encode()],
    [
      'signed with the public key as a secret',
      async () =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
          .setExpirationTime('5m')
          .sign(new TextEncoder().encode(JSON.stringify(await exportJWK((await keys).publicKey)))),
    ],
    [
      'with a changed claim',
      async () => {
        const [head, , signature] = (await signed()).split('.')
        const body = Buffer.from(JSON.stringify({ ...claims, spillway_role: 'admin', exp: 9_999_999_999 })).toString(
          'base64url',
        )
        return `${head}.${body}.${signature}`
      },
    ],
    ['of three empty parts', () => '..'],
    ['of no parts', () => 'x.y.z'],
  ])('%s is none', async (_, make) => {
    expect((await ask(await make())).status).toBe(401)
  })

  it('is not taken for wrong while the keys cannot be had', async () => {
    const access: Access = { jwks: { url: 'http://127.0.0.1:1/keys', issuer: claims.iss, audience: claims.aud } }
    const handler = createHandler({ spillway: new Client({ store }), access, freshMs: 0 })

    const response = await handler(
      new Request('http://spillway.example/api/v1/meta', { headers: { authorization: `Bearer ${await signed()}` } }),
    )

    expect(response.status).toBe(503)
  })

  it('needs keys that come over a safe line', () => {
    const access: Access = { jwks: { url: 'http://id.example/keys', issuer: 'i', audience: 'a' } }

    expect(() => createHandler({ spillway: new Client({ store }), access })).toThrow(/https/)
  })
})
