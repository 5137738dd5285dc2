import { expect, it } from 'vitest'
import { statesAccepting } from '../../src/job/lifecycle.js'
import { JOB_STATES } from '../../src/job/states.js'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'
import { setAside } from './aside.js'
import { listenFor, lockWaits } from './heard.js'

const act = { actor: 'ann', reason: 'amount was wrong', requestId: 'r1' }
const BIG = '{"id": 9007199254740993, "n": 1.10}'

const audit = sql<[], string[]>`
  select action, target ->> 'id', reason, result::jsonb ->> 'state' from spillway.audit_log order by id`
const position = sql<[], string[]>`
  select position from spillway.ready_entries union all select position from spillway.deferred_jobs`

describeStore('editing a payload', ({ store, given, db, inTransaction }) => {
  it.each(statesAccepting('edit_payload'))(
    'of a job that is %s keeps everything else and the one before',
    async (state) => {
      const before = await given.job({ state, payloadText: '{"id": 9007199254740995}', uniqueKey: 'k', tags: ['t'] })
      const [place] = await db.run(position, [])

      const edited = await store.editPayload(before.id, BIG, act)

      expect(edited).toEqual({ id: before.id, state, changed: true, version: 2 })
      const { history = [], ...after } = (await store.getJob(before.id, { payload: true }))!
      expect(after.payloadText).toBe(BIG)
      expect({
        ...after,
        payload: before.payload,
        payloadText: before.payloadText,
        history: history.slice(0, -1),
      }).toEqual(before)
      expect(history.at(-1)).toMatchObject({
        type: 'edited',
        by: 'ann',
        why: act.reason,
        changed: ['payload'],
        version: 2,
      })
      expect((await db.run(position, []))[0]).toEqual(place)
      expect(await store.payloadVersions(before.id)).toEqual([
        {
          version: 1,
          payload: '{"id": 9007199254740995}',
          editedAt: before.createdAt,
          editedBy: 'enqueued',
          reason: null,
        },
        { version: 2, payload: BIG, editedAt: expect.any(Date), editedBy: 'ann', reason: act.reason },
      ])
      expect(await db.run(audit, [])).toEqual([['edit_payload', before.id, act.reason, state]])
    },
  )

  it.each(JOB_STATES.filter((state) => !statesAccepting('edit_payload').includes(state)))(
    'of a job that is %s is refused',
    async (state) => {
      const before = await given.job({ state })

      await expect(store.editPayload(before.id, '1', act)).rejects.toMatchObject({ code: 'invalid_state', state })

      expect(await store.getJob(before.id, { payload: true })).toEqual(before)
      expect(await store.payloadVersions(before.id)).toEqual([])
    },
  )

  it('numbers the versions through a retry that brought another payload', async () => {
    const { id } = await given.job({ state: 'archived', payloadText: '1' })
    const request = { budget: 'fresh', overrides: { payload: '3' }, onConflict: 'fail', force: false } as const
    await store.editPayload(id, '2', act)
    await store.retryJob(id, request, act)

    const edited = await store.editPayload(id, '4', act)

    expect(edited).toMatchObject({ state: 'available', version: 4 })
    const versions = await store.payloadVersions(id)
    expect(versions.map(({ version, payload, editedBy }) => [version, payload, editedBy])).toEqual([
      [1, '1', 'enqueued'],
      [2, '2', 'ann'],
      [3, '3', 'retried'],
      [4, '4', 'ann'],
    ])
  })

  it('waits for another edit, and keeps what that one stored', async () => {
    const { id } = await given.job({ state: 'archived', payloadText: '1' })
    let call: Promise<unknown> = Promise.resolve()

    await inTransaction(async (tx) => {
      await tx.execute(`update spillway.dlq_entries set payload = '2' where id = ${id};
                        insert into spillway.payload_versions values (${id}, 1, '1', now(), 'enqueued'), (${id}, 2, '2', now(), 'bob')`)
      call = store.editPayload(id, '3', act)
      await lockWaits(db)
    })

    expect(await call).toMatchObject({ version: 3 })
    expect((await store.payloadVersions(id)).map(({ payload }) => payload)).toEqual(['1', '2', '3'])
  })

  it('leaves no version behind when the job is purged', async () => {
    const { id } = await given.job({ state: 'archived' })
    await store.editPayload(id, '2', act)

    await store.actOnIds(
      [id],
      {
        action: 'purge',
        selector: { ids: [id] },
        dryRun: false,
        rate: null,
        maxWaiting: 0,
        canary: null,
        abortAbove: 0,
        holdMs: 0,
        preview: null,
      },
      act,
    )

    expect(await store.payloadVersions(id)).toEqual([])
  })
})

describeStore('versions of a payload', ({ store, given, db, inTransaction }) => {
  it('go when their job has gone, however it ended', async () => {
    const [kept, gone] = [await given.job({ payloadText: '1' }), await given.job({ payloadText: '1' })]
    for (const { id } of [kept, gone]) await store.editPayload(id, '2', act)
    await inTransaction((tx) =>
      tx.execute(`update spillway.payload_versions set edited_at = now() - interval '2 days';
                  delete from spillway.ready_entries where id = ${gone.id}`),
    )

    await store.retain(100)

    expect(await db.run(sql`select job_id, version from spillway.payload_versions order by 1, 2`, [])).toEqual([
      [kept.id, '1'],
      [kept.id, '2'],
    ])
  })
})

