import { sql } from '../sql.js'

/** How far the primary has written and a replica has come. */
export const replicaQueries = {
  /** On the primary: a replica that has come so far shows everything committed until now. */
  written: sql<[], [lsn: string]>`
      select pg_current_wal_insert_lsn()`,

  /** On the replica; a server that is none has everything. */
  hasReached: sql<[lsn: string], [reached: string]>`
      select not pg_is_in_recovery() or pg_last_wal_replay_lsn() >= $1::pg_lsn`,
}
