import { Fragment, fragment, Identifier, sql, whole } from '../sql.js'
import { claimQueries } from './claim.js'
import { servedBy } from './served.js'

/** How many rows at each head are looked at for kinds that nobody serves. */
const LOOKED_AT = 1_000

/** The queues that are looked at, and after how long in silence a worker is not live. */
export type Watched = [queues: string[], staleMs: number]

/** Kinds and versions that no live worker of their queue serves, and for how long. Giving up is queries/no-handler.ts. */
export function unservedQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const deferred = table('deferred_jobs')
  const unserved = table('unserved_kinds')
  const { live, atHeads, limitMs } = watching(schema)

  return {
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

    /** Kinds that wait for a worker, the longest first. */
    list: sql<[], [queue: string, kind: string, version: string, waitedMs: string, limitMs: string]>`
      select u.queue, u.kind, u.version, u.waited_ms, ${limitMs}
        from ${unserved} u
        left join ${table('queues')} q on q.queue = u.queue
       where u.seen_at > now() - interval '5 minutes'
       order by u.waited_ms desc, u.queue, u.kind, u.version`,
  }
}

/** Parts of statements about {@link Watched} queues: what is `served`, what is `near` the heads, and how long it may wait. */
export function watching(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const ready = table('ready_entries')
  const { look } = claimQueries(schema)

  const live = servedBy(schema, fragment`w.heartbeat_at > now() - $2 * interval '1 millisecond'`)
  const limitMs = fragment`coalesce((q.policy ->> 'noHandlerAfterMs')::bigint, 3600000)`
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

  return { live, atHeads, limitMs }
}
