import { defineJob, Spillway } from 'spillway'
import { drain } from 'spillway/testing'
import { afterAll, expect, it } from 'vitest'
import { runOperation } from '../../src/client/operation-runner.js'
import { runOrphans } from '../../src/maintenance/operations.js'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'
import { act, deadIds, readyIds, request, stepUntil } from './bulk-work.js'

const charge = defineJob({ kind: 'charge', queue: 'billing', maxAttempts: 5 })

describeStore('canaries', ({ store, given, db, url }) => {
  const spillway = new Spillway({ url })
  afterAll(() => spillway.close())

  const dead = (count: number) =>
    given.jobs(count, { state: 'archived', queue: 'billing', kind: 'charge', maxAttempts: 5, attempt: 5 })
  const start = async (rest: Partial<Parameters<typeof request>[0]>) =>
    (await store.startOperation(request({ selector: { queue: 'billing' }, canary: 3, ...rest }), act)).id
  const sentAhead = (id: string) => stepUntil(store, id, 'me', ({ succeeded }) => succeeded > 0)

  it('that fail again hold the rest back, though they have attempts left, and the operation says why', async () => {
    await dead(1_000)
    let ran = 0
    const id = await start({})
    await sentAhead(id)
    for (let step = 0; step < 5; step++) await store.stepOperation(id, 'me')

    await drain(spillway, {
      jobs: [
        charge.handle(() => {
          ran += 1
          throw new Error('not fixed')
        }),
      ],
    })
    const paused = await runOperation(store, id, 'me')

    expect(ran).toBe(3)
    expect(paused).toMatchObject({ state: 'paused', succeeded: 3, stateReason: expect.stringContaining('3 of 3') })
    expect(await db.run(deadIds, [])).toHaveLength(997)
  })

  it('that do well let the rest follow', async () => {
    await dead(10)
    const id = await start({})
    await sentAhead(id)
    expect(await db.run(readyIds, [])).toHaveLength(3)

    await drain(spillway, { jobs: [charge.handle(() => undefined)] })
    const done = await runOperation(store, id, 'me')

    expect(done).toMatchObject({ state: 'done', matched: 10, succeeded: 10 })
  })

  it('that nobody runs hold the rest back when their time is over', async () => {
    await dead(10)
    const id = await start({ holdMs: 30 })

    const paused = await runOperation(store, id, 'me')

    expect(paused).toMatchObject({ state: 'paused', succeeded: 3, stateReason: expect.stringContaining('worker') })
    expect(await db.run(deadIds, [])).toHaveLength(7)
  })

  it('may fail up to the share that is allowed', async () => {
    await dead(10)
    const id = await start({ abortAbove: 0.4 })
    await sentAhead(id)
    let ran = 0

    await drain(spillway, {
      jobs: [
        charge.handle(() => {
          if (ran++ === 0) throw new Error('one')
        }),
      ],
    })

    expect(await runOperation(store, id, 'me')).toMatchObject({ state: 'done', succeeded: 10 })
  })

  it('do not count those refused on the way twice, and a word of the operator lets the rest follow', async () => {
    await given.jobs(2, { state: 'archived', queue: 'billing', generation: 10 })
    await dead(10)
    const id = await start({ holdMs: 30 })
    expect(await runOperation(store, id, 'me')).toMatchObject({ state: 'paused', succeeded: 3, failed: 2 })

    await store.resumeOperation(id, act)

    expect(await runOperation(store, id, 'me')).toMatchObject({ state: 'done', matched: 12, succeeded: 10, failed: 2 })
  })

  it('are the whole, where there are no more: refused ones are counted once', async () => {
    await dead(2)
    await given.jobs(2, { state: 'archived', queue: 'billing', generation: 10 })
    const id = await start({})
    await sentAhead(id)

    await drain(spillway, { jobs: [charge.handle(() => undefined)] })

    expect(await runOperation(store, id, 'me')).toMatchObject({ state: 'done', matched: 4, succeeded: 2, failed: 2 })
  })
})

describeStore('what a bulk retry writes', ({ store, given, db }) => {
  it('is the entry, the counters and the counts of causes that a retry by id writes', async () => {
    const seed = {
      state: 'archived',
      cause: 'c',
      tags: ['t'],
      progress: { p: 1 },
      errorMessage: 'say "no"\n\\',
      dlqReason: "it's",
      deadline: new Date('2026-01-01T00:00:00.123Z'),
      runLease: 4,
    } as const
    const [one = ''] = await given.jobs(1, seed)
    const [other = ''] = await given.jobs(1, { ...seed, queue: 'bulk' })
    await db.run(sql<[], []>`delete from spillway.counters`, [])

    await store.retryJob(one, { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false }, act)
    const { id } = await store.startOperation(request({ selector: { queue: 'bulk' } }), act)
    while ((await runOrphans(store, 'duty', () => true)) === 0);

    expect(await store.getOperation(id)).toMatchObject({ state: 'done', succeeded: 1 })
    const [byId, inBulk] = await Promise.all(
      [one, other].map(async (job) => (await store.getJob(job))?.history?.at(-1)),
    )
    const same = { at: 0, operation: 0, dlqAt: 0, before: 0, leaseId: 0 }
    expect({ ...inBulk, ...same }).toEqual({ ...byId, ...same })
    expect(inBulk).toMatchObject({
      type: 'retried',
      by: 'ann',
      why: 'gateway is back',
      operation: id,
      reason: "it's",
      originalRunLease: 4,
      runLease: 0,
      progress: { p: 1 },
      before: {
        state: 'archived',
        queue: 'bulk',
        cause: 'c',
        error_message: 'say "no"\n\\',
        run_lease: 4,
      },
    })
    expect(await db.run(counters, [])).toEqual([
      ['bulk', 'retried', 'departed', '1'],
      ['default', 'retried', 'departed', '1'],
    ])
    expect(await db.run(causes, [])).toEqual([
      ['bulk', 'c', '0'],
      ['default', 'c', '0'],
    ])
  })
})

const counters = sql<[], string[]>`select queue, reason, what, n from spillway.counters order by queue`

const causes = sql<[], string[]>`
  select queue, cause, sum(n) from spillway.cause_deltas group by 1, 2 order by 1`
