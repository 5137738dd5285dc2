import { expect, it } from 'vitest'
import { z } from 'zod'
import { Client, type EnqueueOptions } from '../../src/client/client.js'
import { defineJob } from '../../src/job/definition.js'
import { describeStore } from '../support/store.js'

const charge = defineJob({
  kind: 'charge_card',
  queue: 'billing',
  schema: z.object({ customer: z.string(), lines: z.array(z.object({ cents: z.number().int() })).default([]) }),
  version: 3,
  maxAttempts: 5,
  timeout: '30s',
  priority: 20,
  tags: ['money'],
  retention: { completed: '7d' },
})

describeStore('enqueueing', ({ store }) => {
  const client = new Client({ store, maxPayloadBytes: 1_000 })

  it('stores what the definition says where the call does not', async () => {
    const { id, inserted } = await client.enqueue(charge, { customer: 'c_1' })

    expect(inserted).toBe(true)
    expect(await client.jobs.get(id)).toMatchObject({
      state: 'available',
      kind: 'charge_card',
      queue: 'billing',
      version: 3,
      priority: 20,
      maxAttempts: 5,
      timeoutMs: 30_000,
      tags: ['money'],
      payload: { customer: 'c_1' },
      deadline: null,
      uniqueKey: null,
    })
  })

  it('stores what the call says in place of the definition', async () => {
    const runAt = new Date('2100-01-01T00:00:00.000Z')
    const deadline = new Date('2100-01-02T00:00:00.000Z')
    const settings = { queue: 'slow', priority: 1, maxAttempts: 2, timeout: null, runAt, deadline, unique: 'k' }

    const { id } = await client.enqueue(
      charge,
      { customer: 'c_1' },
      { ...settings, tags: ['urgent', 'money'], metadata: { trace: 'x' } },
    )

    expect(await client.jobs.get(id)).toMatchObject({
      state: 'scheduled',
      queue: 'slow',
      priority: 1,
      maxAttempts: 2,
      timeoutMs: null,
      runAt,
      deadline,
      uniqueKey: 'k',
      tags: ['money', 'urgent'],
      metadata: { trace: 'x' },
    })
  })

  it('turns a delay into the time it is due', async () => {
    const before = Date.now()

    const { id } = await client.enqueue('remind', {}, { delay: '5m' })

    const job = await client.jobs.get(id)
    expect(job?.state).toBe('scheduled')
    expect(job!.runAt.getTime()).toBeGreaterThanOrEqual(before + 300_000)
    expect(job!.runAt.getTime()).toBeLessThanOrEqual(Date.now() + 300_000)
  })

  it('keeps integers of any size for a kind known by its name', async () => {
    const { id } = await client.enqueue('import', { id: 9_007_199_254_740_993n })

    expect((await client.jobs.get(id))?.payloadText).toBe('{"id":9007199254740993}')
  })

  it.each([
    ['the schema', charge, { customer: 'c_1', lines: [{ cents: 1 }, { cents: 1.5 }] }, 'lines[1].cents'],
    ['JSON', defineJob({ kind: 'k' }), { a: { b: 1n } }, 'a.b'],
    ['the store', 'k', { list: ['fine', 'a\u0000b'] }, 'list[1]'],
  ])('refuses what %s cannot take, with its path, and stores nothing', async (_, job, payload, path) => {
    const refused = client.enqueue(job as string, payload)

    await expect(refused).rejects.toMatchObject({ code: 'payload_refused', path })
    expect((await client.jobs.list()).items).toEqual([])
  })

  it('waits for a schema that answers later', async () => {
    const schema = z.object({ n: z.number() }).refine(async ({ n }) => n > 0, 'is not positive')
    const job = defineJob({ kind: 'k', schema })

    const outcomes = await Promise.allSettled([client.enqueue(job, { n: 1 }), client.enqueue(job, { n: -1 })])

    expect(outcomes.map((it) => it.status)).toEqual(['fulfilled', 'rejected'])
    expect(outcomes[1]).toMatchObject({ reason: { code: 'payload_refused' } })
  })

  it('refuses a payload above the limit', async () => {
    await expect(client.enqueue('k', 'x'.repeat(1_001))).rejects.toMatchObject({ code: 'payload_too_large' })
  })

  it.each<EnqueueOptions>([
    { priority: 101 },
    { maxAttempts: 0 },
    { queue: '' },
    { queue: 'a\u001fb' },
    { unique: '\u001e' },
    { timeout: '90d' },
    { delay: '5 minutes' },
    { delay: 5, runAt: new Date() },
    { runAt: new Date(Number.NaN) },
    { deadline: 'tomorrow' },
    { unique: { key: 'k', onConflict: 'ignore' as 'skip' } },
    { retention: { dlq: 'long' } },
    { tx: {} },
  ])('refuses %j', async (options) => {
    await expect(client.enqueue('k', {}, options)).rejects.toMatchObject({ code: 'invalid_option' })
  })

  it('gives each of many calls at once its own job, in few statements', async () => {
    let statements = 0
    const counting: typeof store = {
      ...store,
      enqueue(jobs) {
        statements += 1
        return store.enqueue(jobs)
      },
    }
    const busy = new Client({ store: counting })

    const answers = await Promise.all(Array.from({ length: 1_200 }, (_, n) => busy.enqueue('k', { n })))

    expect(new Set(answers.map(({ id }) => id)).size).toBe(1_200)
    expect(statements).toBe(3)
    const [first] = answers
    expect((await client.jobs.get(first!.id))?.payload).toEqual({ n: 0 })
  })
})

