import { expect, it } from 'vitest'
import { JOB_STATES } from '../../src/job/states.js'
import { describeStore } from '../support/store.js'
import { setAside } from './aside.js'

describeStore('looking at one job', ({ store, given, db, inTransaction, schema }) => {
  it.each(JOB_STATES)('finds a job that is %s, with everything it carries', async (state) => {
    const deadline = new Date('2100-01-01T00:00:00.000Z')
    const [id = ''] = await given.jobs(1, {
      state,
      queue: 'mail',
      kind: 'send',
      version: 3,
      priority: 7,
      attempt: 2,
      maxAttempts: 9,
      runLease: 4,
      generation: 1,
      deadline,
      timeoutMs: 1500,
      uniqueKey: 'key',
      tags: ['a', 'b'],
      metadata: { trace: 'x' },
      payload: { to: 'you' },
    })

    const job = await store.getJob(id, { payload: true })

    expect(job).toMatchObject({
      id,
      state,
      queue: 'mail',
      kind: 'send',
      version: 3,
      priority: 7,
      attempt: 2,
      crashAttempt: state === 'quarantined' ? 3 : 0,
      maxAttempts: 9,
      runLease: 4,
      generation: 1,
      deadline,
      timeoutMs: 1500,
      uniqueKey: 'key',
      tags: ['a', 'b'],
      metadata: { trace: 'x' },
      payload: { to: 'you' },
    })
    expect(job?.history?.map((entry) => entry.type)).toEqual(['error', 'error'])
  })

  it('shows a job that was set aside as available', async () => {
    const id = await setAside(db, given)

    expect(await store.getJob(id)).toMatchObject({ state: 'available' })
  })

  it('shows what the running attempt reported, and not what an earlier one did', async () => {
    const mine = await given.job({ state: 'running' })
    const stale = await given.job({ state: 'running' })
    await inTransaction((tx) =>
      tx.execute(`insert into ${schema}.attempt_state (job_id, lease_id, progress)
                  values (${mine.id}, ${mine.leaseId}, '{"done":3}'), (${stale.id}, 1, '{"done":9}')`),
    )

    expect(await store.getJob(mine.id)).toMatchObject({ state: 'running', progress: { done: 3 } })
    expect(await store.getJob(stale.id)).not.toHaveProperty('progress')
  })

  it('carries what the dead-letter queue knows of a dead one, and nothing of it for a living one', async () => {
    const dlqAt = new Date('2026-01-02T03:04:05.678Z')
    const dead = await given.job({ state: 'archived', dlqAt, dlqReason: 'skipped', originalRunLease: 6, cause: 'c1' })
    const alive = await given.job()

    expect(dead.dlq).toEqual({
      reason: 'skipped',
      dlqAt,
      originalRunLease: 6,
      cause: 'c1',
      errorClass: 'Error',
      errorMessage: 'it failed',
    })
    expect(dead.finalizedAt).toEqual(dlqAt)
    expect(alive.dlq).toBeNull()
  })

  it('keeps large integers exact in the stored text, and the payload to those who ask', async () => {
    const payloadText = '{"id": 9007199254740993}'
    const [id = ''] = await given.jobs(1, { state: 'archived', payloadText })

    expect((await store.getJob(id, { payload: true }))?.payloadText).toBe(payloadText)
    expect(await store.getJob(id)).not.toHaveProperty('payload')
    expect(await store.getJob(id)).not.toHaveProperty('payloadText')
  })

  it.each(['0', '9223372036854775807', '9223372036854775808', '99999999999999999999', '-1', '1.5', 'x', ''])(
    'knows no job %j',
    async (id) => {
      expect(await store.getJob(id)).toBeUndefined()
    },
  )

  it('sees a job in exactly one place while it moves', async () => {
    const { id } = await given.job({ state: 'scheduled' })
    const moves: string[] = []
    let looking = true

    const movedToAndFro = (async () => {
      while (looking) {
        moves.push((await store.promoteJob(id, { actor: 'test' })).state)
        moves.push((await store.rescheduleJob(id, new Date('2100-01-01'), { actor: 'test' })).state)
      }
    })()
    for (let n = 0; n < 60; n++) expect(['available', 'scheduled']).toContain((await store.getJob(id))?.state)
    looking = false
    await movedToAndFro

    expect(moves.slice(0, 2)).toEqual(['available', 'scheduled'])
  })
})

