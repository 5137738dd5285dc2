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
  callbacks: ['waits_until', 'created_at', 'settled_at'],
  terminal_entries: ['created_at', 'run_at', 'deadline', 'finalized_at', 'started_at'],
  dlq_entries: ['created_at', 'run_at', 'deadline', 'dlq_at', 'retain_from', 'started_at'],
  dlq_tags: ['dlq_at'],
  dlq_bin: ['created_at', 'run_at', 'deadline', 'dlq_at', 'retain_from', 'started_at', 'discarded_at'],
  dlq_causes: ['first_at', 'last_at'],
  cause_deltas: ['at'],
  held_entries: ['created_at', 'run_at', 'deadline', 'held_at', 'started_at'],
  ring_state: ['rotated_at', 'truncated_at'],
  queues: ['paused_at', 'updated_at'],
  dlq_warnings: ['at'],
  duties: ['last_success_at', 'last_error_at', 'paused_at'],
  requests: ['at'],
  crashes: ['at', 'began_at', 'lost_at', 'ended_at', 'expires_at', 'closed_at'],
  quarantine: ['held_at'],
  suspect_turns: ['taken_at'],
  counters: ['minute'],
  event_outbox: ['at'],
  event_head: ['outbox_look_at'],
  event_log: ['at', 'logged_at'],
  webhooks: ['digest_at', 'held_until', 'created_at', 'updated_at'],
  deliveries: ['next_at', 'created_at', 'ended_at'],
  audit_log: ['at'],
  api_tokens: ['created_at', 'expires_at', 'revoked_at', 'last_used_at'],
  api_sessions: ['created_at', 'expires_at'],
  masked_paths: ['created_at'],
  operations: ['cursor_at', 'next_at', 'canary_until', 'created_at', 'started_at', 'finished_at', 'runner_until'],
  operation_lanes: ['cursor_at'],
  idempotency_keys: ['created_at'],
  payload_versions: ['edited_at'],
  cause_hours: ['hour'],
  unserved_kinds: ['seen_at', 'aside_at'],
  worker_tasks: ['created_at', 'taken_at'],
  dlq_triage: ['acknowledged_at', 'noted_at', 'muted_until', 'muted_at', 'resolved_at', 'updated_at'],
  cause_triage: ['acknowledged_at', 'noted_at', 'muted_until', 'muted_at', 'resolved_at', 'regressed_at', 'updated_at'],
  cold_archive: [
    ...[
      'created_at',
      'run_at',
      'deadline',
      'archived_at',
      'keep_until',
      'finalized_at',
      'started_at',
      'dlq_at',
      'held_at',
    ],
  ],
  workers: ['started_at', 'heartbeat_at'],
  leaders: ['writing_since'],
  ended_workers: ['heartbeat_at', 'ended_at', 'started_at'],
} as const satisfies Record<string, readonly string[]>

/** Farther than any two times of a store are apart; in hours, because days depend on the time zone. */
const FAR = fragment`interval '20000000 hours'`

type Shift = Statement<[ms: number], []>

export function shiftQueries(schema: string) {
  return {
    /** Moves every time of one table $1 ms into the past, so that to its rows $1 ms have passed. All rows at once. */
    tables: Object.fromEntries(
      Object.entries(TIMES).map(([table, times]) => [table, shift(new Identifier(schema, table), times)]),
    ) as Readonly<Record<keyof typeof TIMES, Shift>>,

    /**
     * Moves the hours of the causes out of the way: their key is checked row by row, and one that moves by whole hours
     * would meet the next. To be followed by the statement of their table, which brings them back.
     */
    hoursAway: sql<[], []>`
      update ${new Identifier(schema, 'cause_hours')} set hour = hour - ${FAR}`,

    /** Partitions for finished jobs that the shift moves to earlier days. */
    partitions: sql<[ms: number], [made: string]>`
      select ${new Identifier(schema, 'ensure_terminal_partitions')}(
               (min(finalized_at) - $1 * interval '1 ms')::date - 1, (max(finalized_at) - $1 * interval '1 ms')::date + 1)
        from ${new Identifier(schema, 'terminal_entries')}
      having count(*) > 0`,

    /** Partitions for archived jobs that the shift moves to earlier months. */
    coldPartitions: sql<[ms: number], [made: string]>`
      select ${new Identifier(schema, 'ensure_cold_partitions')}(
               (min(archived_at) - $1 * interval '1 ms')::date - 1, (max(archived_at) - $1 * interval '1 ms')::date + 1)
        from ${new Identifier(schema, 'cold_archive')}
      having count(*) > 0`,
  }
}

function shift(table: Identifier, times: readonly string[]): Shift {
  const changes = times.map((time) => {
    const column = new Identifier(time)
    const from = time === 'hour' ? fragment`${column} + ${FAR}` : column
    return fragment`${column} = ${from} - $1 * interval '1 ms'`
  })
  return sql<[ms: number], []>`
      update ${table} set ${join(changes, ', ')}`
}
