import { expect, it } from 'vitest'
import { statesAccepting } from '../../src/job/lifecycle.js'
import { JOB_STATES, LIVE_STATES } from '../../src/job/states.js'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'
import { setAside } from './aside.js'
import { listenFor, lockWaits } from './heard.js'

const act = { actor: 'ann', reason: 'a test', requestId: 'r1' }
const LATER = new Date('2100-01-01T00:00:00.000Z')

const audit = sql<[], string[]>`
  select actor, action, target ->> 'id', target ->> 'queue', reason, result::jsonb ->> 'from', result::jsonb ->> 'state', request_id
    from spillway.audit_log order by id`

describeStore('cancelling', ({ store, given, db, url, inTransaction }) => {
  it.each(statesAccepting('cancel'))('takes a job that is %s out of work and frees its key', async (state) => {
    const before = await given.job({ state, uniqueKey: 'k', tags: ['t'], attempt: 2 })

    expect(await store.cancelJob(before.id, act)).toEqual({ id: before.id, state: 'cancelled', changed: true })

    const after = await store.getJob(before.id, { payload: true })
    const { startedAt, leaseId } = before
    expect(after).toMatchObject({ state: 'cancelled', tags: ['t'], attempt: 2, reason: 'a test', startedAt, leaseId })
    expect(after?.history?.at(-1)).toMatchObject({ type: 'cancelled', by: 'ann', why: 'a test', attempt: 2 })
    expect(after?.history?.at(-1)?.at).toBeInstanceOf(Date)
    expect(await db.run(sql`select 1 from spillway.unique_keys`, [])).toEqual([])
    expect(await db.run(audit, [])).toEqual([['ann', 'cancel', before.id, null, 'a test', state, 'cancelled', 'r1']])
  })

  it('tells the worker of a running job to abort, and remembers that its handler still runs', async () => {
    const heard = await listenFor(url, 'spillway_notices')
    const { id, leaseId } = await given.job({ state: 'running' })
    const registration = BigInt(leaseId as string) >> 36n

    await store.cancelJob(id, act)

    const aborts = sql<[], string[]>`select registration, lease_id, job_id, reason from spillway.aborts`
    expect(await db.run(aborts, [])).toEqual([[String(registration), leaseId, id, 'cancelled']])
    expect(await db.run(sql`select handler_running from spillway.terminal_entries`, [])).toEqual([['t']])
    expect(await heard.close()).toEqual([`a|${registration}`])
  })

  it.each(JOB_STATES.filter((state) => !statesAccepting('cancel').includes(state) && state !== 'cancelled'))(
    'refuses a job that is %s, and leaves it alone',
    async (state) => {
      const before = await given.job({ state })

      await expect(store.cancelJob(before.id, act)).rejects.toMatchObject({ code: 'invalid_state', state })

      expect(await store.getJob(before.id, { payload: true })).toEqual(before)
      expect(await db.run(audit, [])).toEqual([])
    },
  )

  it('says that a cancelled job was so already', async () => {
    const { id } = await given.job({ state: 'cancelled' })

    expect(await store.cancelJob(id, act)).toEqual({ id, state: 'cancelled', changed: false })
  })

  it.each(['1', 'x', '99999999999999999999'])('knows no job %j', async (id) => {
    await expect(store.cancelJob(id, act)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('keeps as long as the job, else the queue, says', async () => {
    await store.setQueue('short', { retention: { cancelled: 0 } }, act)
    await store.setQueue('ever', { retention: { cancelled: null } }, act)
    const gone = await given.job({ queue: 'short' })
    const own = await given.job({ queue: 'short', retention: { cancelled: 999_999_999 } })
    const kept = await given.job({ queue: 'ever' })

    expect(await store.cancelJob(gone.id, act)).toEqual({ id: gone.id, state: 'gone', changed: true })
    await store.cancelJob(own.id, act)
    await store.cancelJob(kept.id, act)

    expect(await store.getJob(gone.id)).toBeUndefined()
    const classes = sql<[], string[]>`select id, retention_class from spillway.terminal_entries order by id`
    expect(await db.run(classes, [])).toEqual([
      [own.id, '2'],
      [kept.id, '3'],
    ])
    const counted = sql<[], string[]>`select reason, what, n from spillway.counters`
    expect(await db.run(counted, [])).toEqual([['cancelled', 'gone', '1']])
  })

  it('follows a job that is being claimed meanwhile', async () => {
    const { id } = await given.job()
    let cancelled: Promise<unknown> = Promise.resolve()

    await inTransaction(async (tx) => {
      await tx.execute(
        `with picked as (delete from spillway.ready_entries where id = ${id} returning *)
         insert into spillway.leases (id, queue, kind, payload, position, slot, lease_id)
         select id, queue, kind, payload, position, 0, 5::bigint << 36 from picked`,
      )
      cancelled = store.cancelJob(id, act)
      await lockWaits(db)
    })

    expect(await cancelled).toEqual({ id, state: 'cancelled', changed: true })
    expect(await store.getJob(id)).toMatchObject({ state: 'cancelled', leaseId: String(5n << 36n) })
    expect(await db.run(sql`select registration from spillway.aborts`, [])).toEqual([['5']])
  })

  it('makes the partition of the day where it is missing', async () => {
    const { id } = await given.job()
    const dropped = sql<[], [name: string]>`
      select inhrelid::regclass::text from pg_inherits
       where inhparent = 'spillway.terminal_entries'::regclass and inhrelid::regclass::text like '%terminal_0_%'`
    const names = (await db.run(dropped, [])).map(([name]) => name)
    await inTransaction((tx) => tx.execute(`drop table ${names.join(', ')}`))

    expect(await store.cancelJob(id, act)).toMatchObject({ state: 'cancelled' })
  })
})

describeStore('promoting', ({ store, given, db, url }) => {
  it.each(statesAccepting('promote'))(
    'makes a job that is %s available now, at the end of its priority',
    async (state) => {
      const heard = await listenFor(url, 'spillway_notices')
      const before = await given.job({ state, priority: 9, runAt: LATER, attempt: 1, uniqueKey: 'k' })
      const first = await given.job({ priority: 9 })

      expect(await store.promoteJob(before.id, act)).toEqual({ id: before.id, state: 'available', changed: true })

      const after = await store.getJob(before.id, { payload: true })
      expect(after).toEqual({ ...before, state: 'available', startedAt: null, runAt: after?.runAt })
      expect(after?.runAt.getTime()).toBeLessThan(LATER.getTime())
      const positions = sql<[], string[]>`select id, position from spillway.ready_entries order by position`
      const rows = await db.run(positions, [])
      expect(rows.map(([id]) => id)).toEqual([first.id, before.id])
      expect(await heard.close()).toEqual([`r|9|${rows[1]?.[1]}|default`])
      expect(await db.run(audit, [])).toEqual([['ann', 'promote', before.id, null, 'a test', state, 'available', 'r1']])
    },
  )

  it.each(JOB_STATES.filter((state) => !statesAccepting('promote').includes(state)))(
    'refuses a job that is %s, and leaves it alone',
    async (state) => {
      const before = await given.job({ state })

      await expect(store.promoteJob(before.id, act)).rejects.toMatchObject({ code: 'invalid_state', state })

      expect(await store.getJob(before.id, { payload: true })).toEqual(before)
    },
  )

  it('refuses a job that is available and set aside: it waits for no time', async () => {
    const id = await setAside(db, given, '88')

    await expect(store.promoteJob(id, act)).rejects.toMatchObject({ code: 'invalid_state', state: 'available' })

    const position = sql<[], string[]>`select position from spillway.deferred_jobs`
    expect(await db.run(position, [])).toEqual([['88']])
  })
})

describeStore('rescheduling', ({ store, given, db, url }) => {
  const placed = sql<[], string[]>`
    select 'ready', position from spillway.ready_entries
    union all select 'deferred', position from spillway.deferred_jobs`

  it.each(statesAccepting('reschedule'))('lets a job that is %s wait for the new time', async (state) => {
    const heard = await listenFor(url, 'spillway_notices')
    const before = await given.job({ state, attempt: 1, uniqueKey: 'k' })

    expect(await store.rescheduleJob(before.id, LATER, act)).toEqual({
      id: before.id,
      state: 'scheduled',
      changed: true,
    })

    const after = await store.getJob(before.id, { payload: true })
    expect(after).toEqual({ ...before, state: 'scheduled', runAt: LATER })
    const due = sql<[], string[]>`select date_part('epoch', due_at) * 1000 from spillway.deferred_jobs`
    expect(await db.run(due, [])).toEqual([[String(LATER.getTime())]])
    expect(await heard.close()).toEqual([`d|${LATER.getTime()}`])
  })

  it('makes a job available whose new time has come', async () => {
    const now = new Date()
    const before = await given.job({ state: 'retryable', attempt: 1 })

    expect(await store.rescheduleJob(before.id, now, act)).toEqual({ id: before.id, state: 'available', changed: true })

    expect(await store.getJob(before.id)).toMatchObject({ state: 'available', runAt: now, attempt: 1 })
  })

  it('keeps the position of a job that is available and stays so, also set aside', async () => {
    const now = new Date()
    const ready = await given.job({ position: '77' })

    await store.rescheduleJob(ready.id, now, act)

    expect(await db.run(placed, [])).toEqual([['ready', '77']])
    const aside = await setAside(db, given, '88')
    expect(await store.rescheduleJob(aside, now, act)).toMatchObject({ state: 'available' })
    expect(await db.run(placed, [])).toEqual([
      ['ready', '77'],
      ['deferred', '88'],
    ])
    expect(await store.rescheduleJob(aside, LATER, act)).toMatchObject({ state: 'scheduled' })
    expect(await db.run(placed, [])).toEqual([
      ['ready', '77'],
      ['deferred', null],
    ])
  })

  it.each(JOB_STATES.filter((state) => !statesAccepting('reschedule').includes(state)))(
    'refuses a job that is %s, and leaves it alone',
    async (state) => {
      const before = await given.job({ state })

      await expect(store.rescheduleJob(before.id, LATER, act)).rejects.toMatchObject({ code: 'invalid_state', state })

      expect(await store.getJob(before.id, { payload: true })).toEqual(before)
    },
  )

  it.each(LIVE_STATES)('does nothing to a job that is %s when its audit row cannot be written', async (state) => {
    const before = await given.job({ state })
    await db.transaction((tx) =>
      tx.execute(`alter table spillway.audit_log add constraint no_audit check (actor <> 'ann')`),
    )

    await expect(store.cancelJob(before.id, act)).rejects.toMatchObject({ code: 'internal' })

    await db.transaction((tx) => tx.execute(`alter table spillway.audit_log drop constraint no_audit`))
    expect(await store.getJob(before.id, { payload: true })).toEqual(before)
  })
})

describeStore('setting queues', ({ store, db, url }) => {
  const version = sql<[], string[]>`select policy_version from spillway.control`

  it('lays a patch over what is stored, tells every process, and writes it down', async () => {
    const heard = await listenFor(url, 'spillway_notices')
    const [[before = ''] = []] = await db.run(version, [])

    await store.setQueue('q', { dlqEnabled: false, maxGenerations: 3, retention: { dlq: 5, held: null } }, act)
    const set = await store.setQueue('q', { crashLimit: 9, retention: { failed: 7 } }, act)

    expect(set.policy).toMatchObject({ dlqEnabled: false, maxGenerations: 3, crashLimit: 9 })
    expect(set.policy.retention).toMatchObject({ dlq: 5, held: null, failed: 7, completed: 86_400_000 })
    expect(await store.getQueue('q')).toMatchObject({ policy: set.policy, updatedAt: set.updatedAt })
    expect(await db.run(version, [])).toEqual([[String(Number(before) + 2)]])
    expect(await heard.close()).toEqual(['p', 'p'])
    const rows = await db.run(audit, [])
    expect(rows.map((row) => row.slice(0, 5))).toEqual(Array(2).fill(['ann', 'set_queue', null, 'q', 'a test']))
  })

  it('pauses and resumes, keeping the policy and the time of the first pause', async () => {
    await store.setQueue('q', { crashLimit: 9 }, act)

    const first = await store.pauseQueue('q', act)
    const again = await store.pauseQueue('q', { actor: 'bob' })
    const resumed = await store.resumeQueue('q', act)

    expect(first).toMatchObject({ pausedBy: 'ann', pausedReason: 'a test', policy: { crashLimit: 9 } })
    expect(again).toMatchObject({ pausedBy: 'bob', pausedReason: null, pausedAt: first.pausedAt })
    expect(resumed).toMatchObject({ pausedAt: null, pausedBy: null, pausedReason: null, policy: { crashLimit: 9 } })
    const actions = (await db.run(audit, [])).map(([actor, action]) => `${actor} ${action}`)
    expect(actions).toEqual(['ann set_queue', 'ann pause_queue', 'bob pause_queue', 'ann resume_queue'])
  })
})
