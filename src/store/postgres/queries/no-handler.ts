import type { SweptRow } from '../dead-row.js'
import { columns, moved } from '../rows.js'
import { Fragment, fragment, Identifier, sql } from '../sql.js'
import { wholeHistory, withEntry } from './history.js'
import { jobColumns } from './inspect.js'
import { isoTime } from './iso-time.js'
import { type Watched, watching } from './unserved.js'

/** available → archived, or failed: what nobody has served for long enough is given up. */
export function noHandlerQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const ready = table('ready_entries')
  const deferred = table('deferred_jobs')
  const unserved = table('unserved_kinds')
  const { live, atHeads, limitMs } = watching(schema)

  const givenUp = fragment`
      with ${live},
      due as materialized (
        select u.queue, u.kind, u.version, ${limitMs} * interval '1 millisecond' as patience
          from ${unserved} u
          left join ${table('queues')} q on q.queue = u.queue
         where u.queue = any ($1::text[]) and u.waited_ms >= ${limitMs}
           and u.seen_at > now() - $2 * interval '1 millisecond'
           and exists (select from served s where s.queue = u.queue)
           and not exists (select from served s where s.queue = u.queue and s.pair = u.kind || '@' || u.version)
      ),
      ${atHeads},
      late_ready as materialized (
        select r.id, r.slot
          from ${ready} r
         where (r.id, r.slot) in (select n.id, n.slot
                                    from near n
                                    join due d on d.queue = n.queue and d.kind = n.kind and d.version = n.schema_version
                                   where n.run_at <= now() - d.patience
                                   limit $3)
           for update skip locked
      ),
      late_deferred as materialized (
        select j.id
          from due d
          join ${deferred} j on j.queue = d.queue and j.kind = d.kind and j.schema_version = d.version
         where j.state = 'available' and j.run_at <= now() - d.patience
         order by j.position
         limit $3
           for update of j skip locked
      ),
      from_ready as (
        delete from ${ready} j using late_ready l where j.id = l.id and j.slot = l.slot
        returning ${moved('j', {}, 'null::timestamptz as started_at')}
      ),
      from_deferred as (
        delete from ${deferred} j using late_deferred l where j.id = l.id
        returning ${moved('j', {}, 'j.started_at')}
      ),
      gone as materialized (
        select * from from_ready union all select * from from_deferred
      ),
      freed as (
        delete from ${table('unique_keys')} k
         using gone g
         where g.unique_key is not null and k.key = g.unique_key and k.job_id = g.id
      ),
      causes as materialized (
        select queue, kind, own, ${table('cause_for')}(queue, kind, own) as cause
          from (select distinct queue, kind, left(encode(sha256(convert_to(
                         '[' || to_json(kind) || ',"NoHandler","no live worker serves version <n>"]', 'UTF8')),
                         'hex'), 16) as own
                  from gone) as c
      ),
      ruled as materialized (
        select g.*, c.cause, coalesce(q.dlq_enabled, true) as dlq_enabled,
               ${table('effective_retention')}(g.retention, q.retention, 'failed', 259200000) as keep_ms,
               left('no live worker of queue ' || g.queue || ' serves ' || g.kind || ' version ' || g.schema_version, 500) as message
          from gone g
          join causes c on c.queue = g.queue and c.kind = g.kind
          left join ${table('queues')} q on q.queue = g.queue
      ),
      told as materialized (
        select r.*, json_build_object(
                 'type', 'no_handler', 'at', ${isoTime('now()')}, 'started_at', ${isoTime('r.started_at')},
                 'generation', r.generation, 'attempt', r.attempt, 'lease_id', null, 'worker', null,
                 'message', r.message)::text as entry
          from ruled r
      ),
      dead as (
        insert into ${table('dlq_entries')}
               (${columns('dlq_at', 'dlq_reason', 'original_run_lease', 'cause', 'error_class', 'error_message', 'dlq_xid', 'retain_from', 'started_at')})
        select ${moved('t', { handbacks: '0', ...withEntry(schema, 't', 't.entry') }, 'now()', "'no_handler'", 't.run_lease', 't.cause', "'NoHandler'", 't.message', 'pg_current_xact_id()', 'now()', 't.started_at')}
          from told t
         where t.dlq_enabled
      ),
      failed as (
        insert into ${table('terminal_entries')}
               (${columns('state', 'retention_class', 'finalized_at', 'started_at', 'failed_xid', 'reason', 'cause', 'error_class', 'error_message')})
        select ${moved('t', { handbacks: '0', ...withEntry(schema, 't', 't.entry') }, "'failed'", `${table('retention_class').quoted}(t.keep_ms)`, 'now()', 't.started_at', 'pg_current_xact_id()', "'no_handler'", 't.cause', "'NoHandler'", 't.message')}
          from told t
         where not t.dlq_enabled and coalesce(t.keep_ms, 1) > 0
      ),
      tagged as (
        insert into ${table('dlq_tags')} (tag, dlq_at, id)
        select distinct tag, now(), r.id from ruled r, unnest(r.tags) as tag where r.dlq_enabled
      ),
      known as (
        insert into ${table('dlq_causes')} (queue, cause, kind, reason, error_class, title, sample_id, first_at, last_at)
        select distinct on (queue, cause) queue, cause, kind, 'no_handler', 'NoHandler',
               'NoHandler: no live worker serves version <n>', id, now(), now()
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
        select queue, kind, 'no_handler',
               case when dlq_enabled then 'arrived' when keep_ms <= 0 then 'gone' else 'failed' end, count(*)
          from ruled
         group by 1, 2, 3, 4
      ),
      events as (
        insert into ${table('event_outbox')} (type, job_id, queue, kind, generation, reason, cause, message)
        select 'died', id, queue, kind, generation, 'no_handler', cause, message from ruled
      )`

  return {
    /**
     * available → archived (failed on a queue without a dead-letter queue), where no live worker of the queue has served
     * the kind and version for long enough; only jobs that have been available for as long themselves. At most $3 of each
     * place. Uses no attempt.
     *
     * Index: ready_N_claim, ready_N_id, deferred_aside. Locks: skips rows somebody else is moving. Always answers one row.
     */
    expire: sql<[...Watched, limit: number], [died: string]>`${givenUp}
      select count(*) from gone`,

    /** The same, and answers the jobs as they are now. */
    expireTelling: sql<[...Watched, limit: number], SweptRow>`${givenUp}
      select ${jobColumns('job')}, job.payload, array_to_json(${new Fragment(wholeHistory('job'))}), null::json, null::json, job.origin_id
        from (select ${moved(
          't',
          { handbacks: '0 as handbacks', ...withEntry(schema, 't', 't.entry') },
          "case when t.dlq_enabled then 'archived' when coalesce(t.keep_ms, 1) > 0 then 'failed' else 'gone' end as state",
          't.started_at',
          'now() as finalized_at',
          'null::bigint as lease_id',
          'null::text as reason',
          "'no_handler' as dlq_reason",
          'now() as dlq_at',
          't.run_lease as original_run_lease',
          't.cause',
          "'NoHandler' as error_class",
          't.message as error_message',
          'null::json as progress',
          'null::json as callback',
        )}
                from told t) as job`,
  }
}
