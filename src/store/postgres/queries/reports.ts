import type { TriageStatus } from '../../store.js'
import { Fragment, fragment, Identifier, join, type Statement, sql, whole } from '../sql.js'
import { Conditions } from './conditions.js'
import { marksJson, reviewedAt } from './triage-marks.js'

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
  /** JSON list of how many hours ago, and how many. Null: none of the last 24. */
  trend: string | null,
  status: TriageStatus,
  /** JSON. Null: nobody has said anything. */
  triage: string | null,
  unreviewed: string,
]

export type GroupParams = [
  queue: string | null,
  kind: string | null,
  limit: number,
  beforeCount: string | null,
  afterQueue: string | null,
  afterCause: string | null,
  triage: string | null,
]

export type RemovedRow = [queue: string, why: string, reason: string, n: string]

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

/** So many dead letters of a cause are looked at one by one, of all queues. */
const UNREVIEWED = 2_000

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
     * first one, or where that has left, the newest of 200 of its cause (index dlq_by_cause) that is of the queue. Of a
     * cause that somebody has looked at, the dead letters since, at most {@link UNREVIEWED}.
     */
    groups: sql<GroupParams, GroupRow>`
      with fresh as materialized (
        select queue, cause, date_trunc('hour', at, 'UTC') as hour, sum(n) as n, coalesce(sum(n) filter (where n > 0), 0) as came,
               max(at) filter (where n > 0) as at
          from ${deltas}
         where $1::text is null or queue = $1
         group by 1, 2, 3
      ),
      grouped as (
        select c.queue, c.cause, c.kind, c.reason, c.error_class, c.title, c.count + coalesce(f.n, 0) as count, c.first_at,
               greatest(c.last_at, f.at) as last_at, c.sample_id,
               case when t.resolved_at is not null
                    then coalesce(t.regressed_at, (select min(d.at) from ${deltas} d
                                                    where d.queue = c.queue and d.cause = c.cause and d.n > 0 and d.at > t.resolved_at))
                     end as regressed_at,
               t.resolved_at, t.muted_until > now() as is_muted, t.acknowledged_at, ${reviewedAt('t')} as reviewed_at,
               t.queue is not null as has_triage
          from ${table('dlq_causes')} c
          left join ${table('cause_triage')} t on t.queue = c.queue and t.cause = c.cause
          left join (select queue, cause, sum(n) as n, max(at) as at from fresh group by 1, 2) as f
            on f.queue = c.queue and f.cause = c.cause
         where ($1::text is null or c.queue = $1) and ($2::text is null or c.kind = $2)
      ),
      judged as (
        select *, case when is_muted then 'muted' when regressed_at is not null then 'regressed'
                       when resolved_at is not null then 'resolved' when acknowledged_at is not null then 'acknowledged'
                       else 'new' end as status
          from grouped
      ),
      page as materialized (
        select * from judged g
         where g.count > 0
           and ($7::text is null or g.status = $7 or ($7 = 'unmuted' and g.status <> 'muted')
                or ($7 = 'unreviewed' and g.last_at > coalesce(g.reviewed_at, '-infinity')))
           and ($4::bigint is null or g.count < $4 or (g.count = $4 and (g.queue, g.cause) > ($5::text, $6::text)))
         order by g.count desc, g.queue, g.cause
         limit $3
      ),
      came as (
        select p.queue, p.cause, h.hour, h.n
          from page p
         cross join lateral (select hour, n from ${table('cause_hours')} h
                              where h.queue = p.queue and h.cause = p.cause
                                and h.hour > now() - interval '24 hours'
                              order by h.queue, h.cause, h.hour
                              limit 25) as h
        union all
        select p.queue, p.cause, f.hour, f.came from page p join fresh f on f.queue = p.queue and f.cause = p.cause
      ),
      trends as (
        select queue, cause, json_agg(json_build_array(ago, n)) as trend
          from (select queue, cause, round(date_part('epoch', date_trunc('hour', now(), 'UTC') - hour) / 3600)::integer as ago,
                       sum(n) as n
                  from came group by 1, 2, 3) as hours
         group by queue, cause
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
             t.trend, p.status,
             case when p.has_triage then (select ${marksJson('m', 'p.regressed_at')} from ${table('cause_triage')} m
                                           where m.queue = p.queue and m.cause = p.cause) end,
             case when p.reviewed_at is null
                  then p.count - (select count(*) from ${table('dlq_triage')} r join ${dead} d on d.id = r.job_id and d.generation = r.generation
                                   where r.queue = p.queue and r.cause = p.cause and ${reviewedAt('r')} is not null)
                  else (select count(*)
                          from (select d.id, d.queue, d.generation
                                  from ${dead} d
                                 where d.cause = p.cause and d.dlq_at > p.reviewed_at
                                 order by d.cause, d.dlq_at, d.id
                                 limit ${whole(UNREVIEWED)}) as d
                         where d.queue = p.queue
                           and not exists (select from ${table('dlq_triage')} r
                                            where r.job_id = d.id and r.generation = d.generation and ${reviewedAt('r')} is not null)) end
        from page p
        left join trends t on t.queue = p.queue and t.cause = p.cause
       order by p.count desc, p.queue, p.cause`,

    /**
     * What came into and left the dead-letter queue since $2, by minute or hour and reason. Index: counters_minute; the
     * end that nothing lies behind is there because without statistics half a range is taken for a third of the table.
     */
    flow: sql<[queue: string | null, sinceMs: number, by: 'minute' | 'hour'], FlowRow>`
      select date_part('epoch', date_trunc($3, c.minute, 'UTC')) * 1000 as at, c.what, c.reason, sum(c.n)
        from ${table('counters')} c
       where c.minute >= date_trunc($3, to_timestamp($2::float8 / 1000), 'UTC') and c.minute < now() + interval '1 day'
         and c.what in ('arrived', 'departed')
         and ($1::text is null or c.queue = $1)
       group by 1, 2, 3
       order by 1, 2, 3`,

    /** What left for good since $2, by how and why. Index: counters_minute, as {@link flow}. */
    removed: sql<[queue: string | null, sinceMs: number], RemovedRow>`
      select c.queue,
             case when c.what = 'gone' and c.reason in ('purged', 'revoked') then c.reason when c.what = 'gone' then 'not_kept'
                  when c.what = 'expired' and c.reason = 'evicted' then 'evicted' else c.what end as why,
             c.reason, sum(c.n)
        from ${table('counters')} c
       where c.minute >= date_trunc('minute', to_timestamp($2::float8 / 1000), 'UTC') and c.minute < now() + interval '1 day'
         and c.what in ('expired', 'gone', 'pruned')
         and ($1::text is null or c.queue = $1)
       group by 1, 2, 3
       order by 1, 2, 3`,

    /**
     * Who did what, newest first. Index: audit_by_action or audit_by_actor, else the primary key backwards. One filter
     * alone leads, as a range over its index; of both the planner chooses.
     */
    audit(listing: AuditListing): readonly [Statement<unknown[], AuditRow>, unknown[]] {
      const { action, actor, sinceMs, beforeId, limit } = listing
      const where = new Conditions([beforeId, limit])
      const filters = Object.entries({ action, actor }).filter(([, value]) => value !== undefined)
      const lead = filters.length === 1 ? filters[0] : undefined
      const column = lead && new Fragment(lead[0])
      const value = lead && where.value(lead[1])
      const conditions =
        column && value
          ? [fragment`(${column}, id) < (${value}, $1::bigint)`, fragment`${column} >= ${value}`]
          : [fragment`id < $1::bigint`, ...filters.map(([name, text]) => where.compare(`${name} =`, text))]
      if (sinceMs !== undefined) conditions.push(fragment`at >= to_timestamp(${where.value(sinceMs, 'float8')} / 1000)`)
      const order = column ? fragment`${column} desc, id desc` : fragment`id desc`
      const statement = sql<unknown[], AuditRow>`
        select id, date_part('epoch', at) * 1000, actor, action, target, reason, result, request_id
          from ${table('audit_log')}
         where ${join(conditions, ' and ')}
         order by ${order}
         limit $2::bigint`
      return [statement, where.values]
    },
  }
}
