import { until } from './patience.js'
import { onServer } from './server.js'

/**
 * Resolves when a session of the database waits for a lock that another one holds: the moment a race has been built. At
 * least `count` of them.
 */
export async function someoneWaits(url: string, count = 1): Promise<void> {
  await onServer(url, (client) =>
    until(
      async () => {
        const { rows } = await client.query(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return rows.length >= count
      },
      { within: '10s', what: 'a session that waits for a lock' },
    ),
  )
}
