import { fragment, Identifier, join, type Statement, sql } from '../sql.js'

/**
 * Every time a row has, by table. Of `leaders` only since when they have been writing: what keeps a leader in office is
 * as fresh after the shift as before, so that workers can be silent while somebody watches them.
 */
const TIMES = {
  ready_entries: ['created_at', 'run_at', 'deadline'],
  leases: ['created_at', 'run_at', 'deadline', 'claimed_at'],
  attempt_state: ['updated_at'],
  aborts: ['at'],
  deferred_jobs: ['created_at', 'run_at', 'deadline', 'due_at', 'started_at'],
  waiting_jobs: ['created_at', 'run_at', 'deadline', 'started_at', 'waits_until'],
  terminal_entries: ['created_at', 'run_at', 'deadline', 'finalized_at', 'started_at'],
  dlq_entries: ['created_at', 'run_at', 'deadline', 'dlq_at', 'retain_from', 'started_at'],
  dlq_tags: ['dlq_at'],
  dlq_bin: ['created_at', 'run_at', 'deadline', 'dlq_at', 'retain_from', 'started_at', 'discarded_at'],
  dlq_causes: ['first_at', 'last_at'],
  cause_deltas: ['at'],
  held_entries: ['created_at', 'run_at', 'deadline', 'held_at', 'started_at'],
  ring_state: ['rotated_at', 'truncated_at'],
  queues: ['paused_at', 'updated_at'],
  duties: ['last_success_at', 'last_error_at'],
  requests: ['at'],
  crashes: ['at'],
  counters: ['minute'],
  event_outbox: ['at'],
  audit_log: ['at'],
  workers: ['started_at', 'heartbeat_at'],
  leaders: ['writing_since'],
  ended_workers: ['heartbeat_at', 'ended_at'],
} as const satisfies Record<string, readonly string[]>

type Shift = Statement<[ms: number], []>

export function shiftQueries(schema: string) {
  return {
    /** Moves every time of one table $1 ms into the past, so that to its rows $1 ms have passed. All rows at once. */
    tables: Object.fromEntries(
      Object.entries(TIMES).map(([table, times]) => [table, shift(new Identifier(schema, table), times)]),
    ) as Readonly<Record<keyof typeof TIMES, Shift>>,

    /** Partitions for finished jobs that the shift moves to earlier days. */
    partitions: sql<[ms: number], [made: string]>`
      select ${new Identifier(schema, 'ensure_terminal_partitions')}(
               (min(finalized_at) - $1 * interval '1 ms')::date - 1, (max(finalized_at) - $1 * interval '1 ms')::date + 1)
        from ${new Identifier(schema, 'terminal_entries')}
      having count(*) > 0`,
  }
}

function shift(table: Identifier, times: readonly string[]): Shift {
  const changes = times.map((time) => {
    const column = new Identifier(time)
    return fragment`${column} = ${column} - $1 * interval '1 ms'`
  })
  return sql<[ms: number], []>`
      update ${table} set ${join(changes, ', ')}`
}
