import { Identifier, sql } from '../sql.js'

export function foldQueries(schema: string) {
  const deltas = new Identifier(schema, 'cause_deltas')

  return {
    /**
     * Folds at most $1 deltas into the counts of their causes; the sum of both never changes.
     *
     * Locks: skips deltas that another fold takes; causes in one order. Always answers one row.
     */
    fold: sql<[limit: number], [folded: string]>`
      with taken as (
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
      )
      select count(*) from taken`,
  }
}
