import { expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { apiOn } from './api.js'

/** The guide's own bodies, byte for byte. */
const ACTIONS = '{"action":"retry","ids":["JOB_1","JOB_2"]}'
const BULK = `{
    "action":"retry",
    "selector":{"state":"archived","queue":"billing"},
    "dry_run":true
  }`

describeStore('every curl line of the source guide', ({ store, given }) => {
  const api = apiOn(store)

  it('lists archived jobs without payloads', async () => {
    const { id } = await given.job({ state: 'archived', queue: 'billing', payload: { a: 1 } })

    const { status, body } = await api('GET /jobs?state=archived&limit=50')

    expect(status).toBe(200)
    expect(body).toMatchObject({
      items: [{ id, state: 'archived' }],
      cursor: null,
      total: { count: 1, estimate: false },
    })
    expect(body.items[0]).not.toHaveProperty('payload')
    expect((await api('GET /api/jobs?state=archived&limit=50')).body).toEqual(body)
    expect((await api('GET /dlq')).body.items.map((job: { id: string }) => job.id)).toEqual([id])
  })

  it('shows one with its payload', async () => {
    const { id } = await given.job({ state: 'archived', payloadText: '{"n":9007199254740993}' })

    const shown = await api(`GET /jobs/${id}?include_payload=true`)

    expect(shown.text).toContain('"payload":{"n":9007199254740993}')
    expect(shown.body.dlq).toMatchObject({ reason: 'attempts_exhausted' })
    expect((await api(`GET /jobs/${id}`)).body).not.toHaveProperty('payload')
    const audit = await api('GET /audit?action=reveal_payload')
    expect(audit.body.items).toMatchObject([{ action: 'reveal_payload', target: { id } }])
  })

  it('retries one, keeping its counters, and answers a repeated request the same', async () => {
    const { id } = await given.job({ state: 'archived', attempt: 3, maxAttempts: 5 })
    const retry = () => api(`POST /jobs/${id}/retry`, { key: `redrive-${id}-1` })

    const first = await retry()
    const again = await retry()

    expect(first).toMatchObject({ status: 200, body: { id, state: 'available', changed: true } })
    expect(again).toMatchObject({ status: 200, body: first.body })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(await store.getJob(id)).toMatchObject({ state: 'available', attempt: 3 })
  })

  it('acts on named jobs and says of each what became of it', async () => {
    const id = (await given.job({ state: 'archived' })).id
    const body = ACTIONS.replace('JOB_1', id)

    const { status, body: answer } = await api('POST /jobs/actions', { body, key: 'billing-redrive-2026-08-31' })

    expect(status).toBe(200)
    expect(answer).toMatchObject({ succeeded: [id], failed: [{ id: 'JOB_2', code: 'not_found' }] })
  })

  it('previews bulk work, and goes on with a new key', async () => {
    await given.jobs(3, { state: 'archived', queue: 'billing' })

    const preview = await api('POST /jobs/bulk', { body: BULK, key: 'billing-redrive-preview-1' })
    const looked = await api.client.operations.run(preview.body.id)
    const real = await api('POST /jobs/bulk', { body: BULK.replace('true', 'false'), key: 'billing-redrive-1' })
    await api.client.operations.run(real.body.id)

    expect(preview).toMatchObject({ status: 202, body: { action: 'retry', dry_run: true } })
    expect(looked).toMatchObject({ state: 'done', matched: 3 })
    const { body } = await api(`GET /operations/${real.body.id}`)
    expect(body).toMatchObject({ state: 'done', matched: 3, succeeded: 3 })
  })

  it('takes another payload before the retry', async () => {
    const { id } = await given.job({ state: 'archived', payload: { cents: 'x' } })

    const { status, body } = await api(`PUT /jobs/${id}/payload`, { body: { payload: { cents: 4200 } } })

    expect(status).toBe(200)
    expect(body).toMatchObject({ id, state: 'archived', version: 2 })
    expect((await api(`GET /jobs/${id}/payloads`)).body.items).toMatchObject([
      { version: 1, payload: { cents: 'x' } },
      { version: 2, payload: { cents: 4200 } },
    ])
  })

  it('tells of a job that is in the dead-letter queue', async () => {
    const { id } = await given.job({ state: 'archived', dlqReason: 'skipped', runLease: 4 })

    const { body } = await api(`GET /api/jobs/${id}`)

    expect(body.dlq).toMatchObject({ reason: 'skipped', original_run_lease: 4, cause: expect.any(String) })
    expect((await api(`GET /api/dlq/${id}`)).body).toEqual(body)
  })
})
