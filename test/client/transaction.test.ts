import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { toExecutor } from '../../src/client/transaction.js'
import { describeStore } from '../support/store.js'

type Query = (text: string, values?: readonly unknown[]) => Promise<pg.QueryResult>

/** What each library hands to its callback, over one connection of node-postgres: only what `toExecutor` looks at. */
const SHAPES: Readonly<Record<string, (query: Query) => unknown>> = {
  'node-postgres': (query) => ({ query }),
  'postgres.js': (query) =>
    Object.assign(() => {}, { unsafe: async (text: string, values: unknown[]) => (await query(text, values)).rows }),
  'Drizzle over node-postgres': (query) => ({
    execute: refuseText,
    _: { session: { prepareQuery() {}, client: { query } } },
  }),
  Kysely: (query) => ({
    isTransaction: true,
    executeQuery: async (compiled: { sql: string; parameters: unknown[] }) => {
      const { rows } = await query(compiled.sql, compiled.parameters)
      // As its CamelCasePlugin would: names of columns cannot be relied on.
      return {
        rows: rows.map((row) =>
          Object.fromEntries(Object.entries(row).map(([key, value], n) => [`${key}X${n}`, value])),
        ),
      }
    },
  }),
  Knex: (query) =>
    Object.assign(() => {}, {
      isTransaction: true,
      transaction() {},
      raw: (text: string, bindings: unknown[]) => {
        let n = 0
        return query(
          text.replace(/\\\?|\?/g, (mark) => (mark === '?' ? `$${++n}` : '?')),
          bindings,
        )
      },
    }),
  TypeORM: (query) => ({
    queryRunner: {},
    getRepository() {},
    query: async (text: string, values: unknown[]) => (await query(text, values)).rows,
  }),
  Prisma: (query) => ({
    $queryRawUnsafe: async (text: string, ...values: unknown[]) => (await query(text, values)).rows,
  }),
  'an object with execute': (query) => ({
    execute: async (text: string, values: unknown[]) => (await query(text, values)).rows,
  }),
}

describeStore('enqueueing in the transaction of the caller', ({ store, url }) => {
  const client = new Client({ store })
  let theirs: pg.Client

  beforeEach(async () => {
    theirs = new pg.Client({ connectionString: url })
    await theirs.connect()
    await theirs.query('begin')
  })

  afterEach(() => theirs.end())

  it.each(Object.keys(SHAPES))('through %s is seen when it commits, and not before', async (library) => {
    const tx = SHAPES[library]!((text, values) => theirs.query(text, values as unknown[]))

    const { id } = await client.enqueue('k', { n: 1 }, { tx, tags: ['a'], unique: 'key' })

    expect(await client.jobs.get(id)).toBeUndefined()
    await theirs.query('commit')
    expect(await client.jobs.get(id)).toMatchObject({ payload: { n: 1 }, tags: ['a'], uniqueKey: 'key' })
  })

  it('never was, when it rolls back', async () => {
    const [first] = await client.enqueueMany('k', [{ payload: 1 }, { payload: 2 }], { tx: theirs })

    await theirs.query('rollback')

    expect(await client.jobs.get(first!.id)).toBeUndefined()
    expect((await client.jobs.list()).items).toEqual([])
  })

  it('does not wait for other enqueues, nor they for it', async () => {
    const [inside, outside] = await Promise.all([client.enqueue('k', 1, { tx: theirs }), client.enqueue('k', 2)])

    expect(await client.jobs.get(inside.id)).toBeUndefined()
    expect((await client.jobs.get(outside.id))?.payload).toBe(2)
  })
})

it.each([
  ['a pool of node-postgres', { connect() {}, query() {}, totalCount: 0 }, 'pool'],
  [
    'Drizzle over a pool',
    { _: { session: { prepareQuery() {}, client: { connect() {}, query() {}, totalCount: 0 } } } },
    'pool',
  ],
  ['the root of postgres.js', Object.assign(() => {}, { unsafe() {}, begin() {} }), 'sql.begin'],
  ['the root of Kysely', { executeQuery() {}, isTransaction: false }, 'db.transaction'],
  ['the root of Knex', Object.assign(() => {}, { raw() {}, transaction() {} }), 'knex.transaction'],
  ['the root of Prisma', { $queryRawUnsafe() {}, $transaction() {}, $connect() {} }, 'prisma.$transaction'],
  ['a data source of TypeORM', { query() {}, createQueryRunner() {}, initialize() {} }, 'TypeORM'],
  ['the root manager of TypeORM', { query() {}, getRepository() {} }, 'TypeORM'],
  ['an object of no known shape', {}, 'none that is known'],
  ['a text', 'begin', 'type string'],
  ['null', null, 'type null'],
])('%s is refused, because it would commit by itself or cannot be used', (_, tx, said) => {
  expect(() => toExecutor(tx)).toThrow(
    expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(said) }),
  )
})

async function refuseText(query: unknown): Promise<never> {
  throw new Error(`Drizzle executes its own SQL objects, not ${typeof query}`)
}
