import { fragment, Identifier, type Statement, sql } from '../sql.js'
import { Conditions } from './conditions.js'

export type GroupRow = [
  queue: string,
  cause: string,
  kind: string,
  reason: string,
  errorClass: string | null,
  title: string | null,
  count: string,
  firstAtMs: string,
  lastAtMs: string,
  sampleId: string | null,
  /** JSON list of 24 numbers. */
  trend: string,
]

export type GroupParams = [
  queue: string | null,
  kind: string | null,
  limit: number,
  beforeCount: string | null,
  afterQueue: string | null,
  afterCause: string | null,
]

export type FlowRow = [atMs: string, what: 'arrived' | 'departed', reason: string, n: string]

export type AuditRow = [
  id: string,
  atMs: string,
  actor: string,
  action: string,
  target: string,
  reason: string | null,
  result: string | null,
  requestId: string | null,
]

export interface AuditListing {
  readonly action?: string | undefined
  readonly actor?: string | undefined
  readonly sinceMs?: number | undefined
  readonly beforeId: string
  readonly limit: number
}

/** What is told about many jobs without reading them. */
export function reportQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const deltas = table('cause_deltas')
  const dead = table('dlq_entries')

  return {
    /**
     * Causes that dead letters lie under now, largest first, then by queue and cause; $4 to $6: below that place. Counts
     * are exact: what is folded and what is not yet.
     *
     * Reads the causes, at most a thousand for each queue and kind, and one dead letter of each group that is shown: the
     * first one, or where that has left, the newest of 200 of its cause (index dlq_by_cause) that is of the queue.
     */
    groups: sql<GroupParams, GroupRow>`
      with fresh as materialized (
        select queue, cause, sum(n) as n, max(at) filter (where n > 0) as at
          from ${deltas}
         where $1::text is null or queue = $1
         group by queue, cause
      ),
      grouped as (
        select c.queue, c.cause, c.kind, c.reason, c.error_class, c.title, c.count + coalesce(f.n, 0) as count, c.first_at,
               greatest(c.last_at, f.at) as last_at, c.sample_id
          from ${table('dlq_causes')} c
          left join fresh f on f.queue = c.queue and f.cause = c.cause
         where ($1::text is null or c.queue = $1) and ($2::text is null or c.kind = $2)
      ),
      page as materialized (
        select * from grouped g
         where g.count > 0
           and ($4::bigint is null or g.count < $4 or (g.count = $4 and (g.queue, g.cause) > ($5::text, $6::text)))
         order by g.count desc, g.queue, g.cause
         limit $3
      )
      select p.queue, p.cause, p.kind, p.reason, p.error_class, p.title, p.count,
             date_part('epoch', p.first_at) * 1000, date_part('epoch', p.last_at) * 1000,
             coalesce((select d.id from ${dead} d where d.id = p.sample_id and d.queue = p.queue and d.cause = p.cause),
                      (select l.id
                         from (select d.id, d.queue
                                 from ${dead} d
                                where d.cause = p.cause
                                order by d.cause desc, d.dlq_at desc, d.id desc
                                limit 200) as l
                        where l.queue = p.queue
                        limit 1)),
             (select json_agg(coalesce(folded.n, 0) + coalesce(unfolded.n, 0) order by h.hour)
                from generate_series(date_trunc('hour', now(), 'UTC') - interval '23 hours', date_trunc('hour', now(), 'UTC'),
                                     interval '1 hour') as h(hour)
                left join ${table('cause_hours')} folded
                  on folded.queue = p.queue and folded.cause = p.cause and folded.hour = h.hour
                left join lateral (select sum(n) as n from ${deltas} d
                                    where d.queue = p.queue and d.cause = p.cause and d.n > 0
                                      and d.at >= h.hour and d.at < h.hour + interval '1 hour'
                                      -- Not once for every hour where there is nothing.
                                      and exists (select from fresh f where f.queue = p.queue and f.cause = p.cause)) as unfolded
                  on true)
        from page p
       order by p.count desc, p.queue, p.cause`,

    /**
     * What came into and left the dead-letter queue since $2, by minute or hour and reason. Index: counters_minute.
     */
    flow: sql<[queue: string | null, sinceMs: number, by: 'minute' | 'hour'], FlowRow>`
      select date_part('epoch', date_trunc($3, c.minute, 'UTC')) * 1000 as at, c.what, c.reason, sum(c.n)
        from ${table('counters')} c
       where c.minute >= date_trunc($3, to_timestamp($2::float8 / 1000), 'UTC') and c.what in ('arrived', 'departed')
         and ($1::text is null or c.queue = $1)
       group by 1, 2, 3
       order by 1, 2, 3`,

    /** Who did what, newest first. Index: audit_by_action or audit_by_actor, else the primary key backwards. */
    audit(listing: AuditListing): readonly [Statement<unknown[], AuditRow>, unknown[]] {
      const { action, actor, sinceMs, beforeId, limit } = listing
      const where = new Conditions([beforeId, limit])
      const byAction = action === undefined ? fragment`` : fragment` and ${where.compare('action =', action)}`
      const byActor = actor === undefined ? fragment`` : fragment` and ${where.compare('actor =', actor)}`
      const since = sinceMs === undefined ? fragment`` : fragment` and at >= to_timestamp(${where.value(sinceMs, 'float8')} / 1000)`
      const statement = sql<unknown[], AuditRow>`
        select id, date_part('epoch', at) * 1000, actor, action, target, reason, result, request_id
          from ${table('audit_log')}
         where id < $1::bigint${byAction}${byActor}${since}
         order by id desc
         limit $2::bigint`
      return [statement, where.values]
    },
  }
}
