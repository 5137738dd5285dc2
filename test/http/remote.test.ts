import { expect, it } from 'vitest'
import { RemoteClient } from '../../src/cli/remote/remote-client.js'
import { Client } from '../../src/client/client.js'
import { createApiClient, createHandler } from '../../src/http/index.js'
import { fingerprintOfTest } from '../support/crashing.js'
import { describeStore } from '../support/store.js'

const PUBLISHED = `update spillway.workers set schemas =
  '{"strict":{"version":1,"schema":{"type":"object","properties":{"n":{"type":"number"}}}}}'`

describeStore('a client that goes over HTTP', ({ store, given, db }) => {
  const local = new Client({ store, actor: 'tests' })
  const handler = createHandler({ spillway: local, access: 'open', freshMs: 0 })
  const send: typeof fetch = (url, init) => handler(new Request(url as string, init))
  const remote = new RemoteClient({ url: 'http://127.0.0.1:8080/api/v1/', fetch: send })

  it('sees what the store has, value for value', async () => {
    const { id } = await given.job({
      state: 'archived',
      payloadText: '{"n":9007199254740993,"snake_key":1}',
      tags: ['t'],
      metadata: { a_b: 1 },
    })
    await given.worker({ queues: ['default'] })
    await local.queues.pause('default', { reason: 'why' })
    await local.jobs.purge((await given.job({ state: 'completed' })).id)

    expect(await remote.jobs.get(id)).toMatchObject({ ...(await local.jobs.get(id)), payload: expect.anything() })
    expect((await remote.jobs.get(id))?.payloadText).toBe('{"n":9007199254740993,"snake_key":1}')
    expect((await remote.dlq.list({ tag: 't' })).items).toEqual((await local.dlq.list({ tag: 't' })).items)
    expect(await remote.dlq.depthByQueue()).toEqual(await local.dlq.depthByQueue())
    expect((await remote.dlq.groups()).items).toEqual((await local.dlq.groups()).items)
    expect(await remote.dlq.history({ by: 'minute' })).toEqual(await local.dlq.history({ by: 'minute' }))
    expect(await remote.queues.list()).toEqual(await local.queues.list())
    expect(await remote.queues.removed({ queue: 'default' })).toMatchObject([
      { why: 'purged', reason: 'purged', count: 1 },
    ])
    expect(await remote.queues.get('default')).toEqual(await local.queues.get('default'))
    expect(await remote.workers.list()).toEqual(await local.workers.list())
    expect(await remote.jobs.counts()).toEqual(await local.jobs.counts())
    expect(await remote.jobs.why(id)).toEqual(await local.jobs.why(id))
    expect((await remote.audit.list({ action: 'pause_queue' })).items).toEqual(
      (await local.audit.list({ action: 'pause_queue' })).items,
    )
    expect(await remote.jobs.get('7')).toBeUndefined()
  })

  it('does what the store does', async () => {
    const [a, b, c, d] = await given.jobs(4, { state: 'archived', queue: 'q' })
    const { id } = await remote.enqueue(
      'k',
      { n: 9_007_199_254_740_993n },
      { delay: '5m', tags: ['x'], unique: 'u', metadata: { a: 1 }, retention: { completed: '1d', dlq: null } },
    )
    const kept = await db.run(
      { name: 'kept', text: `select retention from spillway.deferred_jobs where id = ${id}` },
      [],
    )
    expect(JSON.parse((kept as string[][])[0]?.[0] ?? 'null')).toEqual({ completed: 86_400_000, dlq: null })

    await remote.jobs.edit(id, { priority: 3 })
    await remote.jobs.editPayload(id, { n: 1 }, { reason: 'typo' })
    await remote.jobs.promote(id)
    await remote.jobs.reschedule(id, new Date('2031-01-01'))
    await remote.jobs.cancel(id, { reason: 'enough' })
    const clone = await remote.jobs.clone(id, { priority: 7 })
    await remote.jobs.kill(clone.id, { reason: 'obsolete' })
    await remote.dlq.retry(a as string, { budget: { extra: 2 }, queue: 'p', payload: { fixed: true }, reason: 'gone' })
    const undone = await remote.dlq.discard(b as string)
    await local.operations.run((await remote.dlq.undo(undone.operation as string)).id)
    await remote.dlq.purge(c as string)
    await remote.jobs.purge(id)

    expect(await local.jobs.get(a as string)).toMatchObject({
      state: 'available',
      queue: 'p',
      payload: { fixed: true },
    })
    expect(await local.jobs.get(c as string)).toBeUndefined()
    expect(await local.jobs.get(id)).toBeUndefined()
    expect(await local.jobs.get(clone.id)).toMatchObject({
      state: 'archived',
      priority: 7,
      payload: { n: 1 },
      dlq: { reason: 'obsolete' },
    })
    expect(await local.jobs.get(d as string)).toMatchObject({ state: 'archived' })
  })

  it('begins bulk work and follows it', async () => {
    await given.jobs(5, { state: 'archived', queue: 'q' })

    const handle = await remote.dlq.retryMany(
      { queue: 'q' },
      { canary: 2, rate: 5, delay: '5m', priority: 9, reason: 'back' },
    )
    await remote.operations.setRate(handle.id, { rate: 7 })
    await remote.operations.pause(handle.id)

    const [seen, stored] = [await remote.operations.get(handle.id), await local.operations.get(handle.id)]
    expect(seen).toEqual(stored)
    expect(stored).toMatchObject({
      action: 'retry',
      state: 'paused',
      rate: 7,
      canary: 2,
      createdBy: 'anonymous',
      reason: 'back',
    })
    expect((await handle.done()).state).toBe('paused')
    const look = await remote.dlq.purgeMany({ all: true }, { dryRun: true })
    await local.operations.run(look.id)
    expect(await look.now()).toMatchObject({ state: 'done', dryRun: true, matched: 5, preview: { lookedAt: 5 } })
    expect((await remote.operations.list()).items).toEqual((await local.operations.list()).items)
  })

  it('carries dead letters out and in', async () => {
    const ids = await given.jobs(3, { state: 'archived', payloadText: '{"n":9007199254740993}' })
    const lines: string[] = []
    for await (const line of remote.dlq.export({ queue: 'default' })) lines.push(line)
    await local.dlq.purgeIds(ids)

    const report = await remote.dlq.import([...lines, 'nonsense', '', lines[0] as string])

    expect(report.imported).toBe(3)
    expect(report.refused.map(({ line }) => line)).toEqual([4, 6])
    expect(await local.dlq.depth()).toBe(3)
  })

  it('keeps tokens and masks', async () => {
    const { id, secret } = await remote.tokens.create({ name: 'ci', role: 'viewer', queues: ['q'], expiresIn: '2d' })
    await remote.masking.add('a.b')

    expect(secret).toMatch(/^spw_/)
    expect((await remote.tokens.list()).items).toEqual((await local.tokens.list()).items)
    expect((await remote.tokens.revoke(id)).revokedAt).toBeInstanceOf(Date)
    expect(await remote.masking.list()).toMatchObject([{ path: 'a.b' }])
    await remote.masking.remove('a.b')
  })

  it('says what people say about dead letters and causes', async () => {
    const { id } = await given.job({ state: 'archived', queue: 'q', cause: 'c1' })
    const cause = { queue: 'q', cause: 'c1' }
    const until = new Date('2100-01-01T00:00:00Z')

    expect(await remote.dlq.triageOf(id)).toBeUndefined()
    await remote.dlq.ack(id, { reason: 'on call' })
    await remote.dlq.note(id, 'the card')
    await remote.dlq.mute(id, until)
    expect(await remote.dlq.resolve(id, { link: 'https://example.com/1' })).toMatchObject({ note: 'the card' })
    await remote.dlq.mute(cause, until)
    await remote.dlq.note(cause, 'known')
    await remote.dlq.ack(cause)
    await remote.dlq.resolve(cause)
    await remote.dlq.resolve(cause, { clear: true })
    await local.queues.set('q', { dlqMaxRows: 10, retention: { dlq: '2d' } })

    expect(await remote.dlq.triageOf(id)).toEqual(await local.dlq.triageOf(id))
    expect(await remote.dlq.triageOf(id)).toMatchObject({ mutedUntil: until, link: 'https://example.com/1' })
    expect((await remote.dlq.groups({ triage: 'muted' })).items).toEqual((await local.dlq.groups()).items)
    expect((await remote.dlq.groups({ triage: 'new' })).items).toEqual([])
    await given.job({ state: 'archived', queue: 'p' })
    expect(await remote.dlq.unreviewed()).toEqual(await local.dlq.unreviewed())
    expect(await remote.dlq.expiring({ within: '3d' })).toEqual(await local.dlq.expiring({ within: '3d' }))
    expect(await remote.dlq.expiring({ within: '3d' })).toMatchObject([{ queue: 'q', count: 1 }])
    expect(await remote.dlq.capped()).toEqual(await local.dlq.capped())
    await expect(remote.dlq.ack({ queue: 'q', cause: 'none' })).rejects.toMatchObject({ code: 'not_found' })
    await expect(remote.dlq.mute(id, new Date(0))).rejects.toMatchObject({ code: 'invalid_option' })
  })

  it('reads the archive, brings back and removes', async () => {
    await local.queues.set('q', { coldArchive: true })
    const old = new Date(Date.now() - 31 * 86_400_000)
    const seed = {
      state: 'archived',
      queue: 'q',
      dlqAt: old,
      retainFrom: old,
      payloadText: '{"n":9007199254740993}',
    } as const
    const { id } = await given.job({ ...seed, errorMessage: 'the gateway was down' })
    await given.job({ ...seed, errorMessage: 'something else' })
    await store.retain(1_000)
    const lines = async (from: Client) => {
      const all: string[] = []
      for await (const line of from.archive.export({ queue: 'q' })) all.push(line)
      return all
    }

    expect((await remote.archive.list()).items).toEqual((await local.archive.list()).items)
    expect((await remote.archive.search('gateway')).items).toMatchObject([{ id, archivedAt: expect.any(Date) }])
    expect(await remote.archive.get(id)).toMatchObject({ ...(await local.archive.get(id)), payload: expect.anything() })
    expect((await remote.archive.get(id))?.payloadText).toBe('{"n":9007199254740993}')
    expect(await remote.archive.get('7')).toBeUndefined()
    expect(await remote.archive.months()).toEqual(await local.archive.months())
    expect(await lines(remote)).toEqual(await lines(local))
    expect(await lines(remote)).toHaveLength(2)
    expect(await remote.archive.restore(id)).toMatchObject({ id, state: 'archived' })
    expect(await local.dlq.get(id)).toMatchObject({ id, queue: 'q' })
    const [month] = await local.archive.months()
    await expect(remote.archive.prune(month?.month as string)).rejects.toMatchObject({ code: 'archive_kept' })
  })

  it('pauses duties, tunes rings, and keeps events', async () => {
    expect(await remote.duties.pause('retain_dlq', { reason: 'evidence' })).toMatchObject({
      duty: 'retain_dlq',
      pausedAt: expect.any(Date),
      pausedReason: 'evidence',
    })
    expect(await remote.duties.list()).toEqual(await local.duties.list())
    expect(await remote.duties.resume('retain_dlq')).toMatchObject({ pausedAt: null })
    expect(await remote.rings.set('ready', { rotateAfter: '20s', rotateRows: 30_000 })).toMatchObject({
      rotateMs: 20_000,
      rotateRows: 30_000,
    })
    expect(await remote.rings.list()).toEqual(await local.rings.list())
    await remote.rings.set('ready', { rotateAfter: '10s', rotateRows: 20_000 })
    await expect(remote.duties.pause('sleep')).rejects.toMatchObject({ code: 'invalid_option' })
    const before = await local.events.retention()
    expect(await remote.events.setRetention('40d')).toBe(40 * 86_400_000)
    expect(await remote.events.retention()).toBe(await local.events.retention())
    await local.events.setRetention(before)
    expect(await remote.queues.unserved()).toEqual([])
  })

  it('edits a payload whatever the schema of its workers says, where it is told so', async () => {
    const { id } = await given.job({ state: 'archived', kind: 'strict', payload: { n: 1 } })
    await given.worker({ queues: ['default'], kinds: ['strict@1'] })
    await db.script(PUBLISHED)

    await expect(remote.jobs.editPayload(id, { n: 'one' })).rejects.toMatchObject({ code: 'payload_refused' })
    expect(await remote.jobs.editPayload(id, { n: 'one' }, { unchecked: true })).toMatchObject({ checked: false })
    expect(await remote.jobs.editPayload(id, { n: 2 })).toMatchObject({ checked: true })
    expect(await local.jobs.get(id)).toMatchObject({ payload: { n: 2 } })
  })

  it('answers callbacks, and keeps webhooks', async () => {
    await given.job({ state: 'waiting', callbackName: 'approval', callbackToken: 'token-one' })
    await given.job({ state: 'waiting', callbackName: 'approval', callbackToken: 'token-two' })

    expect((await remote.callbacks.heartbeat('token-one', { timeout: '1h' })).name).toBe('approval')
    expect((await remote.callbacks.complete('token-one', { ok: true })).jobState).toBe('available')
    expect((await remote.callbacks.fail('token-two', new Error('declined'))).jobState).toBe('retryable')
    await expect(remote.callbacks.complete('token-one', 1)).rejects.toMatchObject({
      code: 'callback_settled',
      isSame: false,
    })

    const { id, secret } = await remote.webhooks.create({
      url: 'https://93.184.216.34/dead',
      types: ['died'],
      digest: '5m',
    })
    await remote.webhooks.update(id, { paused: true, queues: ['q'] })
    const delivery = await remote.webhooks.test(id)
    expect(secret).toBeTruthy()
    expect(await remote.webhooks.list()).toEqual(await local.webhooks.list())
    expect(await remote.webhooks.get(id)).toMatchObject({ state: 'paused', queues: ['q'], digestMs: 300_000 })
    expect((await remote.webhooks.deliveries({ webhookId: id })).items).toEqual([delivery])
    await remote.webhooks.delete(id)
    expect(await remote.webhooks.get(id)).toBeUndefined()
  })

  it('has a job held with the others of its fingerprint, where it is told so', async () => {
    const fingerprint = fingerprintOfTest()
    await db.script(
      `insert into spillway.quarantine (fingerprint, kind, queue) values ('${fingerprint}', 'test', 'default')`,
    )

    await expect(remote.enqueue('test', {})).rejects.toMatchObject({ code: 'fingerprint_quarantined' })
    expect(await remote.enqueue('test', {}, { onQuarantine: 'park' })).toMatchObject({ parked: true })
  })

  it('looks at held jobs and releases them', async () => {
    const fingerprint = 'ab'.repeat(16)
    const held = await given.job({ state: 'quarantined', heldReason: 'crash_bound', fingerprint, payload: { a: 1 } })
    const unread = await given.job({ state: 'undecodable', queue: 'q' })

    expect((await remote.quarantine.list()).items).toEqual((await local.quarantine.list()).items)
    expect(await remote.quarantine.get(fingerprint)).toEqual(await local.quarantine.get(fingerprint))
    expect((await remote.undecodable.list()).items).toEqual((await local.undecodable.list()).items)
    expect((await remote.undecodable.check()).total).toBe(1)
    expect(await remote.undecodable.release(unread.id, { force: true })).toEqual({ succeeded: [unread.id], failed: [] })
    expect((await remote.quarantine.releaseIds([held.id, '99'])).succeeded).toEqual([held.id])
    expect(await local.jobs.get(held.id)).toMatchObject({ state: 'available' })
  })

  it('hears what happens', async () => {
    const first = await remote.enqueue('k', {}, { queue: 'q' })
    await remote.jobs.kill(first.id)
    const after = (await remote.events.list()).items[0]?.position as string
    const second = await remote.enqueue('k', {}, { queue: 'q' })
    await remote.jobs.kill(second.id)

    const heard = await remote.events.subscribe({ after, types: ['died'] }).next()

    expect(heard.value).toMatchObject({ type: 'died', jobId: second.id, at: expect.any(Date) })
    expect((await remote.events.list({ after, queue: 'q' })).items).toHaveLength(1)
    expect(await remote.events.position()).toBe(await local.events.position())
  })

  it('throws what the store would', async () => {
    const running = await given.job({ state: 'running' })
    const { id: holder } = await remote.enqueue('k', {}, { unique: 'u' })

    await expect(remote.dlq.retry(running.id)).rejects.toMatchObject({ code: 'invalid_state', state: 'running' })
    await expect(remote.jobs.cancel('7')).rejects.toMatchObject({ code: 'not_found' })
    await expect(remote.dlq.retryMany({})).rejects.toMatchObject({ code: 'selector_refused' })
    await expect(remote.enqueue('k', {}, { unique: { key: 'u', onConflict: 'fail' } })).rejects.toMatchObject({
      code: 'unique_conflict',
      holderId: holder,
    })
    const nobody = createApiClient({ url: 'http://127.0.0.1:1' })
    await expect(nobody.listJobs()).rejects.toMatchObject({ code: 'store_unavailable' })
    const other = createApiClient({
      url: 'http://x',
      fetch: async () => new Response('<h1>Bad gateway</h1>', { status: 502 }),
    })
    await expect(other.listJobs()).rejects.toMatchObject({ code: 'store_unavailable' })
  })
})
