import { expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { createHandler } from '../../src/http/index.js'
import { describeStore } from '../support/store.js'

describeStore('a server that is open on this machine', ({ store, given }) => {
  const handler = createHandler({ spillway: new Client({ store }), access: 'open', freshMs: 0 })
  const ask = (headers: Record<string, string>, path = '/api/v1/jobs', method = 'GET') =>
    handler(new Request(`http://127.0.0.1:8080${path}`, { method, headers: { host: '127.0.0.1:8080', ...headers } }))

  it.each(['127.0.0.1:8080', 'localhost:8080', 'localhost', '[::1]:8080', 'LOCALHOST:1'])(
    'answers as %s',
    async (host) => {
      expect((await ask({ host })).status).toBe(200)
    },
  )

  it.each([
    'evil.example',
    'evil.example:8080',
    '127.0.0.1.evil.example',
    'localhost.evil.example:8080',
    '10.0.0.7',
    '0.0.0.0:8080',
    '127.0.0.1:8080@evil.example',
    '',
  ])('does not answer as %j, which a rebound name would be', async (host) => {
    for (const path of ['/api/v1/jobs', '/healthz', '/metrics', '/api/v1/openapi.json']) {
      const response = await ask({ host }, path)

      expect(response.status, path).toBe(403)
      expect(((await response.json()) as { code: string }).code).toBe('cross_origin')
    }
  })

  it.each([
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost:8080' },
    { origin: 'https://127.0.0.1:8080' },
    { origin: 'http://127.0.0.1:9090' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'cross-site' },
  ])('gives a page that says %j neither an answer nor an effect', async (headers) => {
    const { id } = await given.job({ state: 'archived', payload: { a: 'precious' } })

    for (const [path, method] of [
      [`/api/v1/jobs/${id}?include_payload=true`, 'GET'],
      [`/api/v1/dlq/${id}/retry`, 'POST'],
      ['/api/v1/openapi.json', 'GET'],
      ['/api/v1/docs', 'GET'],
      ['/metrics', 'GET'],
      ['/healthz', 'GET'],
      ['/readyz', 'GET'],
      ['/meta', 'GET'],
      ['/api/v1/meta', 'GET'],
      [`/api/v1/jobs/${id}`, 'DELETE'],
    ] as const) {
      const response = await ask(headers, path, method)
      expect(response.status, `${method} ${path}`).toBe(403)
      expect(await response.text()).not.toContain('precious')
      expect(response.headers.has('access-control-allow-origin')).toBe(false)
    }
    expect(await store.getJob(id)).toMatchObject({ state: 'archived' })
  })

  it('answers its own pages, and programs', async () => {
    expect((await ask({ origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-origin' })).status).toBe(200)
    expect((await ask({ 'sec-fetch-site': 'none' })).status).toBe(200)
  })

  it('never allows another origin anything', async () => {
    const response = await ask(
      { origin: 'http://evil.example', 'access-control-request-method': 'POST' },
      '/api/v1/jobs',
      'OPTIONS',
    )

    expect(response.status).toBeGreaterThanOrEqual(400)
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  it('says nothing that a browser would run', async () => {
    const hostile = '"><img src=x onerror=alert(1)></script><script>alert(1)</script>javascript:alert(1)'
    const { id } = await given.job({
      state: 'archived',
      queue: 'q',
      errorMessage: hostile,
      kind: hostile.slice(0, 60),
      tags: [hostile],
    })

    for (const path of [
      `/api/v1/jobs/${id}`,
      `/api/v1/dlq?q=${encodeURIComponent(hostile)}`,
      `/api/v1/${encodeURIComponent(hostile)}`,
      `/${encodeURIComponent(hostile)}`,
      `/api/v1/jobs?${encodeURIComponent(hostile)}=1`,
      `/api/v1/queues/${encodeURIComponent('<script>')}`,
    ]) {
      const response = await ask({}, path)
      expect(response.headers.get('content-type'), path).toMatch(/^application\/(problem\+)?json/)
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    }
  })
})
