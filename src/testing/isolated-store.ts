import { randomBytes } from 'node:crypto'
import { Database } from '../store/postgres/database.js'
import { isolateQueries } from '../store/postgres/queries/isolate.js'
import { type PostgresStore, postgresStore } from '../store/postgres/store.js'
import { factories, type Given } from './factories.js'
import { type FakeClock, fakeClock } from './fake-clock.js'
import { type OnePlaceChecker, onePlace } from './one-place.js'

export interface IsolatedStoreOptions {
  /** Any database the tests may write to. */
  readonly url: string
  /** How the schema's name begins. Default: `spillway_test`. */
  readonly prefix?: string
}

/** A store of a test's own. Give `url` and `schema` to `new Spillway({ url, schema })` to run the program under test on it. */
export interface IsolatedStore extends AsyncDisposable {
  readonly url: string
  readonly schema: string
  readonly store: PostgresStore
  readonly given: Given
  readonly clock: FakeClock
  readonly checker: OnePlaceChecker
  /** Removes every row. Not while a worker runs. */
  empty(): Promise<void>
  /** Closes the store and drops the schema. May be called twice. Waits for transactions that use it. */
  drop(): Promise<void>
}

/**
 * Makes a migrated schema nobody else uses. Until it is dropped it stays, also when the process
 * is killed: `drop schema spillway_test_… cascade` removes it by hand.
 *
 * @example
 * const isolated = await isolatedStore({ url: process.env.DATABASE_URL })
 * const spillway = new Spillway({ url: isolated.url, schema: isolated.schema })
 * …
 * await spillway.close()
 * await isolated.drop()
 */
export async function isolatedStore({ url, prefix = 'spillway_test' }: IsolatedStoreOptions): Promise<IsolatedStore> {
  const schema = `${prefix}_${randomBytes(6).toString('hex')}`
  const store = postgresStore({ url, schema })
  const db = new Database({ url, max: 4, prepare: false, applicationName: 'spillway testing' })
  const queries = isolateQueries(schema)
  let dropped: Promise<void> | undefined

  const drop = () => {
    dropped ??= (async () => {
      await store.close()
      await db.transaction((tx) => tx.execute(queries.drop.text))
      await db.close()
    })()
    return dropped
  }
  try {
    await store.migrate()
  } catch (error) {
    await Promise.allSettled([store.close(), db.close()])
    throw error
  }
  return {
    url,
    schema,
    store,
    given: factories(db, schema, store),
    clock: fakeClock(db, schema),
    checker: onePlace(db, schema),
    async empty() {
      await db.run(queries.empty, [])
    },
    drop,
    [Symbol.asyncDispose]: drop,
  }
}
