import type { SweptRow } from '../dead-row.js'
import { columns, moved } from '../rows.js'
import { Fragment, fragment, Identifier, sql } from '../sql.js'
import { wholeHistory, withEntry } from './history.js'
import { jobColumns } from './inspect.js'
import { isoTime } from './iso-time.js'
import { leftToWorkers, takenAs } from './served.js'

export function deadlineQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const ready = table('ready_entries')
  const deferred = table('deferred_jobs')
  const waiting = table('waiting_jobs')
  const left = leftToWorkers(schema)
  const isOurs = fragment`deadline <= now() and ${takenAs('j')} <> all (${left})`
  const isLeft = fragment`deadline <= now() and ${takenAs('j')} = any (${left})`
  const went =
    "case when t.dlq_enabled then 'archived' when coalesce(t.keep_ms, 1) > 0 then 'failed' else 'gone' end as state"

  const expired = fragment`
      with late_ready as materialized (
        select id, slot from ${ready} j where ${isOurs} order by deadline limit $1 for update skip locked
      ),
      late_deferred as materialized (
        select id from ${deferred} j where ${isOurs} order by deadline limit $1 for update skip locked
      ),
      late_waiting as materialized (
        select id from ${waiting} j where ${isOurs} order by deadline limit $1 for update skip locked
      ),
      from_ready as (
        delete from ${ready} j using late_ready l where j.slot = l.slot and j.id = l.id
        returning ${moved('j', {}, 'null::bigint as lease_id', 'null::timestamptz as started_at', 'null::json as progress')}
      ),
      from_deferred as (
        delete from ${deferred} j using late_deferred l where j.id = l.id
        returning ${moved('j', {}, 'null::bigint as lease_id', 'j.started_at', 'null::json as progress')}
      ),
      from_waiting as (
        delete from ${waiting} j using late_waiting l where j.id = l.id
        returning ${moved('j', {}, 'j.lease_id', 'j.started_at', 'j.progress')}
      ),
      gone as materialized (
        select * from from_ready union all select * from from_deferred union all select * from from_waiting
      ),
      freed as (
        delete from ${table('unique_keys')} k
         using gone g
         where g.unique_key is not null and k.key = g.unique_key and k.job_id = g.id
      ),
      causes as materialized (
        select queue, kind, own, ${table('cause_for')}(queue, kind, own) as cause
          from (select distinct queue, kind, left(encode(sha256(convert_to(
                         '[' || to_json(kind) || ',"DeadlineExceeded","the deadline <date> has passed"]', 'UTF8')),
                         'hex'), 16) as own
                  from gone) as c
      ),
      ruled as materialized (
        select g.*, c.cause, coalesce(q.dlq_enabled, true) as dlq_enabled,
               ${table('effective_retention')}(g.retention, q.retention, 'failed', 259200000) as keep_ms,
               'the deadline ' || ${isoTime('g.deadline')} || ' has passed' as message
          from gone g
          join causes c on c.queue = g.queue and c.kind = g.kind
          left join ${table('queues')} q on q.queue = g.queue
      ),
      told as materialized (
        select r.*, json_build_object(
                 'type', 'deadline', 'at', ${isoTime('now()')}, 'started_at', ${isoTime('r.started_at')},
                 'generation', r.generation, 'attempt', r.attempt, 'lease_id', r.lease_id::text, 'worker', null,
                 'name', 'DeadlineExceeded', 'message', r.message, 'stack', null, 'code', null, 'cause', '[]'::json,
                 'truncated', false)::text as entry
          from ruled r
      ),
      dead as (
        insert into ${table('dlq_entries')}
               (${columns('dlq_at', 'dlq_reason', 'original_run_lease', 'cause', 'error_class', 'error_message', 'dlq_xid', 'retain_from', 'lease_id', 'started_at', 'progress')})
        select ${moved('t', { handbacks: '0', ...withEntry(schema, 't', 't.entry') }, 'now()', "'deadline_exceeded'", 't.run_lease', 't.cause', "'DeadlineExceeded'", 't.message', 'pg_current_xact_id()', 'now()', 't.lease_id', 't.started_at', 't.progress')}
          from told t
         where t.dlq_enabled
      ),
      failed as (
        insert into ${table('terminal_entries')}
               (${columns('state', 'retention_class', 'finalized_at', 'started_at', 'lease_id', 'failed_xid', 'reason', 'cause', 'error_class', 'error_message', 'progress')})
        select ${moved('t', { handbacks: '0', ...withEntry(schema, 't', 't.entry') }, "'failed'", `${table('retention_class').quoted}(t.keep_ms)`, 'now()', 't.started_at', 't.lease_id', 'pg_current_xact_id()', "'deadline_exceeded'", 't.cause', "'DeadlineExceeded'", 't.message', 't.progress')}
          from told t
         where not t.dlq_enabled and coalesce(t.keep_ms, 1) > 0
      ),
      tagged as (
        insert into ${table('dlq_tags')} (tag, dlq_at, id)
        select distinct tag, now(), r.id from ruled r, unnest(r.tags) as tag where r.dlq_enabled
      ),
      known as (
        insert into ${table('dlq_causes')} (queue, cause, kind, reason, error_class, title, sample_id, first_at, last_at)
        select distinct on (queue, cause) queue, cause, kind, 'deadline_exceeded', 'DeadlineExceeded',
               'DeadlineExceeded: the deadline <date> has passed', id, now(), now()
          from ruled
         where dlq_enabled
         order by queue, cause, id
        on conflict (queue, cause) do nothing
      ),
      counts as (
        insert into ${table('cause_deltas')} (queue, cause, n)
        select queue, cause, count(*) from ruled where dlq_enabled group by queue, cause
      ),
      counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select queue, kind, 'deadline_exceeded',
               case when dlq_enabled then 'arrived' when keep_ms <= 0 then 'gone' else 'failed' end, count(*)
          from ruled
         group by 1, 2, 3, 4
      ),
      events as (
        insert into ${table('event_outbox')} (type, job_id, queue, kind, generation, reason, cause, message)
        select 'died', id, queue, kind, generation, 'deadline_exceeded', cause, message from ruled
      )`

  return {
    /**
     * available, scheduled, retryable, waiting → archived (failed on a queue without a dead-letter queue), where the
     * deadline has passed; at most $1 of each place, the longest overdue first. Not of kinds whose deaths a worker of
     * the queue writes with code of its own.
     *
     * The cause is that of a running job whose deadline passed, so that both stand in one group (src/job/cause.ts).
     * Index: ready_N_deadline, deferred_deadline, waiting_deadline. Locks: skips rows somebody else is moving. Always
     * answers one row.
     */
    expire: sql<[limit: number], [expired: string]>`
${expired}
      select count(*) from gone`,

    /** The same, answering what died: one row each. */
    expireTelling: sql<[limit: number], SweptRow>`
${expired}
      select ${jobColumns('job')}, job.payload, array_to_json(${new Fragment(wholeHistory('job'))}), null::json, job.progress, job.origin_id
        from (select ${moved(
          't',
          { handbacks: '0 as handbacks', ...withEntry(schema, 't', 't.entry') },
          went,
          't.started_at',
          'now() as finalized_at',
          't.lease_id',
          'null::text as reason',
          "'deadline_exceeded' as dlq_reason",
          'now() as dlq_at',
          't.run_lease as original_run_lease',
          't.cause',
          "'DeadlineExceeded' as error_class",
          't.message as error_message',
          't.progress',
          'null::json as callback',
        )}
                from told t) as job`,

    /**
     * scheduled, retryable, waiting → available, of kinds whose deaths a worker of the queue writes with code of its own,
     * where the deadline has passed: the worker claims them, and gives them up without entering their handler. At most $1
     * of each place. Callbacks that were waited for can be answered as before the wait.
     *
     * Index: deferred_deadline, waiting_deadline. Locks: skips rows somebody else is moving. Always answers one row.
     */
    hurry: sql<[limit: number, channel: string], [moved: string, told: string]>`
      with late as materialized (
        select id from ${deferred} j
         where ${isLeft} and state <> 'available'
         order by deadline limit $1 for update skip locked
      ),
      late_waiting as materialized (
        select id from ${waiting} j where ${isLeft} order by deadline limit $1 for update skip locked
      ),
      from_deferred as (
        delete from ${deferred} j using late l where j.id = l.id
        returning ${moved('j')}
      ),
      from_waiting as (
        delete from ${waiting} j using late_waiting l where j.id = l.id
        returning ${moved('j')}, j.callback_id
      ),
      unawaited as (
        update ${table('callbacks')} c set waiting = false from from_waiting w where c.id = w.callback_id
      ),
      gone as (
        select ${columns()} from from_deferred
        union all
        select ${columns()} from from_waiting
      ),
      back as (
        insert into ${ready} (${columns('position', 'slot')})
        select ${moved('g', { run_at: 'least(g.run_at, now())' }, `nextval('${table('job_ids').quoted.replaceAll("'", "''")}')`, `(select head from ${table('ring_state').quoted} where ring = 'ready')`)}
          from gone g
        returning queue, priority, position
      ),
      told as (
        select pg_notify($2::text, 'r|' || priority || '|' || min(position) || '|' || queue)
          from back group by queue, priority
      )
      select (select count(*) from back), (select count(*) from told)`,
  }
}