describeStore('enqueueing many', ({ store }) => {
  const client = new Client({ store })

  it('stores all in order, with ascending ids', async () => {
    const answers = await client.enqueueMany(charge, [
      { payload: { customer: 'a' } },
      { payload: { customer: 'b' }, priority: 3 },
      { payload: { customer: 'c' }, tags: ['late'] },
    ])

    const ids = answers.map(({ id }) => BigInt(id))
    expect(ids).toEqual([...ids].sort((a, b) => Number(a - b)))
    const jobs = await Promise.all(answers.map(({ id }) => client.jobs.get(id)))
    expect(jobs.map((job) => job?.payload)).toEqual([{ customer: 'a' }, { customer: 'b' }, { customer: 'c' }])
    expect(jobs.map((job) => job?.priority)).toEqual([20, 3, 20])
  })

  it('takes jobs of several kinds in one call', async () => {
    const answers = await client.enqueueMany([
      { job: charge, payload: { customer: 'a' } },
      { job: 'send_mail', payload: { to: 'ada' }, queue: 'mail' },
    ])

    const jobs = await Promise.all(answers.map(({ id }) => client.jobs.get(id)))
    expect(jobs.map((job) => [job?.kind, job?.queue])).toEqual([
      ['charge_card', 'billing'],
      ['send_mail', 'mail'],
    ])
  })

  it('stores none when one is refused by its schema', async () => {
    const entries = [{ payload: { customer: 'a' } }, { payload: { customer: 1 as unknown as string } }]

    await expect(client.enqueueMany(charge, entries)).rejects.toMatchObject({ code: 'payload_refused' })

    expect((await client.jobs.list()).items).toEqual([])
  })

  it('stores none when the key of one is taken', async () => {
    const holder = await client.enqueue('k', {}, { unique: 'key' })
    const entries = [{ payload: {} }, { payload: {}, unique: { key: 'key', onConflict: 'fail' as const } }]

    await expect(client.enqueueMany('k', entries)).rejects.toMatchObject({
      code: 'unique_conflict',
      holderId: holder.id,
    })

    expect((await client.jobs.list()).items.map(({ id }) => id)).toEqual([holder.id])
  })

  it('answers an empty list for an empty list', async () => {
    expect(await client.enqueueMany(charge, [])).toEqual([])
  })
})

describeStore('enqueueing with a unique key', ({ store }) => {
  const client = new Client({ store })

  it('shares no statement with other calls, so that a taken key refuses nobody else', async () => {
    const sizes: number[] = []
    const watched: typeof store = {
      ...store,
      enqueue(jobs) {
        sizes.push(jobs.length)
        return store.enqueue(jobs)
      },
    }
    const busy = new Client({ store: watched })

    await Promise.all([busy.enqueue('k', 1), busy.enqueue('k', 2, { unique: 'key' }), busy.enqueue('k', 3)])

    expect(sizes.sort()).toEqual([1, 2])
  })

  it('answers the job that has it, unless the call says otherwise', async () => {
    const first = await client.enqueue('k', {}, { unique: 'key' })

    const second = await client.enqueue('k', {}, { unique: 'key' })

    expect(second).toEqual({ id: first.id, inserted: false })
  })

  it('fails with the holder when that is asked for', async () => {
    const first = await client.enqueue('k', {}, { unique: 'key' })

    const second = client.enqueue('k', {}, { unique: { key: 'key', onConflict: 'fail' } })

    await expect(second).rejects.toMatchObject({ code: 'unique_conflict', holderId: first.id })
  })
})
