import { fragment, Identifier, join, sql } from '../sql.js'

/** Emptied between tests; what a fresh schema has rows in (rings, control) is left. */
const TABLES = [
  'ready_entries',
  'leases',
  'attempt_state',
  'aborts',
  'deferred_jobs',
  'waiting_jobs',
  'callback_tokens',
  'callbacks',
  'terminal_entries',
  'dlq_entries',
  'dlq_tags',
  'dlq_bin',
  'dlq_causes',
  'cause_deltas',
  'held_entries',
  'queues',
  'workers',
  'leaders',
  'ended_workers',
  'duties',
  'requests',
  'unique_keys',
  'crashes',
  'quarantine',
  'suspect_turns',
  'counters',
  'counter_totals',
  'event_outbox',
  'event_log',
  'deliveries',
  'webhooks',
  'audit_log',
  'cause_hours',
  'payload_versions',
  'idempotency_keys',
  'operation_rows',
  'operation_canaries',
  'operation_lanes',
  'operations',
  'unserved_kinds',
  'worker_tasks',
  'dlq_triage',
  'dlq_warnings',
  'cause_triage',
  'cold_archive',
  'api_sessions',
  'api_tokens',
  'masked_paths',
] as const

export function isolateQueries(schema: string) {
  const first = TABLES[0]
  return {
    /** Every row of every table, in one statement. For small stores between two tests; not while something runs. */
    empty: sql<[], []>`
      with ${join(
        TABLES.slice(1).map(
          (table) => fragment`${new Identifier(`gone_${table}`)} as (delete from ${new Identifier(schema, table)})`,
        ),
        ', ',
      )}
      delete from ${new Identifier(schema, first)}`,

    /** The schema with everything in it. Waits for whoever uses it. */
    drop: sql<[], []>`
      drop schema if exists ${new Identifier(schema)} cascade`,
  }
}
