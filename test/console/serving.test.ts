import { expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { createHandler } from '../../src/http/index.js'
import { describeStore } from '../support/store.js'

const PAGE = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

describeStore('the files of the console', ({ store }) => {
  const spillway = new Client({ store })
  const handler = createHandler({ spillway, access: 'open', console: true })
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    handler(new Request(`http://127.0.0.1:8080${path}`, { method, headers: { host: '127.0.0.1:8080', ...headers } }))
  const scriptOf = async () => /src="\.\/(assets\/[^"]+\.js)"/.exec(await (await ask('/')).text())?.[1] as string

  it('are kept for ever where their name says what is in them, and the page never', async () => {
    const script = await ask(`/${await scriptOf()}`, { 'accept-encoding': 'gzip, br' })
    const page = await ask('/')

    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(script.headers.get('content-encoding')).toBe('gzip')
    expect(script.headers.get('content-type')).toContain('text/javascript')
    expect(page.headers.get('cache-control')).toBe('no-store')
  })

  it('come unpacked to whoever cannot unpack, and not at all to whoever has them', async () => {
    const path = `/${await scriptOf()}`

    const plain = await ask(path)
    const etag = plain.headers.get('etag') ?? ''
    const refused = await ask(path, { 'accept-encoding': 'br, gzip;q=0' })
    const statuses = []
    for (const has of [etag, `W/${etag}`, `"another", ${etag}`, '"another"']) {
      statuses.push((await ask(path, { 'if-none-match': has })).status)
    }

    expect(plain.headers.has('content-encoding')).toBe(false)
    expect(await plain.text()).toContain('Spillway')
    expect(refused.headers.has('content-encoding')).toBe(false)
    expect(statuses).toEqual([304, 304, 304, 200])
  })

  it('are a page without any inline script, and styles only with a nonce of its own', async () => {
    const [one, other] = [await ask('/'), await ask('/')]
    const policy = one.headers.get('content-security-policy') ?? ''
    const html = await one.text()
    const nonce = /name="style-nonce" content="([\w-]+)"/.exec(html)?.[1]

    expect(policy.split('; ')).toEqual([
      "default-src 'self'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      "img-src 'self' data:",
      "object-src 'none'",
      "base-uri 'self'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
    expect(other.headers.get('content-security-policy')).not.toBe(policy)
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/)
    expect(html).not.toMatch(/<style|\son\w+=|style=/)
    expect(one.headers.get('x-content-type-options')).toBe('nosniff')
    expect(one.headers.get('referrer-policy')).toBe('no-referrer')
    expect(one.headers.get('x-frame-options')).toBe('DENY')
  })

  it.each(['/dlq', '/dlq/42', '/queues/a.b', '/anything/at/all', '/dlq?queue=%3Cscript%3E'])(
    'are the page at %s, which leads back to where it lies',
    async (path) => {
      const page = await ask(path, PAGE)
      const html = await page.text()

      expect(page.status).toBe(200)
      const base = /<base href="([^"]*)">/.exec(html)?.[1] as string
      expect(new URL(base, `http://127.0.0.1:8080${path}`).pathname).toBe('/')
      expect(html).not.toContain('<script>')
    },
  )

  it.each(['/api', '/api/v1/dlq', '/api/v1/nothing', '/healthz', '/readyz', '/metrics', '/meta', '/assets/old.js'])(
    'stand in front of nothing at %s',
    async (path) => {
      const withConsole = await ask(path, PAGE)
      const without = await createHandler({ spillway, access: 'open' })(
        new Request(`http://127.0.0.1:8080${path}`, { headers: { host: '127.0.0.1:8080', ...PAGE } }),
      )

      expect(withConsole.status).toBe(without.status)
      expect(withConsole.headers.get('content-type')).toBe(without.headers.get('content-type'))
    },
  )

  it('are no answer to programs, nor to changes', async () => {
    expect((await ask('/dlq', { accept: 'application/json' })).status).toBe(404)
    expect((await ask('/dlq', PAGE, 'POST')).status).toBe(404)
    expect((await ask('/', PAGE, 'DELETE')).status).toBe(405)
    expect((await ask('/..%2f..%2fpackage.json')).status).toBe(404)
    expect((await ask('/manifest.json')).status).toBe(404)
  })

  it('open by a link on another site, and not under a name that is rebound', async () => {
    const linked = await ask('/dlq/42', { ...PAGE, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })
    const rebound = await ask('/dlq/42', { ...PAGE, host: 'evil.example' })

    expect(linked.status).toBe(200)
    expect(rebound.status).toBe(403)
  })

  it('are there only for those who asked for them', async () => {
    const api = createHandler({ spillway, access: 'open' })

    const answer = await api(new Request('http://127.0.0.1:8080/dlq', { headers: { host: '127.0.0.1:8080', ...PAGE } }))

    expect(answer.status).toBe(404)
  })
})
