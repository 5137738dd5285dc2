import { expect, it } from 'vitest'
import { CONTRACT } from '../../src/http/index.js'
import { isMutation, type Route } from '../../src/http/route.js'
import { describeStore } from '../support/store.js'
import { apiOn, lineOf, ROUTE_NAMES } from './api.js'

const mutations = ROUTE_NAMES.filter((name) => isMutation(CONTRACT[name]))
const posts = mutations.filter((name) => !('GET' in Object.fromEntries(sameplace(name).map((it) => [it.method, 1]))))

function sameplace(name: (typeof ROUTE_NAMES)[number]): readonly Route[] {
  return (Object.values(CONTRACT) as readonly Route[]).filter((it) => it.path === CONTRACT[name].path)
}

describeStore('the way in', ({ store, given, db }) => {
  const api = apiOn(store)

  it.each(posts)('a GET on the path of %s is refused, and nothing changes', async (name) => {
    const { id } = await given.job({ state: 'archived' })

    const { status, body, headers } = await api(lineOf(name, id).replace(/^\w+/, 'GET'))

    expect(status).toBe(405)
    expect(body).toMatchObject({ code: 'method_not_allowed', status: 405 })
    expect(headers.get('allow')).toContain(CONTRACT[name].method)
    expect(await store.getJob(id)).toMatchObject({ state: 'archived' })
  })

  it.each([
    ['POST /dlq/bulk-retry', {}],
    ['POST /dlq/bulk-retry', { selector: {} }],
    ['POST /dlq/bulk-retry', { ids: [] }],
    ['POST /dlq/bulk-retry', { selector: { ids: [] } }],
    ['POST /dlq/bulk-retry', { selector: { queue: '' } }],
    ['POST /dlq/bulk-retry', { selector: { que: 'q' } }],
    ['POST /dlq/bulk-retry', { selector: { state: 'archived' } }],
    ['POST /dlq/bulk-retry', { selector: { all: 'yes' } }],
    ['POST /dlq/bulk-retry', { slector: { all: true } }],
    ['POST /dlq/bulk-purge', { filter: {} }],
    ['POST /dlq/bulk-purge', { queue: 'q' }],
    ['POST /dlq/bulk-discard', { selector: { all: true }, canary: 3 }],
    ['POST /jobs/bulk', { action: 'retry', selector: {} }],
    ['POST /jobs/bulk', { action: 'explode', selector: { all: true } }],
    ['POST /jobs/actions', { action: 'retry', ids: [] }],
    ['POST /jobs/actions', { action: 'purge', ids: ['1'], budget: 'keep' }],
    ['POST /jobs/actions', { action: 'retry', ids: Array.from({ length: 1_001 }, (_, n) => String(n)) }],
    ['PATCH /queues/q', {}],
    ['PATCH /queues/q', { dlq_enabld: true }],
    ['POST /dlq/1/retry', { budgt: 'fresh' }],
  ])('%s %j is refused, and nothing is touched', async (line, body) => {
    await given.jobs(3, { state: 'archived', queue: 'q' })

    const { status, body: problem } = await api(line, { body, key: 'k' })

    expect(status).toBe(422)
    expect(problem).toMatchObject({ status: 422, type: expect.stringMatching(/^urn:spillway:error:/) })
    expect(['invalid_option', 'selector_refused']).toContain(problem.code)
    expect((await api('GET /operations')).body.items).toEqual([])
    expect((await api('GET /dlq/depth')).body.total).toBe(3)
    expect(await db.run({ name: 'keys', text: 'select key from spillway.idempotency_keys' }, [])).toEqual([])
  })

  it.each([
    'GET /jobs?stat=archived',
    'GET /jobs?queue=a&queue=b',
    'GET /jobs?limit=0',
    'GET /jobs?limit=x',
    'GET /jobs?queue=',
  ])('%s is refused', async (line) => {
    expect(await api(line)).toMatchObject({ status: 422, body: { code: 'invalid_option' } })
  })

  it('takes ids that are digits only', async () => {
    for (const path of [
      '/jobs/x',
      '/jobs/-1',
      '/jobs/1e3',
      '/jobs/%2e%2e%2fx',
      '/jobs/1%00',
      `/jobs/${'9'.repeat(20)}`,
    ]) {
      expect((await api(`GET ${path}`)).status, path).toBe(404)
    }
    expect((await api(`GET /jobs/${'9'.repeat(19)}`)).body.code).toBe('not_found')
    expect((await api('GET /dlq/../jobs')).status).toBe(200)
  })

  it('refuses bodies that are too large, of another type, or no JSON', async () => {
    const line = 'POST /jobs'
    const big = JSON.stringify({ kind: 'k', payload: 'x'.repeat(3 * 1024 * 1024) })

    expect((await api(line, { body: big })).body.code).toBe('body_too_large')
    expect((await api(line, { body: JSON.stringify({ kind: 'k', payload: 'x'.repeat(1_100_000) }) })).body.code).toBe(
      'payload_too_large',
    )
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', '']) {
      const answer = await api(line, { body: '{"kind":"k"}', headers: { 'content-type': type } })
      expect(answer, type).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } })
    }
    for (const body of ['{', 'nul', '[]', '"x"', '{"kind":"k",}']) {
      expect(await api(line, { body }), body).toMatchObject({ status: 422, body: { code: 'invalid_option' } })
    }
    expect((await api(line, { body: '{"kind":"k","payload":{"a":["\\u0000"]}}' })).body).toMatchObject({
      code: 'payload_refused',
      path: 'a[0]',
    })
    expect((await api('GET /jobs')).body.items).toEqual([])
  })

  it('names the state found, and the holder', async () => {
    const running = await given.job({ state: 'running' })
    const holder = (await api('POST /jobs', { body: { kind: 'k', unique: 'u' } })).body.id

    const wrong = await api(`POST /jobs/${running.id}/retry`)
    const taken = await api('POST /jobs', { body: { kind: 'k', unique: { key: 'u', on_conflict: 'fail' } } })
    const skipped = await api('POST /jobs', { body: { kind: 'k', unique: 'u' } })

    expect(wrong).toMatchObject({ status: 409, body: { code: 'invalid_state', state: 'running' } })
    expect(wrong.headers.get('content-type')).toBe('application/problem+json')
    expect(taken).toMatchObject({ status: 409, body: { code: 'unique_conflict', holder_id: holder } })
    expect(skipped).toMatchObject({ status: 200, body: { id: holder, inserted: false } })
  })

  it('says that a job is nowhere', async () => {
    for (const line of [
      'GET /jobs/7',
      'GET /dlq/7',
      'GET /jobs/7/why',
      'GET /jobs/7/history',
      'POST /jobs/7/cancel',
      'DELETE /jobs/7',
    ]) {
      expect(await api(line), line).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
    expect(await api('GET /operations/7')).toMatchObject({ status: 404, body: { code: 'operation_not_found' } })
    expect(await api('GET /nothing')).toMatchObject({ status: 404, body: { code: 'route_not_found' } })
  })

  it('needs a key for work on many', async () => {
    const { id } = await given.job({ state: 'archived' })

    for (const [line, body] of [
      ['POST /jobs/actions', { action: 'retry', ids: [id] }],
      ['POST /jobs/bulk', { action: 'retry', selector: { all: true } }],
    ] as const) {
      expect(await api(line, { body })).toMatchObject({ status: 428, body: { code: 'idempotency_key_required' } })
    }
    expect(await store.getJob(id)).toMatchObject({ state: 'archived' })
  })

  it('tells nobody what broke inside', async () => {
    const errors: unknown[] = []
    const broken = apiOn(
      { ...store, getJob: () => Promise.reject(new Error('secret of the house')) },
      { onError: (it) => errors.push(it) },
    )

    const { status, text } = await broken('GET /jobs/1')

    expect(status).toBe(500)
    expect(text).not.toContain('secret of the house')
    expect(errors).toHaveLength(1)
  })
})
