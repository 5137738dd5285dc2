import { expect, it } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import type { GroupFilter, TriageChange } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'

const act = { actor: 'ann', reason: 'on call', requestId: 'r1' }
const fresh = { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false } as const
const page = { limit: 100 }
const ACK: TriageChange = { action: 'ack', clear: false }
const RESOLVE: TriageChange = { action: 'resolve', link: 'https://example.com/pull/42', clear: false }
const inAWeek = () => new Date(Date.now() + 7 * 86_400_000)

describeStore('triage of a dead letter', ({ store, given, db }) => {
  it.each([
    ['acknowledge', ACK, { acknowledgedBy: 'ann', acknowledgedAt: expect.any(Date) }],
    ['note', { action: 'note', text: 'it’s the card' }, { note: 'it’s the card', notedBy: 'ann' }],
    ['mute', { action: 'mute', until: new Date('2100-01-01') }, { mutedUntil: new Date('2100-01-01'), mutedBy: 'ann' }],
    ['resolve', RESOLVE, { link: 'https://example.com/pull/42', resolvedBy: 'ann' }],
  ] as const)(
    '%s says who and when, beside what was said before, and is in the audit log',
    async (action, change, said) => {
      const { id } = await given.job({ state: 'archived' })
      await store.triage({ id }, { action: 'note', text: 'before' }, { actor: 'bob' })

      const answer = await store.triage({ id }, change, act)

      expect(answer).toMatchObject({ note: 'before', notedBy: 'bob', ...said })
      expect(await store.triageOf(id)).toEqual(answer)
      expect((await store.listAudit({ actor: 'ann' }, page)).items).toMatchObject([
        { action, target: { id }, reason: 'on call', requestId: 'r1', result: { cleared: false } },
      ])
    },
  )

  it.each([
    ['ack', ACK, { action: 'ack', clear: true }],
    ['note', { action: 'note', text: 'x' }, { action: 'note', text: null }],
    ['mute', { action: 'mute', until: new Date('2100-01-01') }, { action: 'mute', until: null }],
    ['resolve', RESOLVE, { action: 'resolve', link: null, clear: true }],
  ] as const)('%s can be taken back', async (_, change, back) => {
    const { id } = await given.job({ state: 'archived' })
    await store.triage({ id }, change, act)

    const answer = await store.triage({ id }, back, act)

    expect(Object.values(answer).filter((value) => value !== null)).toEqual([])
  })

  it('is refused for a job that is not dead, and for one that is nowhere', async () => {
    const waiting = await given.job({})

    await expect(store.triage({ id: waiting.id }, ACK, act)).rejects.toMatchObject({ code: 'invalid_state' })
    await expect(store.triage({ id: '999999' }, ACK, act)).rejects.toMatchObject({ code: 'not_found' })
    await expect(store.triage({ queue: 'q', cause: 'c' }, ACK, act)).rejects.toMatchObject({ code: 'not_found' })
    expect((await store.listAudit({ action: 'acknowledge' }, page)).items).toEqual([])
  })

  it('outlasts a discard, a retry that is undone, and goes with a purge', async () => {
    const { id } = await given.job({ state: 'archived' })
    await store.triage({ id }, ACK, act)
    const before = await store.triageOf(id)
    const { operation } = await store.retryJob(id, fresh, act)

    const whileWaiting = await store.triageOf(id)
    await undo(operation!)
    const undone = await store.triageOf(id)
    const discarded = await store.actOnIds([id], bulk('discard'), act)
    await undo(discarded.operation.id)

    expect(whileWaiting).toBeUndefined()
    expect(undone).toEqual(before)
    expect(await store.triageOf(id)).toEqual(before)
    await store.actOnIds([id], bulk('purge'), act)
    expect(await db.run(sql`select count(*) from spillway.dlq_triage`, [])).toEqual([['0']])
  })

  it('of an earlier death leaves only its note, and says that it had been resolved', async () => {
    const { id } = await given.job({ state: 'archived' })
    await store.triage({ id }, ACK, act)
    await store.triage({ id }, RESOLVE, act)
    await store.triage({ id }, { action: 'note', text: 'the card' }, act)
    await store.retryJob(id, fresh, act)
    await store.killJob(id, act)

    const again = await store.triageOf(id)
    const [unreviewed] = await store.unreviewed()
    const said = await store.triage({ id }, ACK, { actor: 'bob' })

    expect(again).toMatchObject({
      note: 'the card',
      acknowledgedAt: null,
      resolvedAt: null,
      regressedAt: expect.any(Date),
    })
    expect(unreviewed).toEqual({ queue: 'default', unreviewed: 1 })
    expect(said).toMatchObject({ note: 'the card', acknowledgedBy: 'bob', resolvedAt: null })
  })

  it('is forgotten a day after its job is nowhere any more', async () => {
    const { id } = await given.job({ state: 'archived' })
    const kept = await given.job({ state: 'archived' })
    for (const it of [id, kept.id]) await store.triage({ id: it }, ACK, act)
    await store.retryJob(id, fresh, act)
    await store.cancelJob(id, act)
    await db.run(sql`update spillway.dlq_triage set updated_at = now() - interval '2 days'`, [])
    await db.run(sql<[string], []>`delete from spillway.terminal_entries where id = $1`, [id])

    const { triage } = await store.retain(1_000)

    expect(triage).toBe(1)
    expect(await store.triageOf(kept.id)).toBeDefined()
  })

  async function undo(operation: string): Promise<void> {
    const { id } = await store.undoOperation(operation, act)
    while ((await store.stepOperation(id, 'test')).waitMs !== null);
  }
})

