import { columns, moved } from '../rows.js'
import { Fragment, Identifier, sql, whole } from '../sql.js'
import { SLOTS } from './claim.js'
import { ANY_REGISTRATION, servedBy } from './served.js'
import { deleteSpots } from './spots.js'

/** So many rows at the head of a slot and priority that nobody serves are set aside, and so many at a time. */
export const ASIDE_ROWS = 1_000

/** What nobody serves is set aside from the head of a slot, so that claims need not walk over it, and brought back. */
export function setAsideQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const ready = table('ready_entries')
  const deferred = table('deferred_jobs')
  const unserved = table('unserved_kinds')
  const readyHead = `(select head from ${table('ring_state').quoted} where ring = 'ready')`
  const delay = (times: string) => `least(5000 * 2 ^ ${times}, 300000) * interval '1 millisecond'`

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
  }
}
