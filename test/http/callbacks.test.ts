import { expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { apiOn } from './api.js'

describeStore('a callback over HTTP', ({ store, given, db }) => {
  const api = apiOn(store, { access: { tokens: true } })
  const waiting = () =>
    given.job({ state: 'waiting', callbackName: 'approval', callbackToken: 'secret-of-the-callback' })
  const line = (verb: string) => `POST /callbacks/secret-of-the-callback/${verb}`

  it('is answered by whoever has its token, and by nobody else', async () => {
    const { id } = await waiting()

    const wrong = await api('POST /callbacks/other/complete', { body: { value: 1 } })
    const done = await api(line('complete'), { body: { value: { n: 1 } } })
    const again = await api(line('complete'), { body: { value: { n: 2 } } })

    expect(wrong).toMatchObject({ status: 404, body: { code: 'callback_not_found' } })
    expect(done).toMatchObject({ status: 200, body: { name: 'approval', job_id: id, job_state: 'available' } })
    expect(again).toMatchObject({ status: 409, body: { code: 'callback_settled', state: 'completed', is_same: false } })
    expect((await api(`GET /jobs/${id}`)).status).toBe(401)
  })

  it('shows in its job, without its token', async () => {
    const { id } = await waiting()
    const open = apiOn(store)

    const { body, text } = await open(`GET /jobs/${id}`)

    expect(body.callback).toMatchObject({ name: 'approval', waits_until: expect.any(String) })
    expect(text).not.toContain('secret-of-the-callback')
    expect((await open(`GET /jobs/${id}/why`)).body.because[0].code).toBe('waits_for_callback')
  })

  it('keeps its token out of what is stored under a key', async () => {
    await waiting()

    const first = await api(line('fail'), { key: 'k', body: { error: { name: 'Declined', message: 'no funds' } } })
    const again = await api(line('fail'), { key: 'k', body: { error: { name: 'Declined', message: 'no funds' } } })

    expect(first.status).toBe(200)
    expect(again.body).toEqual(first.body)
    const kept = await db.run({ name: 'kept', text: 'select path from spillway.idempotency_keys' }, [])
    expect(JSON.stringify(kept)).not.toContain('secret-of-the-callback')
  })

  it('is gone where its job has left', async () => {
    const { id } = await waiting()
    await api.client.jobs.cancel(id)

    expect(await api(line('complete'))).toMatchObject({
      status: 410,
      body: { code: 'callback_gone', job_state: 'cancelled' },
    })
  })

  it('can be served alone, to strangers', async () => {
    const { id } = await waiting()
    const alone = apiOn(store, { access: { tokens: true }, only: 'callbacks', basePath: '/answers' })

    for (const path of ['/api/v1/jobs', '/api/v1/meta', '/api/v1/openapi.json', '/metrics', '/healthz', '/']) {
      expect((await alone(`GET //answers${path}`)).status, path).toBe(404)
    }
    const done = await alone('POST //answers/api/v1/callbacks/secret-of-the-callback/heartbeat', {
      body: { timeout: '1h' },
    })

    expect(done).toMatchObject({ status: 200, body: { job_id: id, waits_until: expect.any(String) } })
  })
})
