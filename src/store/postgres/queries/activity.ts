import { fragment, Identifier, sql, whole } from '../sql.js'
import { readyRows } from './measure.js'

/** Jobs that completed last, and are looked at; where more did within the minute, how many a minute follows from these. */
const LOOKED_AT = 20_000

export type ActivityRow = [queue: string, oldestAt: string | null, completedPerMinute: string]

export function activityQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const minute = fragment`date_trunc('minute', now())`

  return {
    /**
     * By queue: since when its oldest available job can be claimed, and how many completed in the last minute. Those of
     * queues that keep none are counted by the minute, so that of the minute before a part is taken as lying in it. No
     * row: neither waits nor completes anything there.
     *
     * Index: terminal_age, newest first, and counters_minute. Reads at most 100,000 rows of each slot.
     */
    activity: sql<[], ActivityRow>`
      with recent as materialized (
        select queue, state, finalized_at
          from ${table('terminal_entries')}
         where finalized_at > now() - interval '1 minute'
         order by finalized_at desc
         limit ${whole(LOOKED_AT)}
      ),
      pace as materialized (
        select case when count(*) < ${whole(LOOKED_AT)} then 1
                    else 60 / greatest(0.01, date_part('epoch', now() - min(finalized_at))) end as times
          from recent
      ),
      completed as (
        select queue, count(*) * (select times from pace) as n from recent where state = 'completed' group by queue
        union all
        select queue, sum(case when minute = ${minute} then n
                               else n * (1 - date_part('epoch', now() - ${minute}) / 60) end)
          from ${table('counters')}
         where minute >= ${minute} - interval '1 minute' and what = 'gone' and reason = 'completed'
         group by queue
      )
      select coalesce(waiting.queue, done.queue), date_part('epoch', waiting.oldest) * 1000, coalesce(done.n, 0)
        from (select queue, min(run_at) as oldest from (${readyRows(schema)}) as ready group by queue) as waiting
        full join (select queue, round(sum(n)) as n from completed group by queue) as done on done.queue = waiting.queue`,
  }
}
