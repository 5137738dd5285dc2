import { Identifier, sql } from '../sql.js'

export function foldQueries(schema: string) {
  const counters = new Identifier(schema, 'counters')
  const deltas = new Identifier(schema, 'cause_deltas')
  const hours = new Identifier(schema, 'cause_hours')

  return {
    /**
     * Folds at most $1 deltas into the counts of their causes and, arrivals, into those of their hours; the sum of both
     * never changes. A resolved cause with a later death has regressed. Hours of before yesterday go, at most 1,000 at a time.
     *
     * Locks: skips deltas that another fold takes; causes in one order. Always answers one row.
     */
    fold: sql<[limit: number], [folded: string]>`
      with taken as materialized (
        delete from ${deltas}
         where ctid = any (array(select ctid from ${deltas} limit $1 for update skip locked))
        returning queue, cause, n, at
      ),
      sums as materialized (
        select queue, cause, sum(n) as n, max(at) filter (where n > 0) as at
          from taken
         group by queue, cause
         order by queue, cause
      ),
      counted as (
        update ${new Identifier(schema, 'dlq_causes')} c
           set count = c.count + s.n, last_at = greatest(c.last_at, s.at)
          from sums s
         where c.queue = s.queue and c.cause = s.cause
      ),
      arrived as (
        insert into ${hours} as h (queue, cause, hour, n)
        select queue, cause, date_trunc('hour', at, 'UTC'), sum(n)
          from taken
         where n > 0 and at > now() - interval '2 days'
         group by 1, 2, 3
         order by 1, 2, 3
        on conflict (queue, cause, hour) do update set n = h.n + excluded.n
      ),
      regressed as (
        update ${new Identifier(schema, 'cause_triage')} t
           set regressed_at = f.at
          from (select k.queue, k.cause, min(k.at) as at
                  from taken k
                  join ${new Identifier(schema, 'cause_triage')} r
                    on r.queue = k.queue and r.cause = k.cause and r.resolved_at < k.at
                 where k.n > 0
                 group by k.queue, k.cause) as f
         where t.queue = f.queue and t.cause = f.cause and t.regressed_at is null and t.resolved_at < f.at
      ),
      forgotten as (
        delete from ${hours}
         where ctid = any (array(select ctid from ${hours} where hour < now() - interval '2 days' limit 1000
                                    for update skip locked))
      )
      select count(*) from taken`,

    /**
     * Folds at most $1 counted changes of minutes that are over: into the totals, and into one row a minute for the
     * history. Neither sum changes for who reads both.
     *
     * Index: counters_unfolded. Locks: skips rows that another fold takes; totals in one order. Always answers one row.
     */
    foldCounters: sql<[limit: number], [folded: string]>`
      with taken as materialized (
        delete from ${counters}
         where ctid = any (array(select ctid from ${counters}
                                  where not folded and minute < date_trunc('minute', now())
                                  limit $1
                                    for update skip locked))
        returning queue, kind, reason, what, minute, n
      ),
      minutes as (
        insert into ${counters} (queue, kind, reason, what, minute, n, folded)
        select queue, kind, reason, what, minute, sum(n), true from taken group by 1, 2, 3, 4, 5
      ),
      totals as (
        insert into ${new Identifier(schema, 'counter_totals')} as t (queue, kind, reason, what, n)
        select queue, kind, reason, what, sum(n) from taken group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (queue, kind, reason, what) do update set n = t.n + excluded.n
      )
      select count(*) from taken`,
  }
}
