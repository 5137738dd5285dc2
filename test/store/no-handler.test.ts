import { expect, it } from 'vitest'
import { noHandlerQueries } from '../../src/store/postgres/queries/no-handler.js'
import { unservedQueries } from '../../src/store/postgres/queries/unserved.js'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'

/** Workers are silent in these tests while time passes; here that makes none stale. */
const STALE_MS = 24 * 3_600_000
const LIMIT_MS = 180_000
const ago = (ms: number) => new Date(Date.now() - ms)

describeStore('kinds that no worker of their queue serves', ({ store, given, db, clock, checker }) => {
  const setLimit = (more = '') =>
    db.run(
      sql<[string], []>`
      insert into spillway.queues (queue, policy, dlq_enabled)
      values ('default', '{"noHandlerAfterMs": 180000}', $1::boolean)`,
      [more === 'no dlq' ? 'false' : 'true'],
    )
  const pass = () => store.judgeUnserved(STALE_MS, 1_000)
  /** Minutes go by, with a look at the end of each. */
  const minutes = async (count: number) => {
    let died = 0
    for (let n = 0; n < count; n++) {
      await clock.advance('60s')
      died += (await pass()).died
    }
    return died
  }
  const stateOf = async (id: string) => (await store.getJob(id))?.state

  it('give their jobs up when they have waited for the limit of the queue, and not before', async () => {
    await setLimit()
    await given.worker({ kinds: ['test@1'] })
    const job = await given.job({
      kind: 'other',
      attempt: 2,
      handbacks: 1,
      tags: ['a'],
      uniqueKey: 'k',
      payload: { n: 1 },
    })
    await pass()

    const early = await minutes(2)
    const waiting = await store.unservedKinds()
    const late = await minutes(2)

    expect([early, late]).toEqual([0, 1])
    expect(waiting).toEqual([
      { queue: 'default', kind: 'other', version: 1, waitedMs: expect.any(Number), limitMs: LIMIT_MS },
    ])
    const dead = await store.getJob(job.id, { payload: true })
    expect(dead).toMatchObject({
      state: 'archived',
      attempt: 2,
      runLease: job.runLease,
      handbacks: 0,
      payload: { n: 1 },
      dlq: {
        reason: 'no_handler',
        errorClass: 'NoHandler',
        errorMessage: 'no live worker of queue default serves other version 1',
      },
    })
    expect(dead?.history?.at(-1)).toMatchObject({ type: 'no_handler', message: dead?.dlq?.errorMessage })
    expect(await db.run(sql`select reason, what, n from spillway.counters`, [])).toEqual([
      ['no_handler', 'arrived', '1'],
    ])
    expect(await db.run(sql`select type, reason, job_id from spillway.event_outbox`, [])).toEqual([
      ['died', 'no_handler', job.id],
    ])
    // Freed with the death.
    await given.job({ kind: 'test', uniqueKey: 'k' })
    await minutes(1)
    expect(await store.unservedKinds()).toEqual([])
  })

  it('do not grow older while nobody takes their queue, however long that is', async () => {
    await setLimit()
    const job = await given.job({ kind: 'other' })
    await given.worker({ queues: ['another'], kinds: ['test@1'] })
    await minutes(5)
    await clock.advance('5h')
    await given.worker({ queues: ['default'], kinds: ['test@1'] })

    const first = await pass()
    const died = await minutes(2)

    expect([first.died, died]).toEqual([0, 0])
    expect(await stateOf(job.id)).toBe('available')
    expect(await minutes(2)).toBe(1)
  })

  it('are not noted where the last worker has gone since its queue was looked up', async () => {
    await given.job({ kind: 'other' })
    const { track } = unservedQueries('spillway')

    const next = await db.run(track, [['default'], STALE_MS, 90_000])

    expect(next).toEqual([[null]])
    expect(await store.unservedKinds()).toEqual([])
  })

  it('are spared by a worker that has come, or the last that has gone, since they were looked for', async () => {
    const job = await given.job({ kind: 'other', runAt: ago(24 * 3_600_000) })
    const first = await given.worker({ kinds: ['test@1'] })
    await db.run(
      sql`insert into spillway.unserved_kinds (queue, kind, version, waited_ms) values ('default', 'other', 1, 9999999)`,
      [],
    )
    const { expire } = noHandlerQueries('spillway')
    const late = () => db.run(expire, [['default'], STALE_MS, 1_000])

    const second = await given.worker({ kinds: ['other@1'] })
    const served = await late()
    await db.run(sql<[string], []>`delete from spillway.workers where registration = any ($1::bigint[])`, [
      `{${first},${second}}`,
    ])
    const watchedByNobody = await late()
    await given.worker({ kinds: ['test@1'] })

    expect([served, watchedByNobody]).toEqual([[['0']], [['0']]])
    expect(await stateOf(job.id)).toBe('available')
    expect(await late()).toEqual([['1']])
  })

  it('do not grow older while nobody looks either', async () => {
    await setLimit()
    const job = await given.job({ kind: 'other' })
    await given.worker({ kinds: ['test@1'] })
    await pass()

    await clock.advance('5h')
    const died = (await pass()).died + (await minutes(2))

    expect(died).toBe(0)
    expect(await stateOf(job.id)).toBe('available')
  })

  it('begin anew once somebody has served them', async () => {
    await setLimit()
    const job = await given.job({ kind: 'other' })
    await given.worker({ kinds: ['test@1'] })
    await pass()
    await minutes(2)

    const serving = await given.worker({ kinds: ['other@1'] })
    await minutes(1)
    await db.run(sql<[string], []>`delete from spillway.workers where registration = $1`, [serving])
    const died = (await pass()).died + (await minutes(2))

    expect(died).toBe(0)
    expect(await stateOf(job.id)).toBe('available')
  })

  it('are told apart by version and by queue', async () => {
    await setLimit()
    await given.worker({ kinds: ['test@1', 'test@2'] })
    const third = await given.job({ version: 3 })
    const second = await given.job({ version: 2 })
    const elsewhere = await given.job({ queue: 'another', version: 3 })
    await pass()

    await minutes(4)

    expect(await Promise.all([third, second, elsewhere].map(({ id }) => stateOf(id)))).toEqual([
      'archived',
      'available',
      'available',
    ])
  })

  it('leave a job that came late its own time', async () => {
    await setLimit()
    await given.worker({ kinds: ['test@1'] })
    const old = await given.job({ kind: 'other' })
    await pass()
    await minutes(2)
    const young = await given.job({ kind: 'other' })

    await minutes(2)

    expect([await stateOf(old.id), await stateOf(young.id)]).toEqual(['archived', 'available'])
    await minutes(2)
    expect(await stateOf(young.id)).toBe('archived')
  })

  it('count what waits to be due, runs or is held for nobody', async () => {
    await setLimit()
    await given.worker({ kinds: ['test@1'] })
    await given.job({ kind: 'other', state: 'scheduled' })
    await given.job({ kind: 'other', state: 'retryable' })
    await given.job({ kind: 'other', state: 'undecodable' })
    await pass()

    expect(await minutes(4)).toBe(0)
    expect(await store.unservedKinds()).toEqual([])
  })

  it('lose what was set aside like the rest, and are failed where there is no dead-letter queue', async () => {
    await setLimit('no dlq')
    await given.worker({ kinds: ['test@1'] })
    const aside = await given.job({
      kind: 'other',
      setAside: 3,
      state: 'available',
      dueAt: new Date(Date.now() + 3_600_000),
    })
    const ready = await given.job({ kind: 'other' })
    await pass()

    expect(await minutes(4)).toBe(2)
    expect(await store.getJob(aside.id)).toMatchObject({ state: 'failed', reason: 'no_handler', dlq: null })
    expect(await store.getJob(ready.id)).toMatchObject({ state: 'failed', reason: 'no_handler' })
    expect(await checker.census()).toEqual({ failed: 2 })
  })

  it('neither wait for nor take what an operator is just changing', async () => {
    await setLimit()
    await given.worker({ kinds: ['test@1'] })
    const changing = await given.job({ kind: 'other' })
    const aside = await given.job({ kind: 'other', setAside: 1, dueAt: new Date(Date.now() + 3_600_000) })
    const free = await given.job({ kind: 'other' })
    await pass()
    await minutes(2)

    await db.transaction(async (tx) => {
      await tx.run(sql<[string], []>`select from spillway.ready_entries where id = $1 for update`, [changing.id])
      await tx.run(sql<[string], []>`select from spillway.deferred_jobs where id = $1 for update`, [aside.id])
      await minutesOn()
    })

    const states = await Promise.all([changing, aside, free].map(({ id }) => stateOf(id)))
    expect(states).toEqual(['available', 'available', 'archived'])

    /** Not by the clock, which would wait for the transaction: as if the limit were shorter. */
    async function minutesOn() {
      await db.run(sql`update spillway.queues set policy = '{"noHandlerAfterMs": 60000}'`, [])
      await pass()
    }
  })

  it('are not those of a worker that is stopping or silent', async () => {
    await setLimit()
    await given.worker({ kinds: ['test@1'] })
    await given.worker({ kinds: ['stops@1'], state: 'stopping' })
    await given.worker({ kinds: ['silent@1'], heartbeatAt: ago(STALE_MS + 60_000) })
    const [stops, silent] = [await given.job({ kind: 'stops' }), await given.job({ kind: 'silent' })]
    await pass()

    expect(await minutes(4)).toBe(2)
    expect([await stateOf(stops.id), await stateOf(silent.id)]).toEqual(['archived', 'archived'])
  })
})
