import { type Fragment, fragment, Identifier, type Statement, sql } from '../sql.js'
import type { PLACES } from './check.js'

export type Place = (typeof PLACES)[number]

/** The row's columns as a JSON object over the defaults, and how many such rows. */
export type SeedParams = [row: string, count: number]

/** Rows for tests: jobs of any state, as if the product had brought them there. Nothing else runs these. */
export function fabricateQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const jobId = fragment`nextval('${table('job_ids')}')`
  const workers = table('workers')

  // `0 * n` makes the row's defaults depend on its number, so that each row gets an id of its own.
  const seeded = (place: Place, defaults: Fragment): Fragment => fragment`
      select r.*
        from generate_series(1, $2::int) as n,
             lateral (select ${jobId} + 0 * n as id offset 0) as given,
             lateral json_populate_record(json_populate_record(null::${table(place)}, json_build_object(
               'id', given.id, 'created_at', now(), 'run_at', now(), 'max_attempts', 20, 'attempt', 0,
               'crash_attempt', 0, 'charge_base', 0, 'run_lease', 0, 'generation', 0, 'schema_version', 1,
               'priority', 50, 'handbacks', 0, ${defaults})), $1::json) as r`

  const keyed = fragment`
      keyed as (
        insert into ${table('unique_keys')} (key, job_id)
        select unique_key, id from seeded where unique_key is not null
      )`

  /** A live or held job, with the key it holds. */
  const holding = (place: Place, defaults: Fragment): Statement<SeedParams, [id: string]> =>
    sql<SeedParams, [id: string]>`
      with seeded as (
        insert into ${table(place)} ${seeded(place, defaults)}
        returning id, unique_key
      ), ${keyed}
      select id from seeded order by id`

  return {
    /** – → available. */
    ready_entries: holding(
      'ready_entries',
      fragment`'position', given.id, 'slot', (select head from ${table('ring_state')} where ring = 'ready')`,
    ),

    /** – → running. The registration in the lease is the caller's to make: see `worker`. */
    leases: holding(
      'leases',
      fragment`'position', given.id, 'claimed_at', now(), 'lease_id', given.id,
               'slot', (select head from ${table('ring_state')} where ring = 'leases')`,
    ),

    /** – → scheduled, retryable, or available and set aside. */
    deferred_jobs: holding(
      'deferred_jobs',
      fragment`'state', 'scheduled', 'due_at', now() + interval '1 hour', 'set_aside', 0`,
    ),

    /** – → waiting, with the callback it waits for, and the token of $1, where it has one. */
    waiting_jobs: sql<SeedParams, [id: string]>`
      with seeded as (
        insert into ${table('waiting_jobs')} ${seeded(
          'waiting_jobs',
          fragment`'state', 'waiting', 'lease_id', given.id, 'started_at', now(),
               'waits_until', now() + interval '1 hour', 'callback_name', 'approval',
               'callback_id', nextval('${table('callbacks_id_seq')}')`,
        )}
        returning id, unique_key, generation, lease_id, waits_until, callback_name, callback_id
      ), ${keyed},
      called as (
        insert into ${table('callbacks')} (id, job_id, generation, name, waiting, wait_lease_id, timeout_ms, waits_until)
        select callback_id, id, generation, callback_name, true, lease_id,
               case when waits_until is not null then 3600000 end, waits_until
          from seeded
      ),
      named as (
        insert into ${table('callback_tokens')} (token, callback_id)
        select sha256(convert_to($1::json ->> 'callback_token', 'UTF8')), callback_id
          from seeded
         where $1::json ->> 'callback_token' is not null
      )
      select id from seeded order by id`,

    /** – → quarantined, undecodable. */
    held_entries: holding('held_entries', fragment`'held_at', now(), 'lease_id', given.id, 'started_at', now()`),

    /** – → completed, failed, cancelled. The day's partition has to be there: see `partitions`. */
    terminal_entries: sql<SeedParams, [id: string]>`
      with seeded as (
        insert into ${table('terminal_entries')} ${seeded(
          'terminal_entries',
          fragment`'finalized_at', now(), 'started_at', now(), 'lease_id', given.id, 'retention_class', 0,
               'handler_running', false`,
        )}
        returning id
      )
      select id from seeded order by id`,

    /** – → archived, with everything a death writes beside the row. */
    dlq_entries: sql<SeedParams, [id: string]>`
      with seeded as (
        insert into ${table('dlq_entries')} ${seeded(
          'dlq_entries',
          fragment`'dlq_at', now(), 'retain_from', now(), 'lease_id', given.id, 'started_at', now(),
               'dlq_xid', pg_current_xact_id()::text`,
        )}
        returning id, tags, dlq_at, queue, kind, cause, dlq_reason, error_class, error_message
      ),
      tagged as (
        insert into ${table('dlq_tags')} (tag, dlq_at, id)
        select distinct tag, dlq_at, id from seeded, unnest(tags) as tag
      ),
      caused as (
        insert into ${table('dlq_causes')}
               (queue, cause, kind, reason, error_class, title, sample_id, first_at, last_at)
        select queue, cause, min(kind), min(dlq_reason), min(error_class), min(error_message), min(id), min(dlq_at), max(dlq_at)
          from seeded group by queue, cause
        on conflict do nothing
      ),
      counted as (
        insert into ${table('cause_deltas')} (queue, cause, n)
        select queue, cause, count(*) from seeded group by queue, cause
      )
      select id from seeded order by id`,

    /** – → discarded. */
    dlq_bin: sql<SeedParams, [id: string]>`
      with seeded as (
        insert into ${table('dlq_bin')} ${seeded(
          'dlq_bin',
          fragment`'dlq_at', now(), 'retain_from', now(), 'lease_id', given.id, 'started_at', now(),
               'from_state', 'archived', 'discarded_at', now()`,
        )}
        returning id
      )
      select id from seeded order by id`,

    /** A registered worker; the given columns over those of one that has just beaten. */
    worker: sql<[row: string], [registration: string]>`
      insert into ${workers}
      select r.*
        from (select nextval('${table('registrations')}') as n offset 0) as own,
             json_populate_record(json_populate_record(null::${workers}, json_build_object(
               'registration', own.n, 'name', 'worker', 'host', 'host', 'boot_id', 'boot',
               'pid_namespace', 'pid', 'pid', own.n, 'pid_started', '0', 'state', 'running', 'concurrency', 10,
               'version', '0.0.0', 'started_at', now(), 'heartbeat_at', now())), $1::json) as r
      returning registration`,

    /** Makes the daily partitions that finished jobs of these days need. */
    partitions: sql<[from: string, to: string], [made: string]>`
      select ${table('ensure_terminal_partitions')}($1::date, $2::date)`,
  }
}