describeStore('looking at queues, workers and counts', ({ store, given, db }) => {
  it('knows queues that were set, and those that only a job, a dead letter or a worker names', async () => {
    await store.setQueue('set', { dlqEnabled: false }, { actor: 'test' })
    await given.job({ queue: 'lively' })
    await given.job({ queue: 'later', state: 'scheduled' })
    await given.job({ queue: 'deadly', state: 'archived' })
    await given.worker({ queues: ['served', 'lively'] })

    const queues = await store.listQueues()

    expect(queues.map(({ queue }) => queue)).toEqual(['deadly', 'later', 'lively', 'served', 'set'])
    expect(queues.map(({ counts }) => counts)).toEqual([{ archived: 1 }, { scheduled: 1 }, { available: 1 }, {}, {}])
    expect(queues.find(({ queue }) => queue === 'set')?.policy.dlqEnabled).toBe(false)
  })

  it('shows the defaults of a queue nobody set', async () => {
    expect(await store.getQueue('unheard of')).toMatchObject({
      queue: 'unheard of',
      policy: { dlqEnabled: true, maxGenerations: 10, retention: { dlq: 30 * 86_400_000, held: null } },
      pausedAt: null,
      updatedAt: null,
      counts: {},
    })
  })

  it('shows the workers with what each runs', async () => {
    const registration = await given.worker({ name: 'w1', queues: ['mail'], kinds: ['send@1'], concurrency: 4 })
    const idle = await given.worker({ name: 'w2', queues: ['mail'], state: 'stopping' })
    await given.jobs(3, { state: 'running', queue: 'mail', registration })

    const workers = await store.listWorkers()

    expect(workers).toMatchObject([
      { registration, name: 'w1', queues: ['mail'], kinds: ['send@1'], concurrency: 4, running: 3, state: 'running' },
      { registration: idle, name: 'w2', running: 0, state: 'stopping' },
    ])
    expect(workers[0]?.heartbeatAt).toBeInstanceOf(Date)
  })

  it('counts the jobs of every state', async () => {
    for (const [n, state] of JOB_STATES.entries()) await given.jobs(n + 1, { state })
    await setAside(db, given)
    await setAside(db, given)

    const counts = await store.countJobs()

    const expected = Object.fromEntries(JOB_STATES.map((state, n) => [state, n + 1]))
    expect(counts).toEqual({ ...expected, available: (expected['available'] ?? 0) + 2 })
  })

  it('measures the dead-letter queue by queue, folded or not, and how old its oldest is', async () => {
    const dlqAt = new Date('2026-01-01T00:00:00.000Z')
    await given.jobs(3, { state: 'archived', queue: 'a' })
    await given.job({ state: 'archived', queue: 'a', dlqAt, cause: 'other' })
    const retried = await given.job({ state: 'archived', queue: 'b' })
    await given.jobs(2, { state: 'archived', queue: 'c' })
    await store.retryJob(
      retried.id,
      { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false },
      { actor: 'test' },
    )

    const depth = await store.dlqDepth()
    await store.fold(1_000)

    expect(depth).toMatchObject({
      total: 6,
      queues: [
        { queue: 'a', depth: 4, oldestAt: dlqAt },
        { queue: 'c', depth: 2 },
      ],
    })
    expect(await store.dlqDepth()).toEqual(depth)
    expect(await store.dlqDepth('c')).toMatchObject({ total: 2, queues: [{ queue: 'c', depth: 2 }] })
    expect(await store.dlqDepth('b')).toEqual({ total: 0, queues: [] })
  })
})
