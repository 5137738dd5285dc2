import { Identifier, sql } from '../sql.js'
import { type OperationRow, operationColumns } from './operations.js'

/** Half of the rows of an operation, and how far it has come in them; without a time it has not begun. */
export type LaneRow = [lane: string, cursorAt: string | null, cursorId: string]

/**
 * Two lanes of one operation: each has the ids of its own remainder, its own place in the scan, and at most one batch at
 * a time. Locked in this order: the lane, then its operation; who has the operation already passes over a locked lane.
 */
export function laneQueries(schema: string) {
  const lanes = new Identifier(schema, 'operation_lanes')
  const operations = new Identifier(schema, 'operations')
  const row = operationColumns(schema)

  return {
    /** Part of the step that ends the phase before; both begin where the operation stands. */
    open: sql<[id: string, lanes: number, cursorAt: string, cursorId: string], []>`
      insert into ${lanes} (operation_id, lane, cursor_at, cursor_id)
      select $1::bigint, lane, $3::timestamptz, $4::bigint from generate_series(0, $2::integer - 1) as lane`,

    /** How many there are, and how many of them have not come to their end. */
    count: sql<[id: string], [all: string, open: string]>`
      select count(*), count(*) filter (where not ended) from ${lanes} where operation_id = $1::bigint`,

    /** Takes a lane that nobody is at, until the end of the transaction. No row: there is none. */
    take: sql<[id: string], LaneRow>`
      select lane, to_char(cursor_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), cursor_id
        from ${lanes}
       where operation_id = $1::bigint and not ended
       order by lane limit 1
         for update skip locked`,

    /** What the lane's batch is part of, without locking it. No row: it does not run, is paced, or is another runner's. */
    operation: sql<[id: string, runner: string], OperationRow>`
      select ${row} from ${operations} o
       where id = $1::bigint and state = 'running' and phase = 'moving' and rate is null and max_waiting = 0
         and (runner is null or runner = $2 or runner_until < clock_timestamp())`,

    advance: sql<[id: string, lane: number, cursorAt: string, cursorId: string, ended: boolean], []>`
      update ${lanes} set cursor_at = $3::timestamptz, cursor_id = $4::bigint, ended = $5::boolean
       where operation_id = $1::bigint and lane = $2::smallint`,

    /**
     * Adds what a lane's batch did to its operation, and keeps the right to run it. No row: it was paused, cancelled or
     * taken over meanwhile, and the batch must not be.
     */
    account: sql<
      [id: string, runner: string, ttlMs: number, succeeded: number, skipped: number, failed: number],
      OperationRow
    >`
      with changed as (
        update ${operations}
           set succeeded = succeeded + $4::bigint, skipped = skipped + $5::bigint, failed = failed + $6::bigint,
               -- An undo may bring rows back after they were counted: they belong to it, and are done like the others.
               matched = greatest(matched, succeeded + $4::bigint + skipped + $5::bigint + failed + $6::bigint),
               runner = $2, runner_until = clock_timestamp() + $3 * interval '1 millisecond'
         where id = $1::bigint and state = 'running' and phase = 'moving'
           and (runner is null or runner = $2 or runner_until < clock_timestamp())
        returning *
      ),
      -- The last step of the operation waits for the disk, and with it for all before it.
      eased as (select set_config('synchronous_commit', 'off', true))
      select ${row} from changed o where (select count(*) from eased) >= 0`,

    close: sql<[id: string], []>`delete from ${lanes} where operation_id = $1::bigint`,
  }
}