describeStore('triage of a cause', ({ store, given, db, clock }) => {
  const target = { queue: 'q', cause: 'c' }
  const die = (count = 1, cause = 'c') => given.jobs(count, { state: 'archived', queue: 'q', cause })
  const groups = async (filter: GroupFilter = {}) => (await store.dlqGroups(filter, page)).items
  const group = async () => (await groups()).find(({ cause }) => cause === 'c')

  it('shows with the groups, and changes nothing about the jobs', async () => {
    await die(2)
    const before = await group()

    await store.triage(target, ACK, act)
    await store.triage(target, { action: 'note', text: 'known' }, act)

    expect(before).toMatchObject({ status: 'new', triage: null, unreviewed: 2 })
    expect(await group()).toMatchObject({
      status: 'acknowledged',
      count: 2,
      unreviewed: 0,
      triage: { note: 'known', acknowledgedBy: 'ann' },
    })
  })

  it('counts what died since somebody looked, and takes rows out that were looked at by themselves', async () => {
    const [first = ''] = await die(3)
    await die(2, 'other')
    await store.triage({ id: first }, ACK, act)

    const byRow = await store.unreviewed('q')
    await store.triage(target, ACK, act)
    const byCause = await store.unreviewed()
    await clock.advance('1s')
    await die(2)
    const [since = ''] = await die(1)
    await store.triage({ id: since }, { action: 'note', text: 'x' }, act)

    expect([byRow, byCause]).toEqual([[{ queue: 'q', unreviewed: 4 }], [{ queue: 'q', unreviewed: 2 }]])
    expect((await group())?.unreviewed).toBe(2)
    expect(await store.unreviewed()).toEqual([{ queue: 'q', unreviewed: 4 }])
    expect((await groups({ triage: 'unreviewed' })).map(({ cause }) => cause).sort()).toEqual(['c', 'other'])
  })

  it('marks a muted cause until its time, and lets a list leave it out', async () => {
    await die()
    await die(1, 'other')
    await store.triage(target, { action: 'mute', until: inAWeek() }, act)

    const muted = await groups({ triage: 'muted' })
    const rest = await groups({ triage: 'unmuted' })
    const all = await groups()
    await clock.advance('8d')

    expect(muted.map(({ cause, status }) => [cause, status])).toEqual([['c', 'muted']])
    expect(rest.map(({ cause }) => cause)).toEqual(['other'])
    expect(all).toHaveLength(2)
    expect(await groups({ triage: 'muted' })).toEqual([])
  })

  it('that is resolved and fails again shows as a regression, before and after folding, from its first death on', async () => {
    await die(2)
    await clock.advance('1m')
    await store.triage(target, RESOLVE, act)
    const resolved = await group()
    await clock.advance('1m')
    const [firstAgain = ''] = await die()
    await clock.advance('1m')
    await die()

    const before = await group()
    await store.fold(1_000)
    const after = await group()

    expect(resolved).toMatchObject({ status: 'resolved', regressedAt: null, triage: { link: RESOLVE.link } })
    expect(before).toMatchObject({ status: 'regressed', count: 4 })
    const diedAt = (await store.getJob(firstAgain))!.dlq!.dlqAt
    expect(Math.abs(before!.regressedAt!.getTime() - diedAt.getTime())).toBeLessThan(2)
    expect(after?.regressedAt).toEqual(before?.regressedAt)
    expect((await groups({ triage: 'regressed' })).map(({ cause }) => cause)).toEqual(['c'])
  })

  it('stays regressed when its dead letters are retried, until it is resolved again', async () => {
    await die()
    await store.triage(target, RESOLVE, act)
    await clock.advance('1m')
    const [again = ''] = await die()
    await store.fold(1_000)
    await store.retryJob(again, fresh, act)
    await store.fold(1_000)

    const before = await group()
    const answer = await store.triage(target, RESOLVE, act)

    expect(before?.status).toBe('regressed')
    expect(answer.regressedAt).toBeNull()
    expect(await group()).toMatchObject({ status: 'resolved', regressedAt: null })
  })

  it('does not regress by what comes back: an undone retry, an undone discard', async () => {
    const [first = '', second = ''] = await die(2)
    await clock.advance('1m')
    const { operation } = await store.retryJob(first, fresh, act)
    const discarded = await store.actOnIds([second], bulk('discard'), act)
    await store.triage(target, RESOLVE, act)
    await clock.advance('1m')

    for (const id of [operation!, discarded.operation.id]) {
      const undo = await store.undoOperation(id, act)
      while ((await store.stepOperation(undo.id, 'test')).waitMs !== null);
    }

    expect(await group()).toMatchObject({ status: 'resolved', count: 2 })
    await store.fold(1_000)
    expect(await group()).toMatchObject({ status: 'resolved', count: 2 })
  })

  it('is remembered for a year after the cause itself is forgotten', async () => {
    const [id = ''] = await die()
    await store.triage(target, RESOLVE, act)
    await store.actOnIds([id], bulk('purge'), act)
    await store.fold(1_000)
    await clock.advance('100d')
    await store.retain(1_000)
    const causes = await db.run(sql`select count(*) from spillway.dlq_causes`, [])

    await die()

    expect(causes).toEqual([['0']])
    expect(await group()).toMatchObject({ status: 'regressed' })
  })
})

function bulk(action: 'discard' | 'purge') {
  return {
    action,
    selector: { all: true },
    dryRun: false,
    rate: null,
    maxWaiting: 0,
    canary: null,
    abortAbove: 0,
    holdMs: 1,
    preview: null,
  } as const
}
