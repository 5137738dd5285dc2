import { type Fragment, fragment, Identifier, join, sql, whole } from '../sql.js'
import { SLOTS } from './claim.js'
import { toldSuccesses } from './leaders.js'

/** Rows of one slot that are counted at most: a look must not read a backlog of millions. */
const COUNTED = 100_000
/** Workers that were silent for longer are not counted as living. */
const STALE = fragment`interval '45 seconds'`

/** One JSON document. */
type DocumentRow = [document: string]

export interface FlowsDocument {
  readonly totals: readonly [queue: string, kind: string, reason: string, what: string, n: number][]
}

export interface PlanesDocument {
  readonly jobs: readonly [queue: string, state: string, n: number, oldestSeconds: number | null][]
}

export interface StateDocument {
  readonly version: number
  readonly now: number
  readonly workers: readonly [queue: string, n: number][]
  readonly paused: readonly string[]
  readonly unserved: readonly [queue: string, kind: string, waitedMs: number][]
  readonly due_lag: number
  readonly duties: readonly [
    duty: string,
    successMs: number | null,
    errorMs: number | null,
    error: string | null,
    pausedMs: number | null,
    pausedBy: string | null,
    pausedReason: string | null,
    underWaySeconds: number | null,
  ][]
  readonly led: boolean
  readonly rings: readonly [ring: string, used: number, bytes: number][]
  readonly expired: number
  readonly operations: number
}

export type HorizonRow = [
  holder: 'session' | 'replication slot' | 'prepared transaction',
  name: string | null,
  pid: string | null,
  application: string | null,
  role: string | null,
  transactions: string,
  seconds: string | null,
  queryStartedMs: string | null,
]

/** Queue and due time of the jobs that can be claimed, as far as anybody looks. */
export function readyRows(schema: string): Fragment {
  return join(
    SLOTS.map(
      (slot) =>
        fragment`(select queue, run_at from ${new Identifier(schema, `ready_${slot}`)} limit ${whole(COUNTED)})`,
    ),
    ' union all ',
  )
}

export function measureQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const ring = (name: 'ready' | 'leases') => {
    const sizes = join(
      SLOTS.map((slot) => fragment`pg_relation_size('${table(`${name}_${slot}`)}'::regclass)`),
      ', ',
    )
    const literal = name === 'ready' ? fragment`'ready'` : fragment`'leases'`
    return fragment`json_build_array(${literal},
               (select count(*) from unnest(array[${sizes}]) bytes where bytes > 0),
               (select sum(bytes) from unnest(array[${sizes}]) bytes))`
  }

  return {
    /** What was ever counted: the totals, and the deltas that are not in them yet. Index: counters_unfolded. */
    flows: sql<[], DocumentRow>`
      select json_build_object('totals', coalesce(json_agg(json_build_array(queue, kind, reason, what, n)), '[]'))
        from (select queue, kind, reason, what, sum(n) as n
                from (select queue, kind, reason, what, n from ${table('counter_totals')}
                      union all
                      select queue, kind, reason, what, n from ${table('counters')} where not folded) as counted
               group by queue, kind, reason, what) as totals`,

    /** Jobs that have not ended, by queue and state, and how long the oldest available one has waited. Reads the planes. */
    planes: sql<[], DocumentRow>`
      select json_build_object('jobs', coalesce(json_agg(json_build_array(queue, state, n, oldest)), '[]'))
        from (select queue, 'available' as state, count(*) as n, date_part('epoch', now() - min(run_at)) as oldest
                from (${readyRows(schema)}) as ready
               group by queue
              union all
              select queue, 'running', count(*), null from ${table('leases')} group by queue
              union all
              select queue, case state when 'available' then 'unserved' else state end, count(*), null
                from ${table('deferred_jobs')} group by queue, state
              union all
              select queue, 'waiting', count(*), null from ${table('waiting_jobs')} group by queue
              union all
              select queue, state, count(*), null from ${table('held_entries')} group by queue, state) as counted`,

    /** Everything else, by index probes and small tables. Always one row. */
    state: sql<[], DocumentRow>`
      select json_build_object(
        'version', (select max(version) from ${table('migrations')}),
        'now', date_part('epoch', now()) * 1000,
        'workers', (select coalesce(json_agg(json_build_array(queue, n)), '[]')
                      from (select queue, count(*) as n
                              from ${table('workers')}, unnest(queues) as queue
                             where heartbeat_at > now() - ${STALE}
                             group by queue) as living),
        'paused', (select coalesce(json_agg(queue), '[]') from ${table('queues')} where paused_at is not null),
        'unserved', (select coalesce(json_agg(json_build_array(queue, kind, ms)), '[]')
                       from (select queue, kind, max(waited_ms) as ms
                               from ${table('unserved_kinds')}
                              where seen_at > now() - interval '5 minutes'
                              group by queue, kind) as unserved),
        'due_lag', (select greatest(0, coalesce(date_part('epoch', now() - min(due_at)), 0)) from ${table('deferred_jobs')}),
        'duties', (select coalesce(json_agg(json_build_array(
                              coalesce(d.duty, u.duty), date_part('epoch', greatest(d.last_success_at, told.at)) * 1000,
                              date_part('epoch', d.last_error_at) * 1000, d.last_error,
                              date_part('epoch', d.paused_at) * 1000, d.paused_by, d.paused_reason, u.seconds)), '[]')
                     from ${table('duties')} d
                     full join (select key as duty, date_part('epoch', now()) - value::float8 / 1000 as seconds
                                  from ${table('leaders')}, jsonb_each_text(under_way)
                                 where name = 'maintenance' and expires_at > now()) as u on u.duty = d.duty
                     left join ${toldSuccesses(schema)} as told on told.duty = coalesce(d.duty, u.duty)),
        'led', exists (select from ${table('leaders')} where name = 'maintenance' and expires_at > now()),
        'rings', json_build_array(${ring('ready')}, ${ring('leases')}),
        'expired', (select count(*)
                      from ${table('leases')} l
                      left join ${table('workers')} w on w.registration = l.lease_id >> 36
                     where w.registration is null or w.heartbeat_at < now() - ${STALE}),
        'operations', (select count(*) from ${table('operations')} where state in ('running', 'paused')))`,

    /**
     * What keeps dead rows of this database from being removed, oldest first, at most 20. Of sessions of other roles the
     * server says when their transaction began only to members of pg_read_all_stats.
     */
    horizon: sql<[], HorizonRow>`
      select holder, name, pid, application, role, transactions, seconds, query_started
        from (select 'session' as holder, null::text as name, pid, application_name as application, usename::text as role,
                     age(backend_xmin) as transactions, date_part('epoch', now() - xact_start) as seconds,
                     date_part('epoch', query_start) * 1000 as query_started
                from pg_stat_activity
               where backend_xmin is not null and pid <> pg_backend_pid() and backend_type <> 'autovacuum worker'
                 and (datname = current_database() or datname is null)
              union all
              select 'replication slot', slot_name::text, active_pid, null, null,
                     greatest(age(xmin), age(catalog_xmin)), null, null
                from pg_replication_slots
               where xmin is not null or catalog_xmin is not null
              union all
              select 'prepared transaction', gid, null, null, owner::text, age(transaction),
                     date_part('epoch', now() - prepared), null
                from pg_prepared_xacts
               where database = current_database()) as holders
       order by coalesce(seconds, 0) desc, transactions desc
       limit 20`,
  }
}
