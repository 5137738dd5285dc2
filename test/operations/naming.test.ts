import { expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { runOperation } from '../../src/client/operation-runner.js'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'
import { act, deadIds, request, stepUntil } from './bulk-work.js'

const REAL = 1_200

describeStore('jobs named by tens of thousands of ids', ({ store, given, db, checker }) => {
  const client = new Client({ store, actor: 'ann' })
  const ACTIONS = ['retryMany', 'discardMany', 'purgeMany', 'moveMany'] as const

  /** So many ids, of which {@link REAL} are dead letters, spread among the others. */
  async function named(count: number): Promise<string[]> {
    const real = await given.jobs(REAL, { state: 'archived', tags: ['t'] })
    const unknown = Array.from({ length: count - REAL }, (_, n) => String(9_000_000_000 + n))
    const every = Math.floor(count / REAL)
    return Array.from({ length: count }, (_, n) => {
      const id = n % every === 0 && n / every < REAL ? real[n / every] : unknown.pop()
      return id as string
    })
  }

  it.each([
    ['retryMany', 65_535],
    ['purgeMany', 100_000],
  ] as const)(
    '%s does those of %i ids that it can, and accounts for every other',
    async (action, count) => {
      const ids = await named(count)

      const operation = await (await client.dlq[action]({ ids })).done()

      expect(operation).toMatchObject({ state: 'done', matched: count, succeeded: REAL, failed: count - REAL })
      expect(await db.run(deadIds, [])).toEqual([])
      const { items } = await client.operations.rows(operation.id, { limit: 3 })
      expect(items.map(({ code }) => code)).toEqual(['not_found', 'not_found', 'not_found'])
    },
    120_000,
  )

  it.each([65_535, 65_536, 100_000])(
    'are counted by a dry run: %i',
    async (count) => {
      const ids = await named(count)

      const dry = await (await client.dlq.retryMany({ ids }, { dryRun: true })).done()

      expect(dry).toMatchObject({ state: 'done', matched: REAL, preview: { lookedAt: REAL } })
      expect(await checker.census()).toEqual({ archived: REAL })
    },
    60_000,
  )

  it.each(ACTIONS)('are refused by %s above 100,000, and the limit is named', async (action) => {
    const ids = await named(100_001)

    const asked = async () => client.dlq[action]({ ids })

    await expect(asked()).rejects.toMatchObject({
      code: 'selector_refused',
      message: expect.stringMatching(/100001 ids.*limit is 100000/),
    })
    expect((await client.operations.list()).items).toEqual([])
    expect(await checker.census()).toEqual({ archived: REAL })
  })

  it.each(['retryIds', 'discardIds', 'purgeIds', 'moveIds'] as const)(
    'are refused by %s above 1,000, and the way is named',
    async (action) => {
      const ids = await named(65_536)

      await expect(client.dlq[action](ids)).rejects.toMatchObject({
        code: 'selector_refused',
        message: expect.stringMatching(/at most 1000 .*Many\(\{ ids \}\)/),
      })
      expect(await checker.census()).toEqual({ archived: REAL })
    },
  )

  it('are listed', async () => {
    const ids = await named(65_536)

    const { items } = await client.dlq.list({ ids }, { limit: 1_000 })

    expect(items).toHaveLength(1_000)
  })
})

describeStore('a thousand named jobs', ({ store, given, inTransaction }) => {
  it('of which one is in conflict, one vanishes and one is undecodable: 997 go back, three are listed', async () => {
    const fine = await given.jobs(997, { state: 'archived' })
    await given.job({ state: 'available', uniqueKey: 'k' })
    const conflict = await given.job({ state: 'archived', uniqueKey: 'k' })
    const vanishing = await given.job({ state: 'archived' })
    const undecodable = await given.job({ state: 'undecodable', payloadText: '{"n":9007199254740993}' })
    const ids = [undecodable.id, ...fine.slice(0, 500), vanishing.id, ...fine.slice(500), conflict.id]
    const { id } = await store.startOperation(request({ selector: { ids } }), act)

    await inTransaction(async (tx) => {
      await tx.run(purgeOne, [vanishing.id])
      await stepUntil(store, id, 'me', ({ phase }) => phase === 'revisiting')
    })
    const done = await runOperation(store, id, 'me')

    expect(done).toMatchObject({ state: 'done', matched: 1_000, succeeded: 997, failed: 3, skipped: 0 })
    expect((await store.operationRows(id, { limit: 9 })).items).toEqual([
      { id: conflict.id, outcome: 'failed', code: 'unique_conflict', message: expect.stringContaining('"k"') },
      { id: vanishing.id, outcome: 'failed', code: 'vanished', message: expect.stringContaining('somebody else') },
      { id: undecodable.id, outcome: 'failed', code: 'invalid_state', message: expect.stringContaining('undecodable') },
    ])
    expect(await store.getJob(undecodable.id, { payload: true })).toEqual(undecodable)
    expect(await store.getJob(conflict.id, { payload: true })).toEqual(conflict)
  })
})

const purgeOne = sql<[id: string], []>`
  with gone as (delete from spillway.dlq_entries where id = $1::bigint returning queue, cause)
  insert into spillway.cause_deltas (queue, cause, n) select queue, cause, -1 from gone`
