import { expect, it } from 'vitest'
import type { HistoryEntry } from '../../src/job/history.js'
import { describeStore } from '../support/store.js'
import { apiOn } from './api.js'

const SECRETS = [
  'hunter2-hunter2',
  '4111111111111111',
  'sk_live_abcdefgh12345678',
  'ghp_abcdefghij0123456789abcd',
  'DE-IBAN-1',
]
const KEY = SECRETS[2]

/** Secrets by the name of their key, by a rule, and by their shape, in everything a user can fill in. */
const secretive = {
  user: { name: 'ann', password: SECRETS[0] },
  card: { number: SECRETS[1], holder: 'ann' },
  note: `called with ${KEY}`,
  items: [{ account: SECRETS[4] }, { account: SECRETS[4] }],
}
const entry: HistoryEntry = {
  type: 'error',
  at: new Date(),
  startedAt: null,
  generation: 0,
  attempt: 0,
  leaseId: null,
  worker: 'w',
  name: 'Error',
  message: `authorization: Bearer ${SECRETS[3]}`,
  stack: `Error: ${KEY}\n  at x`,
  code: null,
  cause: [{ name: 'Error', message: KEY as string, stack: null, code: null }] as never,
  truncated: false,
}

describeStore('what is masked', ({ store, given, db }) => {
  const api = apiOn(store, { masks: ['card.number'] })
  const holds = (text: string) => SECRETS.filter((secret) => text.includes(secret))
  const make = async () => {
    await api.client.masking.add('**.account')
    return given.job({
      state: 'archived',
      payload: secretive,
      metadata: secretive,
      progress: secretive,
      errorMessage: `failed with ${KEY}`,
      history: [entry],
    })
  }

  it('stands in no answer', async () => {
    const { id } = await make()
    await api(`PUT /jobs/${id}/payload`, { body: { payload: secretive } })
    const preview = await api('POST /dlq/bulk-retry', { body: { selector: { all: true }, dry_run: true } })
    await api.client.operations.run(preview.body.id)

    for (const line of [
      `GET /jobs/${id}?include_payload=true`,
      `GET /dlq/${id}?include_payload=true`,
      `GET /jobs/${id}/history`,
      `GET /jobs/${id}/payloads`,
      `GET /jobs/${id}/why`,
      'GET /jobs',
      'GET /jobs?state=archived',
      'GET /dlq',
      'GET /dlq/groups',
      'POST /dlq/export',
      `GET /operations/${preview.body.id}`,
      'GET /audit',
    ]) {
      const answer = await api(line)
      expect(answer.status, line).toBe(200)
      expect(holds(answer.text), line).toEqual([])
    }
    const { body } = await api(`GET /jobs/${id}?include_payload=true`)
    expect(body.payload).toEqual({
      user: { name: 'ann', password: '[masked]' },
      card: { number: '[masked]', holder: 'ann' },
      note: 'called with [secret]',
      items: [{ account: '[masked]' }, { account: '[masked]' }],
    })
    const stored = await db.run({ name: 'p', text: `select payload from spillway.dlq_entries` }, [])
    expect(holds(JSON.stringify(stored))).toHaveLength(4)
  })

  it('is not stored by saving what was shown', async () => {
    const { id } = await make()
    const { payload } = (await api(`GET /jobs/${id}?include_payload=true`)).body

    payload.card.holder = 'bob'
    payload.user.password = 'new-one'
    const { status } = await api(`PUT /jobs/${id}/payload`, { body: { payload } })

    expect(status).toBe(200)
    expect((await store.getJob(id, { payload: true }))?.payload).toEqual({
      ...secretive,
      card: { ...secretive.card, holder: 'bob' },
      user: { name: 'ann', password: 'new-one' },
    })
  })

  it('keeps numbers to the last digit around it', async () => {
    const { id } = await given.job({ state: 'archived', payloadText: '{"n":9007199254740993,"password":"x","f":0.1}' })
    const shown = await api(`GET /jobs/${id}?include_payload=true`)

    await api(`PUT /jobs/${id}/payload`, { body: `{"payload":${/"payload":(\{.*?\})/.exec(shown.text)?.[1]}}` })

    expect(shown.text).toContain('{"n":9007199254740993,"password":"[masked]","f":0.1}')
    expect((await store.getJob(id, { payload: true }))?.payloadText).toBe(
      '{"n":9007199254740993,"password":"x","f":0.1}',
    )
  })

  it('is shown again once the place is no longer hidden', async () => {
    const { id } = await given.job({ state: 'archived', payload: { shoe: 43 } })
    const shoe = async () => (await api(`GET /jobs/${id}?include_payload=true`)).body.payload.shoe

    await api('POST /masking', { body: { path: 'shoe' } })
    expect(await shoe()).toBe('[masked]')
    expect((await api('GET /masking')).body.items).toMatchObject([{ path: 'shoe', created_by: 'anonymous' }])
    await api('DELETE /masking/shoe')

    expect(await shoe()).toBe(43)
    expect(await api('DELETE /masking/shoe')).toMatchObject({ status: 404 })
    expect((await api('POST /masking', { body: { path: 'a..b' } })).status).toBe(422)
  })
})
