import { DEFAULT_POLICY } from '../../../job/policy.js'
import { type Fragment, fragment, Identifier, sql, whole } from '../sql.js'
import { coldColumns, toCold } from './cold.js'
import { expired } from './retain.js'
import { isReviewed } from './triage-marks.js'

/** How many went, how many were looked at, and where the last of them stands. */
export type DeadSweepRow = [deleted: string, looked: string, at: string | null, id: string | null]
type CappedRow = [queue: string, depth: string, maxRows: string, isNearlyFull: string, isKept: string]
type DeadSweepParams = [queue: string, at: string, id: string, looks: number, limit: number]
type OwnSweepParams = [at: string, id: string, looks: number, limit: number]

/** How many dead letters one queue is asked about when it is said how many leave soon. */
const COUNTED = 10_000
/** What came back (undone, restored, imported) with an old time of death is spared by the cap for so long. */
const SPARED = fragment`interval '1 day'`
/** From which share of its cap on a dead-letter queue is nearly full. */
const NEARLY = fragment`0.8`

/**
 * Deletions of dead letters, queue by queue, so that rows one queue keeps never stand before those of another. Each
 * statement looks at a bounded number of rows, oldest death first, and deletes a bounded number. What a death wrote
 * beside the row (tags, counts, versions of the payload, what was said about it) goes with it, and it is counted; where
 * `isArchiving`, the row itself goes to the cold archive in the same statement.
 *
 * What goes with them is found one by one, by arrays: a join would let the planner, who takes the batch for larger than
 * it is, read a million tags.
 */
