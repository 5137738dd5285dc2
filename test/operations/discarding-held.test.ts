import { expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { HELD_STATES, LIVE_STATES } from '../../src/job/states.js'
import { operateQueries } from '../../src/store/postgres/queries/operate.js'
import { sql } from '../../src/store/postgres/sql.js'
import type { NewJob } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'
import { someoneWaits } from '../support/waits.js'
import { act, request, stepUntil } from './bulk-work.js'

const WHOLE = {
  ...{ queue: 'billing', kind: 'charge', tags: ['t', "o'b"], metadata: { a: [1, 'ü'] }, progress: { n: 1 } },
  ...{ attempt: 2, crashAttempt: 1, runLease: 4, generation: 1, priority: 7, uniqueKey: 'order-1' },
  ...{ payloadText: '{ "big": 12345678901234567890.10, "e":1e400 }', deadline: new Date('2030-01-01T00:00:00Z') },
  ...{ heldReason: 'crash_bound', fingerprint: 'f1', heldAt: new Date('2026-05-06T07:08:09.123Z') },
} as const

const whole = sql<[], [row: string]>`
  select to_jsonb(r)::text || r.payload::text || r.metadata::text || r.progress::text || array_to_json(r.history)::text
    from (select * from spillway.held_entries) r order by id`
/** Times of the store are finer than those of JavaScript. */
const later = sql<[], []>`update spillway.held_entries set held_at = held_at + interval '7 microseconds'`
const keys = sql<[], [key: string, id: string]>`select key, job_id from spillway.unique_keys`
const sameKey: NewJob = {
  ...{ kind: 'charge', queue: 'billing', payload: '{}', priority: 50, runAt: null, timeoutMs: null },
  ...{ deadline: null, maxAttempts: 20, uniqueKey: 'order-1', onConflict: 'fail', tags: null, metadata: null },
  ...{ retention: null, version: 1 },
}

describeStore('discarding held jobs', ({ store, given, db, url, checker, inTransaction }) => {
  const client = new Client({ store, actor: 'ann' })
  const { cancel } = operateQueries('spillway')
  const stateOf = async (id: string) => (await client.jobs.get(id))?.state

  it.each(HELD_STATES)('takes one that is %s, frees its key, and brings it back byte for byte', async (state) => {
    const { id } = await given.job({ ...WHOLE, state })
    await db.run(later, [])
    const before = await db.run(whole, [])

    const discarded = await client.dlq.discard(id, { reason: 'of no use' })

    expect(discarded).toMatchObject({ state: 'discarded', changed: true })
    expect(await checker.census()).toEqual({ discarded: 1 })
    expect(await db.run(keys, [])).toEqual([])
    expect(await client.jobs.get(id)).toMatchObject({ state: 'discarded', dlq: null })

    const undone = await (await client.dlq.undo(discarded.operation ?? '')).done()

    expect(undone).toMatchObject({ state: 'done', matched: 1, succeeded: 1, skipped: 0 })
    expect(await db.run(whole, [])).toEqual(before)
    expect(await db.run(keys, [])).toEqual([['order-1', id]])
  })

  it('among 12 ids takes the dead and the held ones, and says of each live one what it is', async () => {
    const taken: string[] = []
    for (const state of ['archived', ...HELD_STATES] as const) taken.push((await given.job({ state })).id)
    const live: string[] = []
    for (const state of LIVE_STATES) live.push((await given.job({ state })).id)

    const { succeeded, failed, operation } = await client.dlq.discardIds([...live, ...taken, '999', 'x'])

    expect([...succeeded].sort()).toEqual(taken.sort())
    expect(failed.map(({ code }) => code).sort()).toEqual([
      ...live.map(() => 'invalid_state'),
      'not_found',
      'not_found',
    ])
    expect(failed.find(({ id }) => id === live[0])?.message).toContain(
      'it is available, and only archived, quarantined or undecodable jobs can',
    )
    await (await client.dlq.undo(operation.id)).done()
    expect(await checker.census()).toMatchObject({ archived: 1, quarantined: 1, undecodable: 1 })
  })

  it.each(HELD_STATES)(
    'by a selector of %s takes those held when it was bound, and counts the others',
    async (state) => {
      await given.jobs(3, { state, queue: 'billing' })
      await given.jobs(2, { state, queue: 'other' })
      await given.jobs(2, { state: state === 'quarantined' ? 'undecodable' : 'quarantined', queue: 'billing' })
      await given.jobs(2, { state: 'archived', queue: 'billing' })
      const selector = { queue: 'billing', state } as const
      const dry = await (await client.dlq.discardMany(selector, { dryRun: true })).done()
      const { id } = await store.startOperation(request({ action: 'discard', selector }), act)
      const newer = await given.jobs(4, { state, queue: 'billing' })

      const done = await stepUntil(store, id, 'me', (operation) => operation.state !== 'running')

      expect(dry).toMatchObject({ matched: 3, preview: { lookedAt: 3, wouldRefuse: [] } })
      expect(done).toMatchObject({ state: 'done', matched: 3, succeeded: 3, newerLeftAlone: 4 })
      expect(await checker.census()).toMatchObject({ discarded: 3, archived: 2, [state]: 6 })
      expect(await stateOf(newer[0] as string)).toBe(state)
    },
  )

  it('without a state takes none of them', async () => {
    await given.job({ state: 'quarantined', queue: 'billing' })
    await given.job({ state: 'archived', queue: 'billing' })

    const done = await (await client.dlq.discardMany({ queue: 'billing' })).done()

    expect(done).toMatchObject({ matched: 1, succeeded: 1 })
    expect(await checker.census()).toEqual({ discarded: 1, quarantined: 1 })
  })

  it('by ids beyond what is done at once looks in both places, and shows both before', async () => {
    const ids = [...(await given.jobs(2, { state: 'archived' })), ...(await given.jobs(3, { state: 'undecodable' }))]
    const dry = await (await client.dlq.discardMany({ ids }, { dryRun: true })).done()

    const done = await (await client.dlq.discardMany({ ids })).done()

    expect(dry).toMatchObject({ matched: 5, preview: { lookedAt: 5, samples: { length: 5 } } })
    expect(done).toMatchObject({ matched: 5, succeeded: 5, failed: 0 })
    expect(await checker.census()).toEqual({ discarded: 5 })
  })

  it.each([{ cause: 'c' }, { error: 'e' }])('by ids and %j takes dead ones only', async (by) => {
    const dead = await given.job({ state: 'archived', cause: 'c', errorMessage: 'e' })
    const held = await given.job({ state: 'quarantined' })

    const done = await (await client.dlq.discardMany({ ids: [dead.id, held.id], ...by })).done()

    expect(done).toMatchObject({ state: 'done', matched: 2, succeeded: 1, failed: 1 })
    expect((await client.operations.rows(done.id)).items).toMatchObject([{ id: held.id, code: 'invalid_state' }])
    expect([await stateOf(dead.id), await stateOf(held.id)]).toEqual(['discarded', 'quarantined'])
  })

  it.each([{ cause: 'c' }, { error: 'e' }])('refuses to select them by %j, which they do not have', async (by) => {
    const { id } = await given.job({ state: 'quarantined', queue: 'billing' })

    const refused = client.dlq.discardMany({ queue: 'billing', state: 'quarantined', ...by })

    await expect(refused).rejects.toMatchObject({ code: 'selector_refused' })
    expect(await stateOf(id)).toBe('quarantined')
  })

  it('leaves in the bin what cannot come back because its key was given to another job', async () => {
    const { id } = await given.job({ state: 'undecodable', uniqueKey: 'order-1' })
    const [other = ''] = await given.jobs(1, { state: 'undecodable' })
    const { operation } = await client.dlq.discardIds([id, other])
    await store.enqueue([sameKey])

    const undone = await (await client.dlq.undo(operation.id)).done()

    expect(undone).toMatchObject({ state: 'done', matched: 2, succeeded: 1, skipped: 1 })
    expect((await client.operations.rows(undone.id)).items).toMatchObject([{ id, code: 'unique_conflict' }])
    expect([await stateOf(id), await stateOf(other)]).toEqual(['discarded', 'undecodable'])
  })

  it('of one that is cancelled meanwhile waits, and says that it is cancelled', async () => {
    const { id } = await given.job({ state: 'quarantined' })
    let call: Promise<unknown> | undefined

    await inTransaction(async (tx) => {
      await tx.run(cancel, [id, 'bob', null, null, 'x', true])
      call = client.dlq.discard(id).catch((error: unknown) => error)
      await someoneWaits(url)
    })

    expect(await call).toMatchObject({ code: 'invalid_state', state: 'cancelled' })
  })
})
