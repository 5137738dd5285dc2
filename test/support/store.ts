import { type FakeClock, factories, fakeClock, type Given, type OnePlaceChecker, onePlace } from 'spillway/testing'
import { afterAll, afterEach, beforeEach, describe } from 'vitest'
import { Database, type Transaction } from '../../src/store/postgres/database.js'
import { isolateQueries } from '../../src/store/postgres/queries/isolate.js'
import { postgresStore } from '../../src/store/postgres/store.js'
import type { Store } from '../../src/store/store.js'
import { testDatabase } from './database.js'

export interface StoreSuite {
  readonly store: Store
  /** Makes jobs of any state. */
  readonly given: Given
  /** For a look behind the store, and for holding transactions open. */
  readonly db: Database
  readonly url: string
  readonly schema: string
  readonly clock: FakeClock
  readonly checker: OnePlaceChecker
  /**
   * Runs `work` while a transaction is open, to race by construction: what it did is committed when `work` resolves, and
   * rolled back when it throws.
   */
  inTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
}

export interface StoreSuiteOptions {
  /** What each test begins with. `none`: every table is emptied before it. `kept`: what the last one left. */
  readonly rows?: 'none' | 'kept'
  /** Whether every test has to end with the invariants intact. Default: true. */
  readonly checked?: boolean
}

/** The stores there are, each a database behind the port. */
const STORES: readonly { readonly name: string; open(url: string): Store }[] = [
  { name: 'PostgreSQL', open: (url) => postgresStore({ url }) },
]

/**
 * A suite that runs on every store, each time with a database of its own. A store without a capability is not left out:
 * the suite asks `store.capabilities` and expects the documented refusal instead.
 *
 * Each test begins with an empty store, and ends with the check that every job is in exactly one place.
 */
export function describeStore(
  name: string,
  suite: (context: StoreSuite) => void,
  options: StoreSuiteOptions = {},
): void {
  const { rows = 'none', checked = true } = options
  for (const { name: database, open } of STORES) {
    describe(`${name} (${database})`, () => {
      const { url } = testDatabase()
      const schema = 'spillway'
      const store = open(url)
      const db = new Database({ url, max: 10, prepare: 'auto', applicationName: 'test' })
      const checker = onePlace(db, schema)
      const { empty } = isolateQueries(schema)

      afterAll(async () => {
        await store.close()
        await db.close()
      })
      if (rows === 'none') {
        beforeEach(async () => {
          await db.run(empty, [])
        })
      }
      if (checked) afterEach(() => checker.expectClean())

      suite({
        store,
        given: factories(db, schema, store),
        db,
        url,
        schema,
        clock: fakeClock(db, schema),
        checker,
        inTransaction: (work) => db.transaction(work),
      })
    })
  }
}
