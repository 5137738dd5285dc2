import type { SweptRow } from '../dead-row.js'
import { columns, moved } from '../rows.js'
import { Fragment, fragment, Identifier, sql, whole } from '../sql.js'
import { claimQueries, SLOTS } from './claim.js'
import { wholeHistory, withEntry } from './history.js'
import { jobColumns } from './inspect.js'
import { isoTime } from './iso-time.js'
import { ANY_REGISTRATION, servedBy } from './served.js'
import { deleteSpots } from './spots.js'

/** So many rows at the head of a slot and priority that nobody serves are set aside, and so many at a time. */
export const ASIDE_ROWS = 1_000
/** How many rows at each head are looked at for kinds that nobody serves. */
const LOOKED_AT = 1_000

type Watched = [queues: string[], staleMs: number]

export function unservedQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const ready = table('ready_entries')
  const deferred = table('deferred_jobs')
  const unserved = table('unserved_kinds')
  const { look } = claimQueries(schema)
  const readyHead = `(select head from ${table('ring_state').quoted} where ring = 'ready')`

  const live = servedBy(schema, fragment`w.heartbeat_at > now() - $2 * interval '1 millisecond'`)
  const limitMs = fragment`coalesce((q.policy ->> 'noHandlerAfterMs')::bigint, 3600000)`
  const delay = (times: string) => `least(5000 * 2 ^ ${times}, 300000) * interval '1 millisecond'`
  /** The first rows of each slot and priority of the watched queues: those that nobody takes gather there. */
  const atHeads = fragment`
      heads as materialized (${new Fragment(look.text)}),
      near as materialized (
        select h.slot, r.id, r.queue, r.kind, r.schema_version, r.run_at
          from heads h,
               lateral (select id, queue, kind, schema_version, run_at
                          from ${ready}
                         where slot = h.slot and queue = h.queue and priority = h.priority
                         order by position
                         limit ${whole(LOOKED_AT)}) as r
      )`

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
     * available → available, set aside: the first {@link ASIDE_ROWS} rows of a slot, queue and priority, where no worker
     * that is registered serves any of them, so that claims need not walk over them. They keep their position and come
     * back after 5 s, doubling to 5 min for a kind that is set aside again and again. No counter of the jobs moves.
     *
     * Index: ready_N_claim. Locks: skips rows somebody else is moving. Always answers one row.
     */
    setAside: SLOTS.map((slot) => {
      const own = table(`ready_${slot}`)
      return sql<[queue: string, priority: number], [moved: string, dueInMs: string | null]>`
      with served as materialized (
        select coalesce(array_agg(k.pair), '{}') as pairs
          from ${table('workers')} w, unnest(w.kinds) as k(pair)
         where w.state = 'running' and $1::text = any (w.queues)
      ),
      blocked as materialized (
        select count(*) as n
          from (select kind, schema_version from ${own}
                 where queue = $1 and priority = $2
                 order by position
                 limit ${whole(ASIDE_ROWS)}) as h
         where h.kind || '@' || h.schema_version <> all ((select pairs from served)::text[])
      ),
      spots as materialized (
        select ctid as spot
          from ${own}
         where (select n from blocked) >= ${whole(ASIDE_ROWS)}
           and queue = $1 and priority = $2
           and kind || '@' || schema_version <> all ((select pairs from served)::text[])
         order by position
         limit ${whole(ASIDE_ROWS)}
           for update skip locked
      ),
      gone as materialized (
        ${deleteSpots(own)}
        returning ${moved('r', {}, 'r.position')}
      ),
      counted as (
        insert into ${unserved} as u (queue, kind, version, aside_at)
        select queue, kind, schema_version, now() from gone group by queue, kind, schema_version order by kind, schema_version
        on conflict (queue, kind, version) do update
           set set_aside = case when u.aside_at + ${new Fragment(delay('u.set_aside'))} <= now()
                                then least(u.set_aside + 1, 6) else u.set_aside end,
               aside_at = case when u.aside_at is null or u.aside_at + ${new Fragment(delay('u.set_aside'))} <= now()
                               then now() else u.aside_at end
        returning u.kind, u.version, u.set_aside
      ),
      aside as (
        insert into ${deferred} (${columns('state', 'position', 'due_at', 'set_aside')})
        -- Spread, so that they do not all come back at once and keep others from being promoted.
        select ${moved('g', {}, "'available'", 'g.position', `now() + ${delay('c.set_aside')} * (1 + random() / 4)`, 'c.set_aside + 1')}
          from gone g
          join counted c on c.kind = g.kind and c.version = g.schema_version
        returning due_at
      )
      select count(*), date_part('epoch', min(due_at) - now()) * 1000 from aside`
    }),

    /**
     * available, set aside → available, where it stood: what some registered worker serves by now, at most $1 rows.
     * Listeners are told once for each queue and priority.
     *
     * Index: deferred_aside. Locks: skips rows somebody else is moving. Always answers one row.
     */
    bringBack: sql<[limit: number, channel: string], [returned: string, told: string]>`
      with ${servedBy(schema, ANY_REGISTRATION)},
      gone as materialized (
        delete from ${deferred} d
         where d.ctid = any (array(
                 select j.ctid
                   from ${deferred} j
                  where j.state = 'available'
                    and exists (select from served s
                                 where s.queue = j.queue and s.pair = j.kind || '@' || j.schema_version)
                  limit $1
                    for update of j skip locked))
        returning ${moved('d', {}, 'd.position')}
      ),
      entered as (
        insert into ${ready} (${columns('position', 'slot')})
        select ${moved('g', {}, 'g.position', readyHead)} from (select * from gone order by position) as g
        returning queue, priority, position
      ),
      told as materialized (
        select pg_notify($2::text, 'r|' || priority || '|' || min(position) || '|' || queue)
          from entered
         group by queue, priority
      )
      select (select count(*) from gone), (select count(*) from told)`,

    /** Queues that live workers take. */
    watched: sql<[staleMs: number], [queue: string]>`
      select distinct q.queue
        from ${table('workers')} w, unnest(w.queues) as q(queue)
       where w.state = 'running' and w.heartbeat_at > now() - $1 * interval '1 millisecond'`,

    /**
     * Notes for how long each kind of the watched queues has been unserved. The time since the last look counts where
     * that was at most $3 ms ago, and the queue was watched then; what has become served, or has no jobs, is forgotten.
     *
     * Answers the ms until one has waited for long enough, null when none waits. Index: ready_N_claim, deferred_aside.
     */
    track: sql<[...Watched, gapMs: number], [nextInMs: string | null]>`
      with ${live},
      ${atHeads},
      found as materialized (
        select seen.queue, seen.kind, seen.version
          from (select queue, kind, schema_version as version from near
                union
                select queue, kind, schema_version from ${deferred} where state = 'available' and queue = any ($1::text[])) as seen
         where exists (select from served s where s.queue = seen.queue)
           and not exists (select from served s where s.queue = seen.queue and s.pair = seen.kind || '@' || seen.version)
      ),
      noted as (
        insert into ${unserved} as u (queue, kind, version)
        select queue, kind, version from found order by queue, kind, version
        on conflict (queue, kind, version) do update
           set waited_ms = u.waited_ms
                 + case when now() - u.seen_at <= $3 * interval '1 millisecond'
                        then floor(date_part('epoch', now() - u.seen_at) * 1000)::bigint else 0 end,
               seen_at = now()
        returning u.queue, u.waited_ms
      ),
      forgotten as (
        delete from ${unserved} u
         where (u.queue = any ($1::text[]) or u.seen_at < now() - interval '7 days')
           and not exists (select from found f where f.queue = u.queue and f.kind = u.kind and f.version = u.version)
      )
      select min(${limitMs} - n.waited_ms)
        from noted n
        left join ${table('queues')} q on q.queue = n.queue`,

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

    /** Kinds that wait for a worker, the longest first. */
    list: sql<[], [queue: string, kind: string, version: string, waitedMs: string, limitMs: string]>`
      select u.queue, u.kind, u.version, u.waited_ms, ${limitMs}
        from ${unserved} u
        left join ${table('queues')} q on q.queue = u.queue
       where u.seen_at > now() - interval '5 minutes'
       order by u.waited_ms desc, u.queue, u.kind, u.version`,
  }
}
