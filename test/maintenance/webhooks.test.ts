import { until } from 'spillway/testing'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { Client } from '../../src/client/client.js'
import type { WebhookOptions } from '../../src/client/webhook-options.js'
import { verifyWebhook } from '../../src/job/webhook-signature.js'
import { Maintenance } from '../../src/maintenance/maintenance.js'
import { Sending, type SendingOptions } from '../../src/maintenance/sending.js'
import { deliverQueries } from '../../src/store/postgres/queries/deliver.js'
import { sql } from '../../src/store/postgres/sql.js'
import type { Store } from '../../src/store/store.js'
import { type Receiver, startReceiver } from '../support/receiver.js'
import { describeStore } from '../support/store.js'

describeStore('webhooks', ({ store, given, db, clock, schema, inTransaction }) => {
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await startReceiver()
  })
  afterAll(() => receiver.close())
  beforeEach(() => {
    receiver.received.length = 0
    receiver.answer((response) => void response.writeHead(204).end())
  })

  const client = new Client({
    store,
    actor: 'ann',
    webhooks: { allowPrivate: true, sendDue: () => send() },
  })
  const send = async (options: SendingOptions = {}, over: Partial<Store> = {}) => {
    const sending = new Sending({ ...store, ...over }, { allowPrivate: true, timeoutMs: 2_000, ...options })
    while ((await sending.pass()) > 0) await sending.idle()
  }
  const create = (options: Partial<WebhookOptions> = {}) => client.webhooks.create({ url: receiver.url, ...options })
  const die = async (seed: { queue?: string; kind?: string } = {}, reason = 'no') => {
    const { id } = await given.job(seed)
    await client.jobs.kill(id, { reason })
    await store.sequenceEvents(100)
    return id
  }
  const bodies = () => receiver.received.map(({ body }) => JSON.parse(body))
  const dueNow = () => db.run(sql`update spillway.deliveries set next_at = now() where state = 'pending'`, [])
  const holdsNoMore = () => db.run(sql`update spillway.webhooks set held_until = now()`, [])
  const only = async () => {
    const { items } = await client.webhooks.deliveries()
    expect(items).toHaveLength(1)
    return items[0]!
  }

  it('are told of each event from their creation on, once, signed, without payload', async () => {
    await die()
    const { secret } = await create()
    const { id } = await given.job({ queue: 'billing', kind: 'charge', payload: { card: '4711-secret' } })
    await client.jobs.kill(id, { reason: 'no money' })
    await store.sequenceEvents(100)

    await send()
    await send()

    expect(receiver.received).toHaveLength(1)
    const { body, headers } = receiver.received[0]!
    expect(verifyWebhook(body, headers, secret)).toMatch(/^evt_\d+$/)
    expect(JSON.parse(body)).toEqual({
      type: 'died',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: {
        ...{ id: headers['webhook-id']?.slice(4), position: expect.any(String), type: 'died', at: expect.any(String) },
        ...{ job_id: id, queue: 'billing', kind: 'charge', generation: 0, reason: 'no money', message: null },
        cause: expect.any(String),
      },
    })
    expect(body).not.toContain('4711-secret')
    expect(await only()).toMatchObject({ state: 'delivered', attempts: 1, lastStatus: 204, lastError: null })
  })

  it.each<[string, Partial<WebhookOptions>, number]>([
    ['queue', { queues: ['billing'] }, 1],
    ['kind', { kinds: ['charge'] }, 1],
    ['reason', { reasons: ['too old'] }, 1],
    ['type', { types: ['quarantined'] }, 0],
    ['several', { queues: ['billing', 'default'], types: ['died', 'undecodable'] }, 2],
  ])('are told only of what they asked for: %s', async (_, filter, expected) => {
    await create(filter)
    await die({ queue: 'billing', kind: 'charge' }, 'too old')
    await die({}, 'no')

    await send()

    expect(receiver.received).toHaveLength(expected)
  })

  it.each<[string, number | undefined, string]>([
    ['fails', 500, 'answered 500'],
    ['redirects', 302, 'answered 302; redirects are not followed'],
    ['says it is too much', 429, 'answered 429'],
    ['does not answer', undefined, 'no answer within 100 ms'],
  ])('are tried again under the same id where the receiver %s', async (_, status, error) => {
    await create()
    await die()
    receiver.answer((response) => {
      if (status !== undefined) response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end()
    })

    await send({ timeoutMs: 100 })
    const failed = await only()
    await send({ timeoutMs: 100 })
    const early = receiver.received.length
    receiver.answer((response) => void response.writeHead(200).end())
    await dueNow()
    await holdsNoMore()
    await send()

    expect(failed).toMatchObject({ state: 'pending', attempts: 1, lastStatus: status ?? null, lastError: error })
    expect(failed.nextAt!.getTime() - Date.now()).toBeGreaterThan(3_000)
    expect(early).toBe(1)
    expect(await only()).toMatchObject({ state: 'delivered', attempts: 2, lastError: null })
    const [first, second] = receiver.received
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    expect(second?.body).toBe(first?.body)
    expect((await client.webhooks.list())[0]).toMatchObject({ failures: 0, lastError: null })
  })

  it('are delivered where the body of the answer never ends', async () => {
    await create()
    await die()
    receiver.answer((response) => void response.writeHead(200).write('x'))

    await send({ timeoutMs: 100 })

    expect(await only()).toMatchObject({ state: 'delivered', lastStatus: 200 })
  })

  it('lose nothing while the receiver is restarted', async () => {
    await create()
    const ids = [await die(), await die(), await die()]
    await receiver.close()
    await send()
    await receiver.reopen()
    await clock.advance('1m')

    await send()

    expect(
      bodies()
        .map(({ data }) => data.job_id)
        .sort(),
    ).toEqual(ids.sort())
  })

  it('are sent again, under the same id, when the sender is killed before it could say so', async () => {
    await create()
    await die()
    // Killed between the answer and the note of it.
    await send({}, { recordSend: () => Promise.resolve() })
    await send()
    const soon = receiver.received.length
    await clock.advance('61s')

    await send()

    expect(soon).toBe(1)
    expect(receiver.received).toHaveLength(2)
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(await only()).toMatchObject({ state: 'delivered', attempts: 2 })
  })

  it('are not touched by the late word of a sender that had been given up', async () => {
    await create()
    await die()
    await store.planDeliveries()
    const [old] = await store.claimDeliveries(10, 10, [])
    await dueNow()
    const [taken] = await store.claimDeliveries(10, 10, [])
    const terms = { retryInMs: 1, maxAttempts: 1, pauseAfter: 1 }
    await store.recordSend(taken!, { ok: true, status: 200 }, terms)

    await store.recordSend(old!, { ok: false, status: 500, error: 'late', isGone: false, isLost: false }, terms)
    await store.releaseDelivery(old!)

    expect(await only()).toMatchObject({ state: 'delivered', attempts: 2, lastStatus: 200 })
    expect((await client.webhooks.list())[0]).toMatchObject({ state: 'active', failures: 0 })
  })

  it('are given to one of two senders', async () => {
    await create()
    for (let n = 0; n < 5; n++) await die()
    while (await store.planDeliveries());

    const both = await inTransaction(async (tx) => {
      const theirs = await tx.run(deliverQueries(schema).claim, [[], 3, 10]) // not committed yet
      return [...theirs.map(([id]) => id), ...(await store.claimDeliveries(10, 10, [])).map(({ id }) => id)]
    })

    expect(both).toHaveLength(5)
    expect(new Set(both).size).toBe(5)
  })

  it('hear one request at a time while they fail, and are paused with a reason in the end', async () => {
    const { id } = await create()
    for (let n = 0; n < 30; n++) await die()
    receiver.answer((response) => void response.writeHead(503).end())
    await send()
    const burst = receiver.received.length
    const after: number[] = []
    for (let n = 0; n < 12; n++) {
      await holdsNoMore()
      await dueNow()
      await send()
      after.push(receiver.received.length)
    }

    const paused = await client.webhooks.get(id)

    // Several were on their way when the first one failed; from then on it is one try to see whether it is over.
    expect(burst).toBeLessThanOrEqual(4)
    expect(after.map((n) => n - burst)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11])
    expect(paused).toMatchObject({
      ...{
        state: 'paused',
        stateReason: '12 tries in a row failed; the last: answered 503',
        failures: 12,
        pending: 30,
      },
    })
  })

  it('go on where they were, when they are let', async () => {
    const { id } = await create()
    const ids = [await die()]
    await client.webhooks.update(id, { paused: true }, { reason: 'moving house' })
    ids.push(await die())
    await send()
    const quiet = receiver.received.length
    const paused = await client.webhooks.get(id)

    await client.webhooks.update(id, { paused: false })
    await send()

    expect(quiet).toBe(0)
    expect(paused).toMatchObject({ state: 'paused', stateReason: 'moving house' })
    expect(
      bodies()
        .map(({ data }) => data.job_id)
        .sort(),
    ).toEqual(ids.sort())
  })

  it('are paused at once by a receiver that is gone for good', async () => {
    await create()
    await die()
    receiver.answer((response) => void response.writeHead(410).end())

    await send()

    expect((await client.webhooks.list())[0]).toMatchObject({
      state: 'paused',
      stateReason: 'the receiver answered that it is gone for good (410)',
    })
  })

  it('give up one delivery after 12 tries, show it, and send it again when asked', async () => {
    await create()
    await die()
    await store.planDeliveries()
    await db.run(sql`update spillway.deliveries set attempts = 11`, [])
    receiver.answer((response) => void response.writeHead(400).end())
    await send()
    const dead = await only()
    receiver.answer((response) => void response.writeHead(200).end())
    await holdsNoMore()

    const again = await client.webhooks.redeliver(dead.id)

    expect(dead).toMatchObject({ state: 'dead', attempts: 12, lastError: 'answered 400', nextAt: null })
    expect(again).toMatchObject({ id: dead.id, messageId: dead.messageId, state: 'delivered' })
    expect((await client.webhooks.deliveries({ state: 'dead' })).items).toEqual([])
  })

  it('are not kept waiting by one that is slow', async () => {
    const slow = await startReceiver()
    onTestFinished(() => slow.close())
    slow.answer(() => undefined)
    await create({ url: slow.url })
    for (let n = 0; n < 30; n++) await die()
    await create()
    const id = await die()
    const sending = new Sending(store, { allowPrivate: true, timeoutMs: 60_000 })
    onTestFinished(() => sending.stop())

    await until(
      async () => {
        await sending.pass()
        return receiver.received.length > 0
      },
      { every: 50 },
    )

    expect(bodies()[0].data.job_id).toBe(id)
    expect(slow.received.length).toBeLessThanOrEqual(8)
  })

  it('have what is under way due again at once when their sender stops', async () => {
    await create()
    await die()
    receiver.answer(() => undefined)
    const sending = new Sending(store, { allowPrivate: true, timeoutMs: 60_000 })
    await sending.pass()
    await receiver.arrived(1)
    await sending.stop()
    receiver.answer((response) => void response.writeHead(200).end())

    await send()

    expect(await only()).toMatchObject({ state: 'delivered', attempts: 1 })
  })

  it('as a digest tell once of a time, with counts by queue and cause, and the first events', async () => {
    await create({ digest: '5m', digestEvents: 2 })
    for (let n = 0; n < 3; n++) await die({ queue: 'billing', kind: 'charge' }, 'no')
    await die({ queue: 'mail', kind: 'send' }, 'old')
    await send()
    const early = receiver.received.length
    await clock.advance('6m')

    await send()
    await send()

    expect(early).toBe(0)
    expect(receiver.received).toHaveLength(1)
    const [{ type, data }] = bodies() as [{ type: string; data: Record<string, unknown> }]
    expect(type).toBe('digest')
    expect(data).toMatchObject({
      count: 4,
      groups: [
        { type: 'died', queue: 'billing', kind: 'charge', reason: 'no', count: 3, cause: expect.any(String) },
        { type: 'died', queue: 'mail', kind: 'send', reason: 'old', count: 1 },
      ],
    })
    expect(data['events']).toHaveLength(2)
    expect(receiver.received[0]?.headers['webhook-id']).toMatch(/^dig_\d+_\d+$/)
    await clock.advance('6m')
    await send()
    expect(receiver.received).toHaveLength(1)
  })

  it('are told nothing more of an event the log has forgotten', async () => {
    await create()
    await die()
    await store.planDeliveries()
    await db.run(sql`delete from spillway.event_log`, [])

    await send()

    expect(receiver.received).toEqual([])
    expect(await only()).toMatchObject({
      state: 'dead',
      lastError: 'its events are older than the event log keeps them',
    })
  })

  it('can be tested while they are paused, and a failed test counts for nothing', async () => {
    const { id, secret } = await create()
    await client.webhooks.update(id, { paused: true })
    const good = await client.webhooks.test(id)
    receiver.answer((response) => void response.writeHead(500).end())
    const bad = await client.webhooks.test(id)

    expect(good).toMatchObject({ type: 'test', state: 'delivered', lastStatus: 204 })
    expect(bad).toMatchObject({ type: 'test', state: 'dead', attempts: 1, lastError: 'answered 500' })
    const { body, headers } = receiver.received[0]!
    expect(JSON.parse(body)).toMatchObject({ type: 'test', data: {} })
    expect(verifyWebhook(body, headers, secret)).toMatch(/^test_/)
    expect(await client.webhooks.get(id)).toMatchObject({ failures: 0, lastError: null })
  })

  it('sign with both secrets while one is changed, and with the new one after it', async () => {
    const { id, secret } = await create()
    const changed = await client.webhooks.update(id, { rotateSecret: '1h' })
    const fresh = 'secret' in changed ? changed.secret : ''
    await client.webhooks.test(id)
    await db.run(
      sql`update spillway.webhooks set secrets = jsonb_set(secrets, '{1,until}', to_jsonb(now() - interval '1 second'))`,
      [],
    )
    await client.webhooks.test(id)

    const [during, after] = receiver.received.map(({ body, headers }) =>
      [secret, fresh].map((one) => verifyWebhook(body, headers, one) !== undefined),
    )
    expect(during).toEqual([true, true])
    expect(after).toEqual([false, true])
    await client.webhooks.update(id, { rotateSecret: 0 })
    expect((await client.webhooks.get(id))?.secrets).toHaveLength(1)
  })

  it('show their secrets to nobody again, nor secrets in their urls', async () => {
    const { id, secret } = await create({ url: `${receiver.url}?token=abcdefgh12345` })
    await client.webhooks.test(id)

    const shown = JSON.stringify([
      await client.webhooks.list(),
      await client.webhooks.get(id),
      (await client.webhooks.deliveries()).items,
      (await client.audit.list()).items,
    ])
    expect(shown).not.toContain(secret)
    expect(shown).not.toContain(secret.slice(6, 20))
    expect(shown).not.toContain('abcdefgh12345')
    expect(receiver.received[0]?.path).toContain('abcdefgh12345')
  })

  it('leave an audit row of each change', async () => {
    const { id } = await create()
    await client.webhooks.update(id, { queues: ['billing'], description: 'x' }, { actor: 'bob', reason: 'less' })
    await client.webhooks.delete(id)

    const { items } = await client.audit.list()

    expect(items.map(({ actor, action, target, reason }) => [actor, action, target, reason])).toEqual([
      ['ann', 'webhook_delete', { webhook: id }, null],
      ['bob', 'webhook_update', { webhook: id }, 'less'],
      ['ann', 'webhook_create', { webhook: id }, null],
    ])
    expect(await client.webhooks.list()).toEqual([])
  })

  it('keep deliveries for three days, and dead ones for thirty', async () => {
    await create()
    await die()
    await send()
    receiver.answer((response) => void response.writeHead(400).end())
    await die()
    await store.planDeliveries()
    await db.run(sql`update spillway.deliveries set attempts = 11 where state = 'pending'`, [])
    await send()
    await clock.advance('4d')
    await store.retain(100)
    const after4 = (await client.webhooks.deliveries()).items.map(({ state }) => state)
    await clock.advance('27d')
    await store.retain(100)

    expect(after4).toEqual(['dead'])
    expect((await client.webhooks.deliveries()).items).toEqual([])
  })

  it.each([
    ['http://127.0.0.1/'],
    ['http://localhost:9200/'],
    ['http://[::1]/'],
    ['http://[::ffff:10.0.0.1]/'],
    ['http://0x7f.1/'],
    ['http://2130706433/'],
    ['http://169.254.169.254/latest/meta-data'],
    ['http://10.1.2.3/'],
    ['http://100.64.1.1/'],
    ['http://0.0.0.0/'],
    ['http://[fd00::1]/'],
    ['ftp://example.com/'],
    ['file:///etc/passwd'],
    ['https://user:pass@example.com/'],
    ['example.com'],
    [''],
  ])('to %s are refused when they are made, and when they are changed', async (url) => {
    const strict = new Client({ store })

    await expect(strict.webhooks.create({ url })).rejects.toMatchObject({ code: 'invalid_option' })
    const { id } = await create()
    await expect(strict.webhooks.update(id, { url })).rejects.toMatchObject({ code: 'invalid_option' })

    expect((await client.webhooks.list()).map((it) => it.url)).toEqual([receiver.url])
  })

  it('that lead to a private address are not sent by a process that does not allow it, whoever made them', async () => {
    await create()
    await die()

    await send({ allowPrivate: false })

    expect(receiver.received).toEqual([])
    expect((await only()).lastError).toBe('127.0.0.1 is at 127.0.0.1, which is no public address')
  })

  it('are sent by the maintenance, soon after the death, with nobody else at work', async () => {
    await create()
    const maintenance = new Maintenance(store, { staleMs: 4_000, webhooks: { allowPrivate: true } })
    onTestFinished(() => maintenance.stop())
    await maintenance.start()
    const { id } = await given.job()
    await client.jobs.kill(id, {})

    const { body } = await receiver.arrived(1)

    expect(JSON.parse(body).data.job_id).toBe(id)
  })
})
