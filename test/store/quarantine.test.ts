import { expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { sql } from '../../src/store/postgres/sql.js'
import type { RetryRequest, Settlement, WorkerSession } from '../../src/store/store.js'
import { crashing, fingerprintOfTest, STALE_MS } from '../support/crashing.js'
import { describeStore } from '../support/store.js'
import { someoneWaits } from '../support/waits.js'
import { workerInfo } from '../support/worker-info.js'

const ACT = { actor: 'operator', reason: 'parser fixed' }
const RETRY: RetryRequest = { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false }
const FP = fingerprintOfTest()

describeStore('a quarantined fingerprint', ({ store, given, db, checker, url, inTransaction }) => {
  const { convict, convicted, crash, open, endWorker } = crashing(store, given, db)
  const client = new Client({ store })
  const stateOf = async (id: string) => (await store.getJob(id))?.state

  async function withSession(work: (session: WorkerSession) => Promise<void>): Promise<void> {
    const session = await store.register(workerInfo())
    try {
      await session.pulse()
      await work(session)
    } finally {
      await session.end()
      await session.close()
    }
  }
  const complete = (job: Settlement['job']): Settlement => ({ job, end: { event: 'complete', result: null } })

  // -- New jobs -------------------------------------------------------------------------------------------------------

  it('refuses new jobs, one by one and in bulk, all or none', async () => {
    await convict()

    await expect(client.enqueue('test', {})).rejects.toMatchObject({ code: 'fingerprint_quarantined', fingerprint: FP })
    await expect(client.enqueue('test', {}, { delay: '1h', unique: 'k' })).rejects.toMatchObject({
      code: 'fingerprint_quarantined',
    })
    await expect(client.enqueueMany('test', [{ payload: { n: 1 } }, { payload: {} }])).rejects.toMatchObject({
      code: 'fingerprint_quarantined',
    })
    await expect(
      client.enqueueMany('test', [{ payload: { n: 1 }, unique: 'a' }, { payload: {} }]),
    ).rejects.toMatchObject({ code: 'fingerprint_quarantined' })

    expect(await checker.census()).toEqual({ quarantined: 1 })
  })

  it('refuses only its own among calls that share a statement', async () => {
    await convict()

    const answers = await Promise.allSettled([
      client.enqueue('test', { n: 1 }),
      client.enqueue('test', {}),
      client.enqueue('other', {}),
    ])

    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('parks new jobs of producers who want it, with their keys and times', async () => {
    await convict()
    const runAt = new Date(Date.now() + 60_000)

    const [parked, other] = await client.enqueueMany('test', [
      { payload: {}, unique: 'k', runAt, onQuarantine: 'park' },
      { payload: { n: 1 }, onQuarantine: 'park' },
    ])
    const again = await client.enqueue('test', {}, { unique: 'k', onQuarantine: 'park' })

    expect(parked).toEqual({ id: expect.any(String), inserted: true, parked: true })
    expect(other).toEqual({ id: expect.any(String), inserted: true })
    expect(again).toEqual({ id: parked!.id, inserted: false })
    expect(await store.getJob(parked!.id)).toMatchObject({ state: 'quarantined', reason: 'parked', uniqueKey: 'k' })
    expect((await store.getJob(parked!.id))?.runAt).toEqual(runAt)
  })

  it('leaves no parked job behind when it is released at the same moment', async () => {
    const job = await convict()
    let parking: Promise<{ id: string; parked?: boolean }> | undefined

    await inTransaction(async (tx) => {
      await tx.run(sql<[], []>`update spillway.quarantine set release_id = 5`, [])
      parking = client.enqueue('test', {}, { onQuarantine: 'park' })
      await someoneWaits(url)
    })
    const parked = await parking
    await store.finishReleases()

    expect(parked).toEqual({ id: expect.any(String), inserted: true })
    expect([await stateOf(job.id), await stateOf(parked!.id)]).toEqual(['available', 'available'])
  })

  it('refuses and parks in a transaction of the caller’s', async () => {
    await convict()
    const executor = (tx: { run: (statement: never, values: never) => Promise<unknown[]> }) => ({
      execute: async (text: string, values: readonly unknown[]) =>
        (await tx.run({ text, name: '' } as never, values as never)).map((row) =>
          Object.fromEntries((row as unknown[]).map((value, n) => [`c${n}`, value])),
        ),
    })

    const parked = await db.transaction((tx) => client.enqueue('test', {}, { tx: executor(tx), onQuarantine: 'park' }))
    const refused = db.transaction((tx) => client.enqueue('test', {}, { tx: executor(tx) }))

    await expect(refused).rejects.toMatchObject({ code: 'fingerprint_quarantined' })
    expect(parked).toMatchObject({ inserted: true, parked: true })
  })

  it('refuses and parks in the SQL function', async () => {
    await convict()
    const call = (how: string) =>
      db.runRaw(sql<[string], [id: string]>`select spillway.enqueue('test', '{}', on_quarantine => $1)`, [how])

    await expect(call('refuse')).rejects.toMatchObject({ code: '55000', detail: FP })
    const [parked] = await call('park')
    await expect(call('drop')).rejects.toMatchObject({ code: '22023' })

    expect(await store.getJob(parked![0])).toMatchObject({ state: 'quarantined', reason: 'parked' })
  })

  // -- Jobs that come back --------------------------------------------------------------------------------------------

  it('refuses to retry its dead letters, which stay as they are', async () => {
    await convict()
    const dead = await given.job({ state: 'archived' })

    await expect(store.retryJob(dead.id, RETRY, ACT)).rejects.toMatchObject({ code: 'fingerprint_quarantined' })

    expect(await store.getJob(dead.id, { payload: true })).toEqual(dead)
  })

  it('lets a dead letter go with another payload, and refuses one that would get its payload', async () => {
    await convict()
    const [mine, other] = [await given.job({ state: 'archived' }), await given.job({ state: 'archived', payload: 1 })]

    const retried = await store.retryJob(mine.id, { ...RETRY, overrides: { payload: '2' } }, ACT)
    const refused = store.retryJob(other.id, { ...RETRY, overrides: { payload: '{}' } }, ACT)

    expect(retried.state).toBe('available')
    await expect(refused).rejects.toMatchObject({ code: 'fingerprint_quarantined' })
  })

  it('is counted row by row where many are retried', async () => {
    await convict()
    const [mine, other] = [await given.job({ state: 'archived' }), await given.job({ state: 'archived', payload: 1 })]

    const operation = await client.dlq.retryMany({ queue: 'default' })
    const done = await operation.done()
    const rows = await client.operations.rows(done.id)

    expect(done).toMatchObject({ state: 'done', matched: 2, succeeded: 1, failed: 1 })
    expect(rows.items).toMatchObject([{ id: mine.id, outcome: 'failed', code: 'fingerprint_quarantined' }])
    expect([await stateOf(mine.id), await stateOf(other.id)]).toEqual(['archived', 'available'])
  })

  it('refuses copies', async () => {
    await convict()
    const done = await given.job({ state: 'completed' })

    await expect(client.jobs.clone(done.id)).rejects.toMatchObject({ code: 'fingerprint_quarantined' })

    expect(await checker.census()).toEqual({ quarantined: 1, completed: 1 })
  })

  it('shows jobs that wait as blocked, and holds them when they are due', async () => {
    await convict()
    const later = await given.job({ state: 'scheduled', dueAt: new Date(Date.now() - 1), uniqueKey: 'k' })
    const again = await given.job({ state: 'retryable', dueAt: new Date(Date.now() - 1) })
    const other = await given.job({ state: 'scheduled', payload: 1, dueAt: new Date(Date.now() - 1) })

    const before = await store.getJob(later.id)
    const { moved } = await store.promote(100)

    expect(before).toMatchObject({ state: 'scheduled', blocked: { fingerprint: FP, because: 'quarantined' } })
    expect(moved).toBe(3)
    expect(await store.getJob(again.id)).toMatchObject({ state: 'quarantined', attempt: 1, reason: 'fingerprint' })
    expect(await store.getJob(later.id)).toMatchObject({ state: 'quarantined', attempt: 0, uniqueKey: 'k' })
    expect(await store.getJob(other.id)).toMatchObject({ state: 'available' })
  })

  // -- Looking at it --------------------------------------------------------------------------------------------------

  it('is listed with what it holds, and shown with its crashes, its workers and its jobs', async () => {
    const convict = await crash([{}], { name: 'w1' })
    await crash([{}, { n: 1 }], { name: 'w2' })
    const [last] = await crash([{}], { name: 'w3', host: 'other' })
    await given.job()

    const list = await client.quarantine.list()
    const shown = await client.quarantine.get(FP, { payload: true })

    expect(list).toEqual({ items: [expect.objectContaining({ fingerprint: FP, kind: 'test', held: 1 })], cursor: null })
    expect(list.items[0]).toMatchObject({ convicted: true, releasing: false, canaryId: null, crashes: 3 })
    expect(shown?.crashLog.map((it) => [it.worker, it.host, it.alone, it.closedBy])).toEqual([
      ['w3', 'other', true, null],
      ['w2', 'host', false, null],
      ['w1', 'host', true, null],
    ])
    expect(shown).toMatchObject({ workers: ['w3', 'w2', 'w1'], blocked: 3, payloadText: '{}' })
    expect(shown?.jobs.map(({ id, state }) => [id, state])).toEqual(
      expect.arrayContaining([
        [last!.id, 'quarantined'],
        [convict[0]!.id, 'retryable'],
      ]),
    )
    expect(await client.quarantine.get('f'.repeat(32))).toBeUndefined()
  })

  it('is listed page by page', async () => {
    for (const n of [1, 2, 3]) await convict({ n })

    const all: string[] = []
    for await (const { fingerprint } of client.quarantine.list({ limit: 1 })) all.push(fingerprint)

    expect(all).toEqual([3, 2, 1].map((n) => fingerprintOfTest({ n })))
  })

  // -- Releasing ------------------------------------------------------------------------------------------------------

  it('is let go whole: its jobs run again with no crash counted, and new ones are accepted', async () => {
    const job = await convict()
    const { id: parked } = await client.enqueue('test', {}, { onQuarantine: 'park' })

    const released = await client.quarantine.release(FP, ACT)

    expect(released).toEqual({ releaseId: expect.any(String), released: 2 })
    expect(await store.getJob(job.id)).toMatchObject({
      state: 'available',
      crashAttempt: 0,
      history: [{ type: 'crash' }, { type: 'released', by: 'operator', why: 'parser fixed' }],
    })
    expect(await stateOf(parked)).toBe('available')
    expect(await open()).toBe(0)
    expect((await client.quarantine.list()).items).toEqual([])
    await client.enqueue('test', {})
    const audit = await client.audit.list({ action: 'release' })
    expect(audit.items).toMatchObject([{ actor: 'operator', reason: 'parser fixed', target: { fingerprint: FP } }])
    await expect(client.quarantine.release(FP)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('counts charged starts anew after a release', async () => {
    const worker = await given.worker()
    const job = await given.job({ state: 'running', registration: worker, maxAttempts: 1, crashAttempt: 3 })
    await given.job({ state: 'running', registration: worker, payload: 1 })
    await endWorker(worker)
    await store.rescue(STALE_MS, 3)
    const held = await store.getJob(job.id)

    await client.quarantine.release(FP)

    expect(held).toMatchObject({ state: 'quarantined', reason: 'crash_bound', crashAttempt: 4 })
    expect(await convicted()).toEqual([])
    expect(await store.getJob(job.id)).toMatchObject({ state: 'available', crashAttempt: 0 })
  })

  it('is finished by the maintenance where a release was interrupted', async () => {
    const job = await convict()
    await db.run(sql<[], []>`update spillway.quarantine set release_id = 9`, [])

    await store.rescue(STALE_MS, 3)

    expect(await stateOf(job.id)).toBe('available')
    expect((await client.quarantine.list()).items).toEqual([])
  })

  it('lets the rest follow when its canary succeeds', async () => {
    const job = await convict()
    const { id: parked } = await client.enqueue('test', {}, { onQuarantine: 'park' })

    const released = await client.quarantine.release(FP, { canary: true })
    const twice = client.quarantine.release(FP, { canary: true })
    await expect(twice).rejects.toMatchObject({ code: 'invalid_state' })
    const between = await stateOf(parked)
    await withSession(async (session) => {
      const others = await session.claim('default', 10)
      const canary = await session.claimSuspect('default')
      expect(others).toEqual([])
      expect(canary).toMatchObject({ id: job.id, releaseId: released.releaseId, bar: undefined })
      expect(session.isAloneToTheEnd(canary!)).toBe(true)
      await session.settle([complete(canary!)])
    })

    expect(released).toMatchObject({ released: 1, ids: [job.id] })
    expect(between).toBe('quarantined')
    expect(await stateOf(job.id)).toBe('completed')
    expect(await stateOf(parked)).toBe('available')
    expect(await convicted()).toEqual([])
  })

  it('lets the rest follow also where nobody has told of the canary’s success', async () => {
    const job = await convict()
    const { id: parked } = await client.enqueue('test', {}, { onQuarantine: 'park' })
    await client.quarantine.release(FP, { canary: true })
    await db.run(sql<[string], []>`delete from spillway.ready_entries where id = $1`, [job.id])
    await given.job({ id: job.id, state: 'completed' })

    await store.rescue(STALE_MS, 3)

    expect(await stateOf(parked)).toBe('available')
  })

  it('stays, and holds its canary again, when that kills its worker', async () => {
    const job = await convict()
    const { id: parked } = await client.enqueue('test', {}, { onQuarantine: 'park' })
    await client.quarantine.release(FP, { canary: true })

    const session = await store.register(workerInfo({ host: 'elsewhere' }))
    await session.pulse()
    await session.claimSuspect('default')
    await session.close()
    await endWorker(session.registration)
    await store.rescue(STALE_MS, 3)

    expect(await store.getJob(job.id)).toMatchObject({ state: 'quarantined', crashAttempt: 1 })
    expect(await stateOf(parked)).toBe('quarantined')
    expect((await client.quarantine.list()).items).toMatchObject([{ convicted: true, canaryId: null, held: 2 }])
  })

  it('lets single jobs go, which run alone, and says of the others why not', async () => {
    const job = await convict()
    const { id: parked } = await client.enqueue('test', {}, { onQuarantine: 'park' })
    const { id: waiting } = await client.enqueue('test', { n: 1 })

    const answer = await client.quarantine.releaseIds([parked, waiting, '4242', 'x'])

    expect(answer).toMatchObject({
      succeeded: [parked],
      failed: [
        { id: waiting, code: 'invalid_state' },
        { id: '4242', code: 'not_found' },
        { id: 'x', code: 'not_found' },
      ],
    })
    expect(await stateOf(job.id)).toBe('quarantined')
    expect(await convicted()).toEqual([FP])
    await withSession(async (session) => {
      expect((await session.claim('default', 10)).map(({ id }) => id)).toEqual([waiting])
      expect((await session.claimSuspect('default'))?.id).toBe(parked)
    })
  })
})