describeStore('editing priority and queue', ({ store, given, db, url }) => {
  it.each(statesAccepting('edit'))('of a job that is %s keeps everything else', async (state) => {
    const before = await given.job({ state, uniqueKey: 'k' })
    const [place] = await db.run(position, [])

    expect(await store.editJob(before.id, { priority: 7, queue: 'fast' }, act)).toEqual({
      id: before.id,
      state,
      changed: true,
    })

    const { history = [], ...after } = (await store.getJob(before.id, { payload: true }))!
    expect({ ...after, history: history.slice(0, -1) }).toEqual({ history: [], ...before, priority: 7, queue: 'fast' })
    expect(history.at(-1)).toMatchObject({ type: 'edited', changed: ['priority', 'queue'] })
    expect((await db.run(position, []))[0]).toEqual(place)
    expect(await db.run(audit, [])).toEqual([['edit', before.id, act.reason, state]])
  })

  it('tells the workers of the new queue, who look above the position they have passed', async () => {
    const heard = await listenFor(url, 'spillway_notices')
    const { id } = await given.job({ position: '44' })

    await store.editJob(id, { queue: 'fast' }, act)

    expect(await heard.close()).toEqual(['r|50|44|fast'])
  })

  it('of a job that is set aside lets it be looked at again at once', async () => {
    const id = await setAside(db, given, '88')

    expect(await store.editJob(id, { queue: 'served' }, act)).toMatchObject({ state: 'available' })

    expect(await db.run(sql`select position, due_at <= now() from spillway.deferred_jobs`, [])).toEqual([['88', 't']])
  })

  it.each(JOB_STATES.filter((state) => !statesAccepting('edit').includes(state)))(
    'of a job that is %s is refused',
    async (state) => {
      const before = await given.job({ state })

      await expect(store.editJob(before.id, { priority: 1 }, act)).rejects.toMatchObject({
        code: 'invalid_state',
        state,
      })

      expect(await store.getJob(before.id, { payload: true })).toEqual(before)
    },
  )
})

describeStore('cloning', ({ store, given, db, url }) => {
  it.each(statesAccepting('clone'))('makes a new job of one that is %s', async (state) => {
    const before = await given.job({
      state,
      payloadText: BIG,
      tags: ['t'],
      metadata: { a: 1 },
      attempt: 3,
      priority: 9,
      uniqueKey: 'k',
    })
    const heard = await listenFor(url, 'spillway_notices')

    const cloned = await store.cloneJob(before.id, {}, act)

    expect(cloned).toMatchObject({ originId: before.id, state: 'available', changed: true })
    expect(cloned.id).not.toBe(before.id)
    const clone = await store.getJob(cloned.id, { payload: true })
    const own = { attempt: 0, runLease: 0, generation: 0, history: [], originId: before.id }
    const same = { payloadText: BIG, tags: ['t'], metadata: { a: 1 }, priority: 9, uniqueKey: 'k', kind: before.kind }
    expect(clone).toMatchObject({ state: 'available', ...same, ...own })
    expect(await store.getJob(before.id, { payload: true })).toEqual(before)
    expect(await db.run(audit, [])).toEqual([['clone', before.id, act.reason, 'available']])
    expect(await heard.close()).toEqual([`r|9|${cloned.id}|default`])
  })

  it('takes what is given instead', async () => {
    const { id } = await given.job({ state: 'completed' })
    const runAt = new Date('2100-01-01T00:00:00.000Z')

    const cloned = await store.cloneJob(
      id,
      { queue: 'q', priority: 1, runAt, maxAttempts: 2, deadline: runAt, payload: '[2]' },
      act,
    )

    expect(cloned).toMatchObject({ state: 'scheduled', warnings: [expect.stringContaining('"q"')] })
    const expected = {
      state: 'scheduled',
      queue: 'q',
      priority: 1,
      runAt,
      maxAttempts: 2,
      deadline: runAt,
      payload: [2],
    }
    expect(await store.getJob(cloned.id, { payload: true })).toMatchObject(expected)
  })

  it('leaves a deadline that has passed behind, and refuses one that is given', async () => {
    const passed = new Date('2001-01-01T00:00:00.000Z')
    const { id } = await given.job({ state: 'completed', deadline: passed })

    await expect(store.cloneJob(id, { deadline: passed }, act)).rejects.toMatchObject({ code: 'deadline_passed' })
    const cloned = await store.cloneJob(id, {}, act)

    expect(await store.getJob(cloned.id)).toMatchObject({ deadline: null })
  })

  it('is refused while another job has its key, and names that one', async () => {
    const { id } = await given.job({ state: 'completed', uniqueKey: 'k' })
    const holder = await given.job({ uniqueKey: 'k' })

    await expect(store.cloneJob(id, {}, act)).rejects.toMatchObject({ code: 'unique_conflict', holderId: holder.id })
  })

  it.each(JOB_STATES.filter((state) => !statesAccepting('clone').includes(state)))(
    'of a job that is %s is refused',
    async (state) => {
      const { id } = await given.job({ state })

      await expect(store.cloneJob(id, {}, act)).rejects.toMatchObject({ code: 'invalid_state', state })
    },
  )

  it.each(statesAccepting('clone'))('is what a retry of a job that is %s is told', async (state) => {
    const { id } = await given.job({ state })

    const retried = store.retryJob(id, { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false }, act)

    await expect(retried).rejects.toThrow(/clone/)
  })
})
