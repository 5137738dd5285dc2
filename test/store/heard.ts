import pg from 'pg'
import type { Database } from '../../src/store/postgres/database.js'
import { sql } from '../../src/store/postgres/sql.js'
import { until } from '../../src/testing/signals.js'
import { directly } from '../support/database.js'

export interface Heard {
  /** Every notice committed since listening began, in order. Stops listening. */
  close(): Promise<string[]>
}

/** Listens as a worker does, on a connection of its own. */
export async function listenFor(url: string, channel: string): Promise<Heard> {
  const client = new pg.Client({ connectionString: directly(url) })
  const heard: string[] = []
  client.on('notification', ({ payload = '' }) => heard.push(payload))
  await client.connect()
  await client.query(`listen ${channel}`)
  return {
    async close() {
      // Notices arrive in the order of commits, so nothing that came before this one is still on its way.
      await client.query(`notify ${channel}, 'end'`)
      await until(() => heard.includes('end'), { within: '10s', what: 'the last notice' })
      await client.end()
      return heard.slice(0, heard.indexOf('end'))
    },
  }
}

const waiting = sql<[], [pid: string]>`
  select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

/** Until `count` statements of the test's database wait for a transaction that is held open. */
export async function lockWaits(db: Database, count = 1): Promise<void> {
  await until(async () => (await db.run(waiting, [])).length >= count, {
    within: '10s',
    what: `${count} waiting statements`,
  })
}
