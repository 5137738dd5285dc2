import type { JobState } from '../../../job/states.js'
import { Fragment, Identifier, sql } from '../sql.js'
import { type ActParams, iso } from './operate.js'
import { quarantinedNow } from './quarantine.js'

export type CloneParams = [
  id: string,
  ...act: ActParams,
  queue: string | null,
  priority: number | null,
  runAtMs: number | null,
  maxAttempts: number | null,
  deadlineMs: number | null,
  /** JSON text. */
  payload: string | null,
]

/** The job as the statement saw it, why it was refused, and the new one: null where there is none. */
export type CloneRow = [
  uniqueKey: string | null,
  passedDeadline: string | null,
  newId: string | null,
  state: JobState | null,
  served: 't' | 'f',
  queue: string,
  notified: string | null,
  /** Whether its fingerprint is quarantined; that, and its kind. */
  barred: 't' | 'f',
  fingerprint: string,
  kind: string,
]

export function cloneQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const head = new Fragment(`(select head from ${table('ring_state').quoted} where ring = 'ready')`)

  return {
    /**
     * completed, cancelled → a new job beside it, linked by origin_id: what its producer set, with counters of its own and
     * no history. A deadline that has passed is not taken along. It takes the unique key, so it is refused where another
     * job has that.
     *
     * Index: terminal_id. Locks nothing of the job: it does not change. No row back: it is in neither state. A row without
     * an id: a deadline that was given has passed, or its key is taken.
     */
    clone: sql<CloneParams, CloneRow>`
      with seen as materialized (
        select t.*, to_timestamp($10::float8 / 1000) as asked_deadline,
               coalesce(to_timestamp($8::float8 / 1000), now()) as due, coalesce($6::text, t.queue) as to_queue,
               ${quarantinedNow(schema, 't.kind', 'coalesce($11::json, t.payload)')} as barred
          from ${table('terminal_entries')} t
         where t.id = $1::bigint and t.state in ('completed', 'cancelled')
      ),
      fresh as materialized (
        select s.*, nextval('${table('job_ids')}') as new_id from seen s
         where (s.asked_deadline is null or s.asked_deadline > now()) and not s.barred
      ),
      keyed as (
        insert into ${table('unique_keys')} (key, job_id)
        select unique_key, new_id from fresh where unique_key is not null
        on conflict (key) do nothing
        returning job_id
      ),
      cleared as materialized (
        select f.id as origin, f.new_id as id, f.to_queue as queue, f.kind, f.schema_version, f.unique_key, f.tags, f.metadata,
               f.retention, f.timeout_ms, f.due, coalesce($7::smallint, f.priority) as priority,
               coalesce($9::integer, f.max_attempts) as max_attempts, coalesce($11::json, f.payload) as payload,
               coalesce(f.asked_deadline, case when f.deadline > now() then f.deadline end) as deadline
          from fresh f
         where f.unique_key is null or f.new_id in (select job_id from keyed)
      ),
      now_ready as (
        insert into ${table('ready_entries')}
               (id, origin_id, position, slot, queue, kind, payload, schema_version, priority, max_attempts, run_at, deadline,
                timeout_ms, unique_key, tags, metadata, retention)
        select id, origin, id, ${head}, queue, kind, payload, schema_version, priority, max_attempts, due, deadline,
               timeout_ms, unique_key, tags, metadata, retention
          from cleared where due <= now()
        returning id
      ),
      later as (
        insert into ${table('deferred_jobs')}
               (id, origin_id, state, due_at, queue, kind, payload, schema_version, priority, max_attempts, run_at, deadline,
                timeout_ms, unique_key, tags, metadata, retention)
        select id, origin, 'scheduled', due, queue, kind, payload, schema_version, priority, max_attempts, due, deadline,
               timeout_ms, unique_key, tags, metadata, retention
          from cleared where due > now()
        returning id
      ),
      audited as (
        insert into ${table('audit_log')} (actor, action, target, reason, result, request_id)
        select $2::text, 'clone', json_build_object('id', origin::text), $3::text,
               json_build_object('id', id::text, 'state', case when due > now() then 'scheduled' else 'available' end,
                                 'queue', queue),
               $4::text
          from cleared
      )
      select s.unique_key, case when s.asked_deadline <= now() then ${new Fragment(iso('s.asked_deadline'))} end, c.id,
             case when c.id is null then null when c.due > now() then 'scheduled' else 'available' end,
             exists (select from ${table('workers')} w
                      where w.state = 'running' and w.heartbeat_at > now() - interval '45 seconds'
                        and s.to_queue = any (w.queues)),
             s.to_queue,
             case when c.id is null then null
                  when c.due > now() then pg_notify($5::text, 'd|' || floor(date_part('epoch', c.due) * 1000)::bigint)
                  else pg_notify($5::text, 'r|' || c.priority || '|' || c.id || '|' || c.queue) end,
             s.barred, case when s.barred then md5(s.kind || E'\n' || coalesce($11::json, s.payload)::text) else '' end, s.kind
        from seen s
        left join cleared c on c.origin = s.id`,
  }
}
