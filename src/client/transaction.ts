import { SpillwayError } from '../job/errors.js'
import type { Executor } from '../store/store.js'

type Rows = readonly Record<string, unknown>[]
type Fn = (...args: never[]) => unknown
/** A handle of some library, looked at property by property: none of them is a dependency. */
type Handle = Record<string, unknown>

const ACCEPTED =
  'node-postgres (a client), postgres.js, Drizzle, Kysely, Knex, TypeORM and Prisma transactions, or { execute(text, values) } that resolves to rows'

/**
 * Makes the caller's open transaction something the store can run a statement in.
 *
 * Told by shape, so that no library is a dependency: node-postgres, postgres.js (`sql.begin`), Drizzle (over either of
 * them), Kysely, Knex, TypeORM, Prisma, or anything with `execute(text, values)` that resolves to rows. A pool or a
 * root instance is refused where it can be told: its statements would commit by themselves, beside the transaction.
 *
 * @throws `invalid_option` for anything else, naming what is accepted.
 */
export function toExecutor(tx: unknown): Executor {
  if ((typeof tx !== 'object' && typeof tx !== 'function') || tx === null) {
    throw refused(`a value of type ${tx === null ? 'null' : typeof tx} is no transaction`)
  }
  const handle = tx as Handle
  refuseWhatIsNoTransaction(handle)
  // Drizzle has `execute` too, but takes only its own SQL objects; under it lies the client of its driver.
  const session = drizzleSession(handle)
  if (session !== undefined) return toExecutor(session.client)
  if (isFn(handle.executeQuery)) return kysely(handle)
  if (isFn(handle.$queryRawUnsafe)) return prisma(handle)
  if (isFn(handle.unsafe)) return postgresJs(handle)
  if (isFn(handle.raw)) return knex(handle)
  if (isFn(handle.query)) return nodePostgres(handle)
  if (isFn(handle.execute)) return handle as unknown as Executor
  throw refused('this object is none that is known')
}

/** Handles that would run the statement on a connection of their own choosing. */
function refuseWhatIsNoTransaction(handle: Handle): void {
  if (isFn(handle.connect) && typeof handle.totalCount === 'number') {
    throw refused('this is a pool, whose statements commit by themselves; use a client of it after BEGIN')
  }
  if (isFn(handle.unsafe) && isFn(handle.begin)) {
    throw refused('this is the root of postgres.js; use the `sql` that `sql.begin()` hands to its callback')
  }
  if (isFn(handle.executeQuery) && handle.isTransaction === false) {
    throw refused('this is the root of Kysely; use the `trx` of `db.transaction().execute()`')
  }
  if (isFn(handle.raw) && isFn(handle.transaction) && handle.isTransaction !== true) {
    throw refused('this is the root of Knex; use the `trx` of `knex.transaction()`')
  }
  if (isFn(handle.$queryRawUnsafe) && isFn(handle.$transaction) && isFn(handle.$connect)) {
    throw refused('this is the root of Prisma; use the `tx` of `prisma.$transaction(async (tx) => …)`')
  }
  const isDataSource = isFn(handle.createQueryRunner) && isFn(handle.initialize)
  const isRootManager = isFn(handle.getRepository) && handle.queryRunner === undefined
  if (isDataSource || isRootManager) {
    throw refused('this is the root of TypeORM; use the manager or the query runner of a transaction')
  }
}

function drizzleSession(handle: Handle): Handle | undefined {
  for (const holder of [handle._, handle]) {
    const session = (holder as Handle | undefined)?.session as Handle | undefined
    const client = session?.client
    if (isFn(session?.prepareQuery) && client !== undefined) return session
  }
  return undefined
}

function kysely(handle: Handle): Executor {
  return {
    execute: async (text, values) => {
      // What `CompiledQuery.raw(text, values)` makes.
      const query = { kind: 'RawNode', sqlFragments: [text], parameters: [] }
      const compiled = { sql: text, parameters: values, query, queryId: { queryId: 'spillway' } }
      const answer = (await call(handle, 'executeQuery', compiled)) as { rows: Rows }
      return answer.rows
    },
  }
}

function prisma(handle: Handle): Executor {
  return { execute: async (text, values) => (await call(handle, '$queryRawUnsafe', text, ...values)) as Rows }
}

function postgresJs(handle: Handle): Executor {
  return { execute: async (text, values) => (await call(handle, 'unsafe', text, values)) as Rows }
}

function knex(handle: Handle): Executor {
  return {
    execute: async (text, values) => {
      const ordered = [...text.matchAll(/\$(\d+)/g)].map(([, n]) => values[Number(n) - 1])
      const marked = text.replaceAll('?', '\\?').replace(/\$\d+/g, '?')
      const answer = (await call(handle, 'raw', marked, ordered)) as { rows: Rows }
      return answer.rows
    },
  }
}

/** node-postgres answers `{rows}`, TypeORM the rows, or rows and a count where they were changed. */
function nodePostgres(handle: Handle): Executor {
  return {
    execute: async (text, values) => {
      const answer = await call(handle, 'query', text, values)
      if (!Array.isArray(answer)) return (answer as { rows: Rows }).rows
      return (Array.isArray(answer[0]) ? answer[0] : answer) as Rows
    },
  }
}

function call(handle: Handle, method: string, ...args: unknown[]): unknown {
  return (handle[method] as (...args: unknown[]) => unknown).apply(handle, args)
}

function isFn(value: unknown): value is Fn {
  return typeof value === 'function'
}

function refused(problem: string): SpillwayError {
  return new SpillwayError('invalid_option', `cannot enqueue in this \`tx\`: ${problem}; accepted are ${ACCEPTED}`)
}
