import { type Duration, parseDuration } from '../job/duration.js'
import type { Database } from '../store/postgres/database.js'
import { shiftQueries } from '../store/postgres/queries/shift.js'

export interface FakeClock {
  /**
   * Makes it `by` later, to every row: what was due in five minutes is due now, a deadline is nearer, a heartbeat and a
   * finished job are older. All rows in one transaction; when it fails, no time has passed.
   */
  advance(by: Duration, options?: AdvanceOptions): Promise<void>
}

export interface AdvanceOptions {
  /**
   * What workers did meanwhile. `silent`: nothing, so that they look lost after a stale time, also one that runs in the
   * test and is well. `beating`: they gave signs of life. Default: `silent`. The leader of the maintenance stays.
   */
  readonly workers?: 'silent' | 'beating'
}

/**
 * Lets time pass without waiting for it. The database's own clock decides everything and cannot be moved, so this moves
 * every time that is stored in the other direction. Times inside the histories stay as they were written; the memory of
 * running processes (timers, floors, what they last saw) notices nothing.
 *
 * @example
 * await spillway.enqueue(job, {}, { runAt: inOneHour })
 * await clock.advance('1h')
 */
export function fakeClock(db: Database, schema: string): FakeClock {
  const queries = shiftQueries(schema)
  return {
    async advance(by, { workers = 'silent' } = {}) {
      const ms = parseDuration(by, 'an advance of the clock')
      await db.transaction(async (tx) => {
        await tx.run(queries.partitions, [ms])
        await tx.run(queries.coldPartitions, [ms])
        await tx.run(queries.hoursAway, [])
        for (const [table, statement] of Object.entries(queries.tables)) {
          if (table !== 'workers' || workers === 'silent') await tx.run(statement, [ms])
        }
      })
    },
  }
}