export function retainDeadQueries(schema: string, isArchiving = false) {
  const table = (name: string) => new Identifier(schema, name)
  const queues = table('queues')
  const dlq = table('dlq_entries')
  const counters = table('counters')
  const effective = table('effective_retention')
  const fallback = DEFAULT_POLICY.retention.dlq
  const fallbackMs = fallback === null ? fragment`null::bigint` : fragment`${whole(fallback)}::bigint`
  const reviewed = isReviewed(table('dlq_triage'), table('cause_triage'), 'd')
  /** When the row `d` may go, with its queue's row as `q`; null: never, or not before somebody has looked at it. */
  const until = fragment`case when coalesce(q.policy ->> 'keepUnreviewed', 'false') = 'true' and not ${reviewed} then null
                  else d.retain_from + ${effective}(d.retention, q.retention, 'dlq', ${fallbackMs}) * interval '1 millisecond' end`

  const returned = isArchiving
    ? coldColumns('d', 'dlq')
    : fragment`d.id, d.queue, d.kind, d.generation, d.dlq_reason, d.cause, d.dlq_at, d.tags`

  /** Everything that goes with the rows `gone`. */
  const leaving = (why: 'expired' | 'evicted') => fragment`
      untagged as (
        delete from ${table('dlq_tags')}
         where ctid = any (array(
                 select l.ctid
                   from gone g, unnest(g.tags) as own(tag),
                        lateral (select t.ctid from ${table('dlq_tags')} t
                                  where t.tag = own.tag and t.dlq_at = g.dlq_at and t.id = g.id limit 1) as l))
      ),
      uncounted as (
        insert into ${table('cause_deltas')} (queue, cause, n)
        select queue, cause, -count(*) from gone group by queue, cause
      ),
      departed as (
        insert into ${counters} (queue, kind, reason, what, n)
        select queue, kind, ${why === 'expired' ? fragment`'expired'` : fragment`'evicted'`}, 'departed', count(*)
          from gone group by queue, kind
      ),
      no_versions as (delete from ${table('payload_versions')} where job_id = any (array(select id from gone))),
      no_triage as (delete from ${table('dlq_triage')} where job_id = any (array(select id from gone))),
      ${isArchiving ? fragment`${toCold(schema, 'dlq', why)},` : fragment``}
      ${expired(counters, why === 'expired' ? fragment`g.dlq_reason` : fragment`'evicted'`)}`

  const sweep = (rows: Fragment, limit: Fragment) => fragment`
      with looked as materialized (
        select d.id, d.dlq_at as at, ${until} as until
          from (${rows}) as d
          left join ${queues} q on q.queue = d.queue
      ),
      due as materialized (
        select d.id from looked l join ${dlq} d on d.id = l.id
         where l.until <= now() limit ${limit} for update of d skip locked
      ),
      gone as (
        delete from ${dlq} d using due where d.id = due.id
        returning ${returned}
      ),${leaving('expired')}
      select (select count(*) from gone), (select count(*) from looked), l.at::text, l.id
        from (select 1) as one
        left join (select at, id from looked order by at desc, id desc limit 1) as l on true`

  const own = fragment`id, queue, kind, cause, generation, retention, dlq_at, retain_from`

  return {
    /**
     * Queues with dead letters older than they are kept, by one probe for each queue. No row: none has any. Index:
     * dlq_by_queue, from queue to queue.
     */
    due: sql<[], [queue: string]>`
      with recursive heads as (
        (select queue, dlq_at from ${dlq} order by queue, dlq_at, id limit 1)
        union all
        select n.queue, n.dlq_at
          from heads h
         cross join lateral (select queue, dlq_at from ${dlq} where queue > h.queue order by queue, dlq_at, id limit 1) as n
      )
      select h.queue
        from heads h
        left join ${queues} q on q.queue = h.queue
       where h.dlq_at + ${effective}(null, q.retention, 'dlq', ${fallbackMs}) * interval '1 millisecond' <= now()
       order by h.dlq_at`,

    /**
     * archived → gone, of one queue, by the queue's retention. Index: dlq_by_queue, between two of its keys, so that no
     * row that is kept is read.
     */
    ofQueue: sql<DeadSweepParams, DeadSweepRow>`${sweep(
      fragment`select ${own}
                  from ${dlq}
                 where (queue, dlq_at, id) > ($1, $2::timestamptz, $3::bigint)
                   and (queue, dlq_at) <= ($1, now() - (select ${effective}(null, (select retention from ${queues} where queue = $1), 'dlq', ${fallbackMs})
                                                               * interval '1 millisecond'))
                 order by queue, dlq_at, id
                 limit $4`,
      fragment`$5`,
    )}`,

    /** archived → gone, of jobs with a retention of their own: it may be shorter than the queue's. Index: dlq_own_retention. */
    own: sql<OwnSweepParams, DeadSweepRow>`${sweep(
      fragment`select ${own}
                  from ${dlq}
                 where retention is not null and dlq_at >= $1::timestamptz and (dlq_at, id) > ($1::timestamptz, $2::bigint)
                 order by dlq_at, id
                 limit $3`,
      fragment`$4`,
    )}`,

    /**
     * Queues with a cap, how many dead letters they have, exactly, whether they are at 80 % of it, and whether what leaves
     * goes to the archive.
     */
    capped: sql<[queue: string | null], CappedRow>`
      ${capOf(fragment`q.policy ->> 'dlqMaxRows' is not null and ($1::text is null or q.queue = $1)`)}
       order by q.queue`,

    /**
     * archived → gone, those above the cap of a queue, oldest death first, then the lowest id; $2 at most. Each writes an
     * event that names it. Index: dlq_by_queue.
     *
     * Picks the same rows as another one that runs beside it, and waits for it, so that two never remove more than one
     * would. Rows that came back within a day are spared.
     */
    evict: sql<[queue: string, limit: number], [deleted: string]>`
      with cap as materialized (${capOf(fragment`q.queue = $1 and q.policy ->> 'dlqMaxRows' is not null`)}),
      picked as materialized (
        select d.id
          from ${dlq} d
         where d.queue >= $1 and d.queue <= $1 and (d.retain_from <= d.dlq_at or d.retain_from < now() - ${SPARED})
         order by d.queue, d.dlq_at, d.id
         -- No limit would be no bound: without a cap none goes.
         limit coalesce((select least(greatest(depth - max_rows, 0), $2::bigint) from cap), 0)
      ),
      gone as (
        delete from ${dlq} d where d.id = any (array(select id from picked))
        returning ${returned}
      ),${leaving('evicted')},
      events as (
        insert into ${table('event_outbox')} (type, job_id, queue, kind, generation, reason, cause)
        select 'evicted', g.id, g.queue, g.kind, g.generation, g.dlq_reason, g.cause from gone g
      )
      select count(*) from gone`,

    /**
     * Writes into the audit log which capped queues are nearly full: when they become so, and once a day while they are.
     * Answers how many.
     */
    warn: sql<[], [warned: string]>`
      with caps as materialized (${capOf(fragment`q.policy ->> 'dlqMaxRows' is not null`)}),
      recovered as (
        delete from ${table('dlq_warnings')} w using caps c where c.queue = w.queue and not c.nearly_full
      ),
      warned as (
        insert into ${table('dlq_warnings')} as w (queue)
        select queue from caps where nearly_full order by queue
        on conflict (queue) do update set at = now() where w.at < now() - interval '1 day'
        returning queue
      ),
      audited as (
        insert into ${table('audit_log')} (actor, action, target, result)
        select 'maintenance', 'dlq_nearly_full', json_build_object('queue', c.queue),
               json_build_object('depth', c.depth, 'max_rows', c.max_rows)
          from caps c
          join warned w on w.queue = c.queue
        returning 1
      )
      select count(*) from audited`,

    /** By queue, how many dead letters leave within $1 ms and the first of them, of one queue or all. */
    expiring: sql<[withinMs: number, queue: string | null], [queue: string, count: string, firstAtMs: string]>`
      with recursive heads as (
        (select f.queue, f.dlq_at
           from (select queue, dlq_at from ${dlq} where queue >= coalesce($2, '') order by queue, dlq_at, id limit 1) as f
          where $2::text is null or f.queue = $2)
        union all
        select n.queue, n.dlq_at
          from heads h
         cross join lateral (select queue, dlq_at from ${dlq} where queue > h.queue order by queue, dlq_at, id limit 1) as n
         where $2::text is null
      ),
      near as (
        select d.*
          from heads h
          left join ${queues} q on q.queue = h.queue
         cross join lateral (
                 select ${own} from ${dlq}
                  where queue = h.queue
                    and dlq_at <= now() + ($1::float8 - ${effective}(null, q.retention, 'dlq', ${fallbackMs})) * interval '1 millisecond'
                  order by queue, dlq_at, id
                  limit ${whole(COUNTED)}) as d
      ),
      owned as (
        select ${own} from ${dlq}
         where retention is not null and ($2::text is null or queue = $2)
         order by dlq_at
         limit ${whole(COUNTED)}
      ),
      leaving as (
        select d.queue, ${until} as until
          from (select * from near union all select * from owned o where o.id not in (select id from near)) as d
          left join ${queues} q on q.queue = d.queue
      )
      select queue, count(*), date_part('epoch', min(until)) * 1000
        from leaving
       where until <= now() + $1::float8 * interval '1 millisecond'
       group by queue
       order by queue`,
  }

  function capOf(which: Fragment): Fragment {
    return fragment`select q.queue, (c.n + d.n)::bigint as depth, (q.policy ->> 'dlqMaxRows')::bigint as max_rows,
             c.n + d.n >= ${NEARLY} * (q.policy ->> 'dlqMaxRows')::bigint as nearly_full,
             coalesce(q.policy ->> 'coldArchive', 'false') = 'true' as is_kept
        from ${queues} q
       cross join lateral (select coalesce(sum(count), 0) as n from ${table('dlq_causes')} where queue = q.queue) as c
       cross join lateral (select coalesce(sum(n), 0) as n from ${table('cause_deltas')} where queue = q.queue) as d
       where ${which}`
  }
}
