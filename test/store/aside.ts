import type { Database } from '../../src/store/postgres/database.js'
import { sql } from '../../src/store/postgres/sql.js'
import type { Given } from '../../src/testing/factories.js'

const update = sql<[id: string, position: string], [id: string]>`
  update spillway.deferred_jobs
     set state = 'available', position = $2, set_aside = 1
   where id = $1
  returning id`

/** A job that is available, and set aside because nobody served its kind. Its id. */
export async function setAside(db: Database, given: Given, position = '1'): Promise<string> {
  const [id = ''] = await given.jobs(1, { state: 'scheduled' })
  await db.run(update, [id, position])
  return id
}
