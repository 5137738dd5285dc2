import { expect, it } from 'vitest'
import type { Job } from '../../src/job/job.js'
import { redrive } from '../../src/job/redrive.js'
import { JOB_STATES } from '../../src/job/states.js'
import { sql } from '../../src/store/postgres/sql.js'
import type { RetryBudget, RetryRequest } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'
import { listenFor, lockWaits } from './heard.js'

const act = { actor: 'ann', reason: 'fixed it', requestId: 'r1' }
const FRESH: RetryRequest = { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false }
const LATER = new Date('2100-01-01T00:00:00.000Z')
const PAST = new Date('2026-01-01T00:00:00.000Z')

const audit = sql<[], string[]>`
  select actor, action, target ->> 'id', reason, result ->> 'from', result ->> 'state', result ->> 'generation', request_id
    from spillway.audit_log order by id`

describeStore('retrying one dead letter', ({ store, given, db, url, inTransaction }) => {
  it.each(['archived', 'failed'] as const)('sends a job that is %s back to work as good as new', async (state) => {
    await given.worker({ queues: ['mail'] })
    const heard = await listenFor(url, 'spillway_notices')
    const dead = await given.job({
      state,
      queue: 'mail',
      attempt: 5,
      crashAttempt: 1,
      maxAttempts: 5,
      runLease: 6,
      generation: 2,
      deadline: PAST,
      uniqueKey: 'k',
      tags: ['a', 'b'],
      metadata: { trace: 'x' },
      payload: { n: 1 },
      timeoutMs: 5,
      priority: 3,
      progress: { done: 7 },
      retention: { dlq: 5 },
    })

    expect(await store.retryJob(dead.id, FRESH, act)).toEqual({
      id: dead.id,
      state: 'available',
      changed: true,
      operation: expect.stringMatching(/^\d+$/),
    })

    const after = (await store.getJob(dead.id, { payload: true })) as Job
    const { result: _, progress: __, ...before } = dead
    expect(after).toEqual({
      ...before,
      state: 'available',
      attempt: 0,
      crashAttempt: 0,
      runLease: 0,
      generation: 3,
      deadline: null,
      runAt: after.runAt,
      history: after.history,
      startedAt: null,
      finalizedAt: null,
      leaseId: null,
      reason: null,
      dlq: null,
    })
    expect(after.history?.slice(0, -1)).toEqual(dead.history)
    expect(after.history?.at(-1)).toMatchObject({
      type: 'retried',
      at: after.history?.at(-1)?.at,
      startedAt: null,
      generation: 2,
      attempt: 5,
      leaseId: dead.leaseId,
      worker: null,
      by: 'ann',
      why: 'fixed it',
      operation: expect.stringMatching(/^\d+$/),
      reason: 'attempts_exhausted',
      dlqAt: dead.dlq?.dlqAt ?? null,
      originalRunLease: 6,
      progress: { done: 7 },
      before: { state, max_attempts: 5, run_lease: 6 },
    })
    const [row] = await db.run(
      sql<[], string[]>`select position, charge_base, retention from spillway.ready_entries`,
      [],
    )
    expect(row?.slice(1)).toEqual(['0', '{"dlq":5}'])
    expect(await heard.close()).toEqual([`r|3|${row?.[0]}|mail`])
    expect(await db.run(audit, [])).toEqual([['ann', 'retry', dead.id, 'fixed it', state, 'available', '3', 'r1']])
    expect(await db.run(sql`select 1 from spillway.dlq_tags`, [])).toEqual([])
    const counted = sql<[], string[]>`select queue, kind, reason, what, n from spillway.counters`
    expect(await db.run(counted, [])).toEqual(
      state === 'archived' ? [['mail', 'test', 'retried', 'departed', '1']] : [],
    )
  })

  it('takes overrides, and keeps the payload they replace', async () => {
    const heard = await listenFor(url, 'spillway_notices')
    const { id } = await given.job({ state: 'archived', payloadText: '{"card": 9007199254740993}' })
    const overrides = {
      queue: 'slow',
      priority: 1,
      runAt: LATER,
      maxAttempts: 2,
      deadline: LATER,
      payload: '{"card": 9007199254740995}',
    }

    const acted = await store.retryJob(id, { ...FRESH, overrides }, act)

    expect(acted).toMatchObject({
      state: 'scheduled',
      warnings: [expect.stringContaining('no live worker serves queue "slow"')],
    })
    const job = await store.getJob(id, { payload: true })
    expect(job).toMatchObject({
      state: 'scheduled',
      queue: 'slow',
      priority: 1,
      runAt: LATER,
      maxAttempts: 2,
      deadline: LATER,
    })
    expect(job?.payloadText).toBe(overrides.payload)
    expect(job?.history?.at(-1)).toHaveProperty('payloadBefore')
    expect((await store.getJob(id))?.history?.at(-1)).not.toHaveProperty('payloadBefore')
    const newest = sql<[], [string]>`select last_entry from spillway.deferred_jobs`
    expect((await db.run(newest, []))[0]?.[0]).toContain('{"card": 9007199254740993}')
    expect(await heard.close()).toEqual([`d|${LATER.getTime()}`])
    expect(await store.dlqDepth()).toEqual({ total: 0, queues: [] })
  })

  it('leaves its entry beside the history, to be filed with the next one', async () => {
    const { id } = await given.job({ state: 'archived' })
    const parts = sql<[], [filed: string, beside: string | null]>`
      select cardinality(history), last_entry::json ->> 'type' from spillway.ready_entries`
    const [[before]] = (await db.run(sql<[], [string]>`select cardinality(history) from spillway.dlq_entries`, [])) as [
      [string],
    ]

    await store.retryJob(id, FRESH, act)
    const retried = await db.run(parts, [])
    await store.editJob(id, { priority: 7 }, act)

    expect(retried).toEqual([[before, 'retried']])
    expect(await db.run(parts, [])).toEqual([[String(Number(before) + 2), null]])
    const history = (await store.getJob(id))?.history
    expect(history?.slice(-2).map(({ type }) => type)).toEqual(['retried', 'edited'])
  })

  it('leaves a payload alone that JSON.parse would round', async () => {
    const payloadText = '{"id":9007199254740993, "a" : 1.0}'
    const [id = ''] = await given.jobs(1, { state: 'archived', payloadText })

    await store.retryJob(id, FRESH, act)

    expect((await store.getJob(id, { payload: true }))?.payloadText).toBe(payloadText)
  })

  it('is done once of fifty at the same time, and the others learn that it was', async () => {
    const { id } = await given.job({ state: 'archived', uniqueKey: 'k' })
    let answers: PromiseSettledResult<unknown>[] = []
    let calls: Promise<PromiseSettledResult<unknown>[]> = Promise.resolve([])

    await inTransaction(async (tx) => {
      // All that fit the pool stand before the row when it is let go.
      await tx.execute(`select 1 from spillway.dlq_entries where id = ${id} for update`)
      calls = Promise.allSettled(Array.from({ length: 50 }, () => store.retryJob(id, FRESH, act)))
      await lockWaits(db, 9)
    })
    answers = await calls

    const lost = answers.filter((answer) => answer.status === 'rejected').map(({ reason }) => reason)
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(lost).toHaveLength(49)
    for (const error of lost) expect(error).toMatchObject({ code: 'already_retried', jobId: id, state: 'available' })
    expect(await store.getJob(id)).toMatchObject({ state: 'available', generation: 1 })
    expect(await db.run(audit, [])).toHaveLength(1)
  })

  it('does not take a second death for the first', async () => {
    const { id } = await given.job({ state: 'archived' })
    let call: Promise<unknown> = Promise.resolve()

    await inTransaction(async (tx) => {
      // Somebody retries it and it dies again, while our call waits.
      await tx.execute(`create temp table again on commit drop as select * from spillway.dlq_entries where id = ${id};
                        delete from spillway.dlq_entries where id = ${id};
                        update again set generation = generation + 1;
                        insert into spillway.dlq_entries select * from again`)
      call = store.retryJob(id, FRESH, act).catch((error: unknown) => error)
      await lockWaits(db)
    })

    expect(await call).toMatchObject({ code: 'already_retried', state: 'archived' })
    expect(await store.getJob(id)).toMatchObject({ state: 'archived', generation: 1 })
  })

  it.each(JOB_STATES.filter((state) => state !== 'archived' && state !== 'failed'))(
    'refuses a job that is %s by its name, and changes nothing',
    async (state) => {
      const before = await given.job({ state })

      await expect(store.retryJob(before.id, FRESH, act)).rejects.toMatchObject({
        code: 'invalid_state',
        state,
        message: expect.stringContaining(`it is ${state}`),
      })

      expect(await store.getJob(before.id, { payload: true })).toEqual(before)
      expect(await db.run(audit, [])).toEqual([])
    },
  )

  it.each(['available', 'scheduled', 'running', 'waiting', 'retryable'] as const)(
    'says of a job that is %s in a later generation that it was retried already',
    async (state) => {
      const { id } = await given.job({ state, generation: 1 })

      await expect(store.retryJob(id, FRESH, act)).rejects.toMatchObject({ code: 'already_retried', state })
    },
  )

  it.each(['12345', 'x', '', '99999999999999999999'])('knows no job %j', async (id) => {
    await expect(store.retryJob(id, FRESH, act)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('leaves the dead letter where it is when the target does not take it', async () => {
    const before = await given.job({ state: 'archived', uniqueKey: 'k', tags: ['t'] })
    await inTransaction((tx) =>
      tx.execute(`create function spillway.refuse() returns trigger language plpgsql as
                    $$ begin raise exception 'not today'; end $$;
                  create trigger refuse before insert on spillway.ready_entries
                     for each row execute function spillway.refuse()`),
    )

    await expect(store.retryJob(before.id, FRESH, act)).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('not today'),
    })

    await inTransaction((tx) => tx.execute('drop function spillway.refuse() cascade'))
    expect(await store.getJob(before.id, { payload: true })).toEqual(before)
    expect(await store.dlqDepth()).toMatchObject({ total: 1 })
    expect(await db.run(audit, [])).toEqual([])
  })

  it('stops at the cap of the queue, unless it is forced', async () => {
    const { id } = await given.job({ state: 'archived', generation: 10 })
    const other = await given.job({ state: 'archived', generation: 2, queue: 'strict' })
    await store.setQueue('strict', { maxGenerations: 2 }, act)

    await expect(store.retryJob(id, FRESH, act)).rejects.toMatchObject({ code: 'generation_cap' })
    await expect(store.retryJob(other.id, FRESH, act)).rejects.toMatchObject({ code: 'generation_cap' })

    expect(await store.getJob(id)).toMatchObject({ state: 'archived' })
    await store.retryJob(id, { ...FRESH, force: true }, act)
    expect(await store.getJob(id)).toMatchObject({ state: 'available', generation: 11 })
  })

  interface Case {
    readonly budget: RetryBudget
    readonly deadline?: Date
    readonly newDeadline?: Date
    readonly maxAttempts?: number
  }
  const budgets: RetryBudget[] = ['fresh', 'keep', { extra: 1 }, { extra: 30 }]
  it.each(
    budgets.flatMap((budget): Case[] => [
      { budget },
      { budget, deadline: PAST },
      { budget, deadline: LATER },
      { budget, deadline: PAST, newDeadline: LATER },
      { budget, newDeadline: PAST },
      { budget, maxAttempts: 7 },
    ]),
  )('counts as the table of budgets says: %j', async ({ budget, deadline = null, newDeadline, maxAttempts }) => {
    const dead = await given.job({
      state: 'archived',
      attempt: 5,
      crashAttempt: 2,
      maxAttempts: 5,
      runLease: 7,
      deadline,
    })
    const overrides = { ...(newDeadline && { deadline: newDeadline }), ...(maxAttempts && { maxAttempts }) }
    const expected = redrive(dead, { budget, deadline: newDeadline, maxAttempts, maxGenerations: 10 }, new Date())

    const acted = await store.retryJob(dead.id, { ...FRESH, budget, overrides }, act).catch((error: unknown) => error)

    if (!expected.ok) {
      expect(acted).toMatchObject({ code: expected.code })
      expect(await store.getJob(dead.id, { payload: true })).toEqual(dead)
      return
    }
    const { chargeBase, ...counters } = expected.job
    expect(await store.getJob(dead.id)).toMatchObject(counters)
    const base = sql<[], [string]>`select charge_base from spillway.ready_entries`
    expect(await db.run(base, [])).toEqual([[String(chargeBase)]])
  })
})
