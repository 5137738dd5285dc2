import { columns, moved } from '../../rows.js'
import { type Fragment, fragment, Identifier, sql } from '../../sql.js'
import { withEntry } from '../history.js'
import { freed, type Numbers, type SettledRow, type Texts } from './taking.js'

export type DeathParams = [
  ids: Numbers,
  leaseIds: Numbers,
  reasons: Texts,
  charges: Numbers,
  entries: Texts,
  causes: Texts,
  errorClasses: Texts,
  errorMessages: Texts,
  titles: Texts,
  /** Whether any of them has reported progress. */
  reported: boolean,
]

/** running → archived, or failed: given up. */
export function deadQueries(schema: string, taken: Fragment) {
  const table = (name: string) => new Identifier(schema, name)
  const retentionClass = table('retention_class').quoted
  const kept = table('effective_retention')
  // Once for each queue: a batch has few.
  const policies = fragment`
      policies as materialized (
        select d.queue, coalesce(q.dlq_enabled, true) as dlq_enabled, q.retention
          from (select distinct queue from gone) d
          left join ${table('queues')} q on q.queue = d.queue
      )`

  return {
    /**
     * running → archived, or failed on a queue without a dead-letter queue. The row is the stored job; the worker adds
     * only why. What lists, groups, counts and notices need is written in the same statement.
     */
    dead: sql<DeathParams, SettledRow>`
      with given as (
        select *
          from unnest($1::bigint[], $2::bigint[], string_to_array($3, E'\x1f'), $4::integer[],
                      string_to_array($5, E'\x1f', E'\x1e'), string_to_array($6, E'\x1f'),
                      string_to_array($7, E'\x1f', E'\x1e'), string_to_array($8, E'\x1f', E'\x1e'),
                      string_to_array($9, E'\x1f', E'\x1e'))
               as g(id, lease_id, reason, charge, entry, given_cause, error_class, error_message, title)
      ),
      ${taken},
      gone as materialized (
        select ${moved(
          'l',
          {
            attempt: 'l.attempt + g.charge as attempt',
            handbacks: '0 as handbacks',
            ...withEntry(schema, 'l', 'g.entry', true),
          },
          'l.lease_id',
          'l.claimed_at',
          'g.reason',
          'g.given_cause',
          'g.error_class',
          'g.error_message',
          'g.title',
        )}
          from taken l
          join given g on g.id = l.id and g.lease_id = l.lease_id
      ),
      ${freed(schema)},
      ${policies},
      causes as materialized (
        select c.queue, c.given_cause, ${new Identifier(schema, 'cause_for')}(c.queue, c.kind, c.given_cause) as cause
          from (select distinct queue, kind, given_cause from gone) c
      ),
      ruled as materialized (
        select g.*, c.cause, s.progress, q.dlq_enabled,
               ${kept}(g.retention, q.retention, 'failed', 259200000) as keep_ms
          from gone g
          join causes c on c.queue = g.queue and c.given_cause = g.given_cause
          join policies q on q.queue = g.queue
          left join lateral (select a.progress from ${table('attempt_state')} a
                              where $10 and a.job_id = g.id and a.lease_id = g.lease_id limit 1) s on true
      ),
      forgotten as (
        delete from ${table('attempt_state')} s using gone g where $10 and s.job_id = g.id and s.lease_id = g.lease_id
      ),
      dead as (
        insert into ${table('dlq_entries')}
               (${columns('dlq_at', 'dlq_reason', 'original_run_lease', 'cause', 'error_class', 'error_message', 'dlq_xid', 'retain_from', 'lease_id', 'started_at', 'progress')})
        select ${moved('r', {}, 'now()', 'r.reason', 'r.run_lease', 'r.cause', 'r.error_class', 'r.error_message', 'pg_current_xact_id()', 'now()', 'r.lease_id', 'r.claimed_at', 'r.progress')}
          from ruled r
         where r.dlq_enabled
      ),
      failed as (
        insert into ${table('terminal_entries')}
               (${columns('state', 'retention_class', 'finalized_at', 'started_at', 'lease_id', 'failed_xid', 'reason', 'cause', 'error_class', 'error_message', 'progress')})
        select ${moved('r', {}, "'failed'", `${retentionClass}(r.keep_ms)`, 'now()', 'r.claimed_at', 'r.lease_id', 'pg_current_xact_id()', 'r.reason', 'r.cause', 'r.error_class', 'r.error_message', 'r.progress')}
          from ruled r
         where not r.dlq_enabled and coalesce(r.keep_ms, 1) > 0
      ),
      tagged as (
        insert into ${table('dlq_tags')} (tag, dlq_at, id)
        select distinct tag, now(), r.id
          from ruled r, unnest(r.tags) as tag
         where r.dlq_enabled and r.tags is not null
      ),
      known as (
        insert into ${table('dlq_causes')} (queue, cause, kind, reason, error_class, title, sample_id, first_at, last_at)
        select distinct on (queue, cause) queue, cause, kind, reason, error_class, title, id, now(), now()
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
        select queue, kind, reason, case when dlq_enabled then 'arrived' when coalesce(keep_ms, 1) > 0 then 'failed' else 'gone' end,
               count(*)
          from ruled
         group by 1, 2, 3, 4
      ),
      events as (
        insert into ${table('event_outbox')} (type, job_id, queue, kind, generation, reason, cause, message)
        select 'died', id, queue, kind, generation, reason, cause, left(error_message, 500) from ruled
      )
      select id, case when dlq_enabled then 'archived' when coalesce(keep_ms, 1) > 0 then 'failed' else 'gone' end from ruled`,
  }
}
