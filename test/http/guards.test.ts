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

  it.each([
    ['ü', 255],
    ['ह', 255],
    ['💥', 127],
  ])('finds a queue by the longest name of %s that one may have', async (letter, length) => {
    const queue = letter.repeat(length)
    await given.job({ state: 'archived', queue })
    const part = encodeURIComponent(queue)

    expect((await api(`GET /queues/${part}`)).body).toMatchObject({ queue, counts: { archived: 1 } })
    expect((await api(`POST /queues/${part}/pause`)).status).toBe(200)
  })

  it.each(['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-00:01', '2026-02-30T00:00:00Z'])(
    'refuses the time %s, which no store can hold, wherever one is taken',
    async (at) => {
      const { id } = await given.job({ state: 'archived', queue: 'q', cause: 'c' })

      for (const path of [
        ...['/dlq?since=', '/dlq?until=', '/dlq?before_dlq_at=', '/archive?since=', '/archive?until=', '/audit?since='],
        ...['/dlq/history?since=', '/removed?since='],
      ]) {
        expect(await api(`GET ${path}${encodeURIComponent(at)}`), path).toMatchObject({ status: 422 })
      }
      for (const [line, body] of [
        ['POST /jobs', { kind: 'k', run_at: at }],
        ['POST /jobs', { kind: 'k', deadline: at }],
        [`POST /dlq/${id}/retry`, { run_at: at }],
        [`POST /dlq/${id}/mute`, { until: at }],
        ['POST /dlq/bulk-retry', { selector: { since: at } }],
        ['POST /dlq/export', { until: at }],
      ] as const) {
        expect(await api(line, { body }), line).toMatchObject({ status: 422 })
      }
      expect(await store.getJob(id)).toMatchObject({ state: 'archived' })
    },
  )

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

  it.each(ROUTE_NAMES.filter((name) => /\{(?!id)/.test(CONTRACT[name].path)))(
    'finds nothing for %s under a name that no store can hold',
    async (name) => {
      for (const other of ['%00', 'a%00b', '%ED%A0%80', '%E0%A4', '%']) {
        expect(await api(lineOf(name, '1', other), { key: 'k' }), other).toMatchObject({
          status: 404,
          body: { code: 'route_not_found' },
        })
      }
    },
  )

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

  it('refuses bodies that are compressed, or in another alphabet, and says so', async () => {
    const body = '{"kind":"k"}'
    const type = (charset: string) => ({ 'content-type': `application/json; charset=${charset}` })

    const packed = await api('POST /jobs', { body, headers: { 'content-encoding': 'gzip' } })
    const other = await api('POST /jobs', { body, headers: type('utf-16le') })

    expect(packed).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } })
    expect(packed.headers.get('accept-encoding')).toBe('identity')
    expect(other).toMatchObject({ status: 415, body: { detail: expect.stringContaining('UTF-8') } })
    expect((await api('GET /jobs')).body.items).toEqual([])
    for (const charset of ['utf-8', '"UTF-8"', 'utf8']) {
      expect((await api('POST /jobs', { body, headers: type(charset) })).status, charset).toBe(201)
    }
  })

  it.each([
    ['POST /jobs', (deep: string) => `{"kind":"k","payload":${deep}}`],
    ['POST /jobs', (deep: string) => `{"kind":"k","metadata":${deep}}`],
    [
      'POST /jobs/bulk',
      (deep: string) => `{"action":"retry","selector":{"ids":["1"]},"overrides":{"payload":${deep}}}`,
    ],
    ['POST /jobs/bulk', (deep: string) => `{"action":"retry","selector":${deep}}`],
    ['PUT /jobs/1/payload', (deep: string) => `{"payload":${deep}}`],
    ['PATCH /queues/q', (deep: string) => `{"retention":${deep}}`],
  ])('refuses what is nested a hundred thousand deep for %s, with a key too', async (line, body) => {
    const lists = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const objects = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`

    for (const deep of [lists, objects]) {
      for (const key of ['k', undefined]) {
        const answer = await api(line, { body: body(deep), ...(key && { key }) })
        expect(answer.status, answer.text).toBeGreaterThanOrEqual(422)
        expect(answer.status, answer.text).toBeLessThan(500)
      }
    }
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
