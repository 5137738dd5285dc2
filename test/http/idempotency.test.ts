import { expect, it } from 'vitest'
import { CONTRACT } from '../../src/http/index.js'
import { isMutation } from '../../src/http/route.js'
import { describeStore } from '../support/store.js'
import { apiOn, ROUTE_NAMES } from './api.js'
import { SAMPLES } from './samples.js'

const mutations = ROUTE_NAMES.filter((name) => isMutation(CONTRACT[name]))

describeStore('an Idempotency-Key', ({ store, given, db }) => {
  const api = apiOn(store)

  it.each(mutations)('makes %s happen once, and answer the same again', async (name) => {
    const { line, body } = await SAMPLES[name]({ given, api, db })
    const audits = async () => (await db.run({ name: 'audits', text: 'select id from spillway.audit_log' }, [])).length
    const before = await audits()

    const type = typeof body === 'string' ? { headers: { 'content-type': 'application/x-ndjson' } } : {}
    const first = await api(line, { body, key: 'k', ...type })
    const between = await audits()
    const again = await api(line, { body, key: 'k', ...type })

    expect(first.status, first.text).toBeLessThan(300)
    expect(again.status).toBe(first.status)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again.body).toEqual('secret' in first.body ? { ...first.body, secret: null } : first.body)
    expect(await audits()).toBe(between)
    if (!UNAUDITED.has(name)) expect(between).toBeGreaterThan(before)
  })

  it.each(mutations)('is refused for %s with another request', async (name) => {
    const { line, body } = await SAMPLES[name]({ given, api, db })
    await api(line, {
      body,
      key: 'k',
      ...(typeof body === 'string' ? { headers: { 'content-type': 'application/x-ndjson' } } : {}),
    })

    const isInBody = typeof body === 'object' && !Array.isArray(body)
    const other = isInBody
      ? await api(line, {
          body: { ...body, ...DIFFERENT[name], ...(name in DIFFERENT ? {} : { reason: 'another' }) },
          key: 'k',
        })
      : typeof body === 'string'
        ? await api(`${line}?reason=another`, { body, key: 'k', headers: { 'content-type': 'application/x-ndjson' } })
        : line.startsWith('DELETE')
          ? await api(`${line}?reason=another`, { key: 'k' })
          : await api(line, { body: { reason: 'another' }, key: 'k' })

    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } })
  })

  it('gives twenty posts at the same time one operation', async () => {
    await given.jobs(5, { state: 'archived', queue: 'q' })
    const body = { action: 'retry', selector: { queue: 'q' } }

    const answers = await Promise.all(Array.from({ length: 20 }, () => api('POST /jobs/bulk', { body, key: 'k' })))

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
    expect(new Set(answers.map((it) => it.body.id)).size).toBe(1)
    expect((await api('GET /operations')).body.items).toHaveLength(1)
  })

  it('leaves no key where the request is refused', async () => {
    const { id } = await given.job({ state: 'completed' })

    const refused = await api(`POST /jobs/${id}/retry`, { key: 'k' })
    const cancelled = await api(`POST /jobs/${id}/clone`, { key: 'k' })

    expect(refused.status).toBe(409)
    expect(cancelled.status).toBe(201)
    expect(await db.run({ name: 'keys', text: 'select key from spillway.idempotency_keys' }, [])).toHaveLength(1)
  })

  it('belongs to one path and one actor', async () => {
    const [a, b] = await given.jobs(2, { state: 'archived' })

    const first = await api(`POST /jobs/${a}/retry`, { key: 'k' })
    const second = await api(`POST /jobs/${b}/retry`, { key: 'k' })

    expect(first.body.id).toBe(a)
    expect(second).toMatchObject({ status: 200, body: { id: b } })
    expect((await api(`POST /api/jobs/${a}/retry`, { key: 'k' })).headers.get('idempotency-replayed')).toBe('true')
  })

  it('is a text that fits a header', async () => {
    const { id } = await given.job({ state: 'archived' })

    expect(await api(`POST /jobs/${id}/retry`, { key: 'x'.repeat(256) })).toMatchObject({
      status: 422,
      body: { code: 'invalid_option' },
    })
  })
})

/** What makes another request of a body that has no reason to change. */
const DIFFERENT: Readonly<Record<string, object>> = {
  enqueue: { priority: 1 },
  completeCallback: { value: 'another' },
  failCallback: { error: 'another' },
  heartbeatCallback: { timeout: '6m' },
}

/** What is no operator's. */
const UNAUDITED: ReadonlySet<string> = new Set(Object.keys(DIFFERENT))
