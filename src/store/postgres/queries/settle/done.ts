import { columns, moved } from '../../rows.js'
import { Fragment, Identifier, sql } from '../../sql.js'
import { freed, type Numbers, type SettledRow, type Texts } from './taking.js'

/** running → completed, or gone because the handler says that it need not be: no failure, and nothing to follow. */
export function doneQueries(schema: string, taken: Fragment) {
  const table = (name: string) => new Identifier(schema, name)
  const retentionClass = table('retention_class').quoted
  const kept = table('effective_retention')
  const keepMs = `${kept.quoted}(t.retention, p.retention, 'completed', 86400000)`

  return {
    /**
     * running → completed; on a queue that keeps none, gone and counted. The statement a worker runs most: a row is put
     * together once on its way from the lease to the history.
     */
    complete: sql<[ids: Numbers, leaseIds: Numbers, results: Texts], SettledRow>`
      with given as (
        select *
          from unnest($1::bigint[], $2::bigint[], string_to_array($3, E'\x1f', E'\x1e')) as g(id, lease_id, result)
      ),
      ${taken},
      freed as (
        delete from ${table('unique_keys')} k
         using taken t
         where t.unique_key is not null and k.key = t.unique_key and k.job_id = t.id
      ),
      policies as materialized (
        select d.queue, q.retention, d.own or (q.retention ->> 'completed')::bigint <= 0 as may_keep_none
          from (select queue, bool_or(retention is not null) as own from taken group by queue) d
          left join ${table('queues')} q on q.queue = d.queue
      ),
      kept as (
        insert into ${table('terminal_entries')}
               (${columns('state', 'retention_class', 'finalized_at', 'started_at', 'lease_id', 'result')})
        select ${moved(
          't',
          { handbacks: '0' },
          "'completed'",
          `${retentionClass}(${keepMs})`,
          'now()',
          't.claimed_at',
          't.lease_id',
          'g.result::json',
        )}
          from taken t
          join given g on g.id = t.id and g.lease_id = t.lease_id
          join policies p on p.queue = t.queue
         where coalesce(${new Fragment(keepMs)}, 1) > 0
      ),
      counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select t.queue, t.kind, 'completed', 'gone', count(*)
          from taken t
          join policies p on p.queue = t.queue
         where (select bool_or(may_keep_none) from policies) and ${new Fragment(keepMs)} <= 0
         group by t.queue, t.kind
      )
      select id, 'completed' from taken`,

    /** running → gone, counted. */
    revoke: sql<[ids: Numbers, leaseIds: Numbers], SettledRow>`
      with given as (
        select * from unnest($1::bigint[], $2::bigint[]) as g(id, lease_id)
      ),
      ${taken},
      gone as materialized (
        select l.id, l.queue, l.kind, l.unique_key
          from taken l
          join given g on g.id = l.id and g.lease_id = l.lease_id
      ),
      ${freed(schema)},
      counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select queue, kind, 'revoked', 'gone', count(*) from gone group by queue, kind
      )
      select id, 'gone' from gone`,
  }
}
