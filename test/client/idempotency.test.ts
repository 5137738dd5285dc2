import { expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { describeStore } from '../support/store.js'

describeStore('bulk work under an idempotency key', ({ store, given }) => {
  const client = new Client({ store, actor: 'ann' })

  it('is begun once by twenty callers at the same time', async () => {
    await given.jobs(3, { state: 'archived', queue: 'q' })

    const begun = await Promise.all(
      Array.from({ length: 20 }, () => client.dlq.retryMany({ queue: 'q' }, { idempotencyKey: 'k', delay: '5m' })),
    )

    expect(new Set(begun.map(({ id }) => id)).size).toBe(1)
    expect((await client.operations.list()).items).toHaveLength(1)
    expect(await begun[7]!.done()).toMatchObject({ state: 'done', succeeded: 3 })
  })

  it('answers an operation that has ended meanwhile', async () => {
    await given.jobs(2, { state: 'archived', queue: 'q' })
    const first = await client.dlq.discardMany({ queue: 'q' }, { idempotencyKey: 'k' })
    await first.done()

    const again = await client.dlq.discardMany({ queue: 'q' }, { idempotencyKey: 'k' })

    expect(again.started).toMatchObject({ id: first.id, state: 'done', succeeded: 2 })
  })

  it('is refused with another selector or other options', async () => {
    await client.dlq.purgeMany({ queue: 'q' }, { idempotencyKey: 'k' })

    const reused = { code: 'idempotency_key_reused' }
    await expect(client.dlq.purgeMany({ queue: 'p' }, { idempotencyKey: 'k' })).rejects.toMatchObject(reused)
    await expect(client.dlq.purgeMany({ queue: 'q' }, { idempotencyKey: 'k', rate: 5 })).rejects.toMatchObject(reused)
    expect((await client.dlq.moveMany({ queue: 'q' }, { idempotencyKey: 'k' })).started.action).toBe('move')
  })

  it('leaves no key where it is refused', async () => {
    await expect(client.dlq.retryMany({}, { idempotencyKey: 'k' })).rejects.toMatchObject({ code: 'selector_refused' })
    await expect(client.dlq.retryMany({}, { idempotencyKey: 'k', preview: '99' })).rejects.toMatchObject({
      code: 'operation_not_found',
    })

    expect((await client.dlq.retryMany({ queue: 'q' }, { idempotencyKey: 'k' })).started.action).toBe('retry')
  })

  it('on named jobs acts once, and says the same again', async () => {
    const ids = [...(await given.jobs(2, { state: 'archived' })), '99']

    const first = await client.dlq.retryIds(ids, { idempotencyKey: 'k' })
    const again = await client.dlq.retryIds(ids, { idempotencyKey: 'k' })

    expect(first).toMatchObject({ succeeded: ids.slice(0, 2), failed: [{ id: '99', code: 'not_found' }] })
    expect(again).toEqual(first)
    expect((await client.operations.list()).items).toHaveLength(1)
  })

  it('takes only keys that fit a header', async () => {
    for (const idempotencyKey of ['', 'a\nb', 'x'.repeat(256)]) {
      await expect(client.dlq.retryMany({ queue: 'q' }, { idempotencyKey })).rejects.toMatchObject({
        code: 'invalid_option',
      })
    }
  })
})

describeStore('the client', ({ store, given }) => {
  const client = new Client({ store, actor: 'ann' })

  it('kills, edits, clones, and shows what was done', async () => {
    const [waits, done] = [await given.job({ payloadText: '1' }), await given.job({ state: 'completed' })]

    await client.jobs.edit(waits.id, { priority: 3 })
    await client.jobs.editPayload(waits.id, { n: 9_007_199_254_740_993n }, { reason: 'typo' })
    await client.jobs.kill(waits.id, { reason: 'obsolete' })
    const { id } = await client.jobs.clone(done.id, { priority: 1 })

    expect(await client.dlq.get(waits.id)).toMatchObject({
      payloadText: '{"n":9007199254740993}',
      dlq: { reason: 'obsolete' },
    })
    expect((await client.jobs.payloadVersions(waits.id)).map(({ payload }) => payload)).toEqual([
      '1',
      '{"n":9007199254740993}',
    ])
    expect(await client.jobs.get(id)).toMatchObject({ priority: 1, originId: done.id })
    const actions: string[] = []
    for await (const { action } of client.audit.list({ actor: 'ann' }, { limit: 2 })) actions.push(action)
    expect(actions).toEqual(['clone', 'kill', 'edit_payload', 'edit'])
  })

  it('checks a payload as an enqueue does', async () => {
    const { id } = await given.job({ state: 'archived' })

    await expect(client.jobs.editPayload(id, { a: ['\0'] })).rejects.toMatchObject({
      code: 'payload_refused',
      path: 'a[0]',
    })
    await expect(client.jobs.editPayload(id, undefined)).rejects.toMatchObject({ code: 'payload_refused' })
    expect(await client.jobs.payloadVersions(id)).toEqual([])
  })

  it('refuses filters it does not know', async () => {
    expect(() => client.dlq.groups({ reason: 'x' } as object)).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    )
    expect(() => client.audit.list({ who: 'x' } as object)).toThrow(expect.objectContaining({ code: 'invalid_option' }))
    await expect(client.dlq.history({ since: '91d' })).rejects.toMatchObject({ code: 'invalid_option' })
    await expect(client.jobs.edit('1', {})).rejects.toMatchObject({ code: 'invalid_option' })
  })

  it('takes the names other documents use for reasons in bulk work too', async () => {
    await given.job({ state: 'archived', dlqReason: 'deadline_exceeded' })

    const moved = await (await client.dlq.retryMany({ reason: 'deadline_expired' })).done()

    expect(moved).toMatchObject({ state: 'done', stateReason: null, succeeded: 1 })
  })
})
