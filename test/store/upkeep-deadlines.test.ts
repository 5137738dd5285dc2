import { expect, it } from 'vitest'
import { causeOf } from '../../src/job/cause.js'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'

const ago = (ms: number) => new Date(Date.now() - ms)

describeStore('deadlines of jobs that wait', ({ store, given, db, inTransaction }) => {
  it.each(['available', 'scheduled', 'retryable', 'waiting'] as const)(
    'archives a %s job once its deadline passed',
    async (state) => {
      const deadline = ago(1_000)
      const late = await given.job({
        state,
        deadline,
        tags: ['a', 'b'],
        uniqueKey: 'k',
        handbacks: 3,
        payload: { n: 1 },
      })
      const early = await given.job({ state, deadline: new Date(Date.now() + 60_000) })
      const free = await given.job({ state })

      const expired = await store.expireDeadlines(1_000)
      const again = await store.expireDeadlines(1_000)

      expect([expired, again]).toEqual([1, 0])
      const dead = (await store.getJob(late.id, { payload: true }))!
      expect(dead).toMatchObject({
        state: 'archived',
        attempt: late.attempt,
        handbacks: 0,
        tags: ['a', 'b'],
        payload: { n: 1 },
        dlq: { reason: 'deadline_exceeded', errorClass: 'DeadlineExceeded', originalRunLease: late.runLease },
      })
      expect(dead.history?.at(-1)).toMatchObject({
        type: 'deadline',
        name: 'DeadlineExceeded',
        message: `the deadline ${deadline.toISOString()} has passed`,
        cause: [],
      })
      expect((await store.getJob(early.id))?.state).toBe(state)
      expect((await store.getJob(free.id))?.state).toBe(state)
      // Freed with the death.
      await given.job({ uniqueKey: 'k' })
    },
  )

  it('stands in one group with a running job whose deadline passed', async () => {
    const late = await given.job({ kind: 'a "quoted" kind', deadline: ago(1_000) })

    await store.expireDeadlines(1_000)

    const message = 'the deadline 2030-01-01T00:00:00.000Z has passed'
    const running = causeOf({
      kind: late.kind,
      errorClass: 'DeadlineExceeded',
      message,
      stack: null,
      reason: 'deadline_exceeded',
    })
    expect((await store.getJob(late.id))?.dlq?.cause).toBe(running.cause)
    expect(await db.run(sql`select cause, title, error_class from spillway.dlq_causes`, [])).toEqual([
      [running.cause, running.title, running.errorClass],
    ])
  })

  it('fails the job where the queue has no dead-letter queue, and counts each death and tells of it', async () => {
    await db.run(sql`insert into spillway.queues (queue, dlq_enabled) values ('plain', false)`, [])
    await db.run(
      sql`insert into spillway.queues (queue, dlq_enabled, retention) values ('bare', false, '{"failed": 0}')`,
      [],
    )
    const failed = await given.job({ queue: 'plain', deadline: ago(1_000), tags: ['a'] })
    const gone = await given.job({ queue: 'bare', deadline: ago(1_000) })
    await given.jobs(2, { queue: 'dead', deadline: ago(1_000) })

    const expired = await store.expireDeadlines(1_000)

    expect(expired).toBe(4)
    expect(await store.getJob(failed.id)).toMatchObject({ state: 'failed', reason: 'deadline_exceeded' })
    expect(await store.getJob(gone.id)).toBeUndefined()
    const counted = await db.run(
      sql`
      select queue, reason, what, n from spillway.counters order by queue`,
      [],
    )
    expect(counted).toEqual([
      ['bare', 'deadline_exceeded', 'gone', '1'],
      ['dead', 'deadline_exceeded', 'arrived', '2'],
      ['plain', 'deadline_exceeded', 'failed', '1'],
    ])
    expect(await db.run(sql`select count(*) from spillway.event_outbox where type = 'died'`, [])).toEqual([['4']])
  })

  it('neither waits for nor takes what is just being claimed', async () => {
    const claimed = await given.job({ deadline: ago(1_000) })
    const waits = await given.job({ deadline: ago(1_000) })

    await inTransaction(async (tx) => {
      await tx.run(sql<[id: string], []>`select from spillway.ready_entries where id = $1 for update`, [claimed.id])
      expect(await store.expireDeadlines(1_000)).toBe(1)
    })

    expect((await store.getJob(waits.id))?.state).toBe('archived')
    expect((await store.getJob(claimed.id))?.state).toBe('available')
  })
})
