import type { JobState } from '../../../job/states.js'
import { columns, moved } from '../rows.js'
import { fragment, Identifier, join, sql } from '../sql.js'
import { withEntry } from './history.js'
import { isoTime } from './iso-time.js'
import type { ActParams } from './operate.js'

export type KillParams = [
  id: string,
  ...act: ActParams,
  dlqReason: string,
  /** What its cause is made of beside the kind, as in src/job/cause.ts. */
  causeName: string,
  causeText: string,
  title: string,
]

/** Where a job that is killed can come from, and what that place knows of its attempt. */
const FROM = [
  { place: 'ready_entries', state: "'available'", own: ['null::bigint', 'null::timestamptz', 'null::json'] },
  { place: 'deferred_jobs', state: 'j.state', own: ['null::bigint', 'j.started_at', 'null::json'] },
  { place: 'waiting_jobs', state: 'j.state', own: ['j.lease_id', 'j.started_at', 'j.progress'] },
  { place: 'held_entries', state: 'j.state', own: ['j.lease_id', 'j.started_at', 'j.progress'] },
] as const

export function killQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const killed = withEntry(
    schema,
    'r',
    `json_build_object('type', 'killed', 'at', ${isoTime('now()').quoted},
      'started_at', ${isoTime('r.started_at').quoted}, 'generation', r.generation, 'attempt', r.attempt,
      'lease_id', r.lease_id::text, 'worker', null, 'by', $2::text, 'why', $3::text, 'reason', $6::text)::text`,
  )

  return {
    /**
     * available, scheduled, retryable, waiting, quarantined, undecodable → archived; failed on a queue without a
     * dead-letter queue, gone and counted where that keeps none. Frees the unique key.
     *
     * Index: the one on id of each place. Locks the job's row: waits for a claim or another operator that has it. No row
     * back: it was in none of these places when the statement began, or a claim came first.
     */
    kill: sql<KillParams, [state: JobState | 'gone', notified: string | null]>`
      with ${join(
        FROM.map(
          ({ place, state, own: [lease, started, progress] }) => fragment`
      ${new Identifier(`from_${place}`)} as (
        delete from ${table(place)} j
         where j.id = $1::bigint
        returning ${moved('j', {}, `${state} as from_state`, `${lease} as lease_id`, `${started} as started_at`, `${progress} as progress`)}
      )`,
        ),
        ',',
      )},
      gone as materialized (
        ${join(
          FROM.map(({ place }) => fragment`select * from ${new Identifier(`from_${place}`)}`),
          ' union all ',
        )}
      ),
      freed as (
        delete from ${table('unique_keys')} k
         using gone g
         where g.unique_key is not null and k.key = g.unique_key and k.job_id = g.id
      ),
      forgotten as (
        delete from ${table('attempt_state')} s using gone g where s.job_id = g.id
      ),
      ruled as materialized (
        select g.*, coalesce(q.dlq_enabled, true) as dlq_enabled,
               ${table('effective_retention')}(g.retention, q.retention, 'failed', 259200000) as keep_ms,
               ${table('cause_for')}(g.queue, g.kind, left(encode(sha256(convert_to(
                 '[' || to_json(g.kind) || ',' || to_json($7::text) || ',' || to_json($8::text) || ']', 'UTF8')), 'hex'), 16)) as cause
          from gone g
          left join ${table('queues')} q on q.queue = g.queue
      ),
      dead as (
        insert into ${table('dlq_entries')}
               (${columns('dlq_at', 'dlq_reason', 'original_run_lease', 'cause', 'dlq_xid', 'retain_from', 'lease_id', 'started_at', 'progress')})
        select ${moved('r', { handbacks: '0', ...killed }, 'now()', '$6::text', 'r.run_lease', 'r.cause', 'pg_current_xact_id()', 'now()', 'r.lease_id', 'r.started_at', 'r.progress')}
          from ruled r
         where r.dlq_enabled
      ),
      failed as (
        insert into ${table('terminal_entries')}
               (${columns('state', 'retention_class', 'finalized_at', 'started_at', 'lease_id', 'failed_xid', 'reason', 'cause', 'progress')})
        select ${moved('r', { handbacks: '0', ...killed }, "'failed'", `${table('retention_class').quoted}(r.keep_ms)`, 'now()', 'r.started_at', 'r.lease_id', 'pg_current_xact_id()', '$6::text', 'r.cause', 'r.progress')}
          from ruled r
         where not r.dlq_enabled and coalesce(r.keep_ms, 1) > 0
      ),
      tagged as (
        insert into ${table('dlq_tags')} (tag, dlq_at, id)
        select distinct tag, now(), r.id from ruled r, unnest(r.tags) as tag where r.dlq_enabled
      ),
      known as (
        insert into ${table('dlq_causes')} (queue, cause, kind, reason, title, sample_id, first_at, last_at)
        select queue, cause, kind, $6::text, $9::text, id, now(), now() from ruled where dlq_enabled
        on conflict (queue, cause) do nothing
      ),
      counts as (
        insert into ${table('cause_deltas')} (queue, cause, n) select queue, cause, 1 from ruled where dlq_enabled
      ),
      answered as materialized (
        select r.*, case when dlq_enabled then 'archived' when coalesce(keep_ms, 1) > 0 then 'failed' else 'gone' end as state
          from ruled r
      ),
      counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select queue, kind, $6::text, case state when 'archived' then 'arrived' else state end, 1 from answered
      ),
      events as (
        insert into ${table('event_outbox')} (type, job_id, queue, kind, generation, reason, cause)
        select 'died', id, queue, kind, generation, $6::text, cause from answered
      ),
      audited as (
        insert into ${table('audit_log')} (actor, action, target, reason, result, request_id)
        select $2::text, 'kill', json_build_object('id', id::text), $3::text,
               json_build_object('from', from_state, 'state', state, 'dlq_reason', $6::text), $4::text
          from answered
      )
      select state, pg_notify($5::text, 'x') from answered`,
  }
}
