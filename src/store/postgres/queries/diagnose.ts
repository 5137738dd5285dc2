import { fragment, Identifier, join, sql, whole } from '../sql.js'
import { SLOTS } from './claim.js'

const LOOKED_AT = 100_000

export type ServerRow = [
  versionNumber: string,
  version: string,
  database: string,
  role: string,
  isReplica: string,
  connections: string,
  maxConnections: string,
  settings: string,
]

export type WaitingRow = [
  queue: string,
  kind: string,
  version: string,
  n: string,
  oldestSeconds: string,
  hasWorker: string,
  isServed: string,
]

export type BloatRow = [table: string, deadRows: string, liveRows: string, vacuumedMs: string | null]

export function diagnoseQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)

  return {
    /** The store's clock, in ms since 1970. */
    clock: sql<[], [ms: string]>`
      select date_part('epoch', clock_timestamp()) * 1000`,

    server: sql<[], ServerRow>`
      select current_setting('server_version_num'), current_setting('server_version'), current_database(), current_user,
             pg_is_in_recovery(), (select count(*) from pg_stat_activity where backend_type = 'client backend'),
             current_setting('max_connections'),
             json_build_object('fsync', current_setting('fsync'),
                               'synchronous_commit', current_setting('synchronous_commit'),
                               'full_page_writes', current_setting('full_page_writes'),
                               'autovacuum', current_setting('autovacuum'))`,

    /** What the role may not do with the tables and the guarded functions of the schema. */
    lacking: sql<[schema: string], [lacking: string]>`
      select lower(privilege) || ' on ' || c.relname
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace,
             unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as privilege
       where n.nspname = $1 and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'job_snapshot'
         and not has_table_privilege(c.oid, privilege)
      union all
      select 'execute ' || p.proname
        from pg_proc p
        join pg_namespace n on n.oid = p.pronamespace
       where n.nspname = $1 and p.prosecdef and p.prorettype <> 'trigger'::regtype
         and not has_function_privilege(p.oid, 'EXECUTE')
       order by 1`,

    /** Available jobs by what they need, and whether somebody could take them. Reads 100,000 rows a slot at most. */
    waiting: sql<[], WaitingRow>`
      select w.queue, w.kind, w.schema_version, w.n, w.oldest,
             exists (select from ${table('workers')} r
                      where w.queue = any (r.queues) and r.state = 'running' and r.heartbeat_at > now() - interval '45 seconds'),
             exists (select from ${table('workers')} r
                      where w.queue = any (r.queues) and r.state = 'running' and r.heartbeat_at > now() - interval '45 seconds'
                        and w.kind || '@' || w.schema_version = any (r.kinds))
        from (select queue, kind, schema_version, count(*) as n, date_part('epoch', now() - min(run_at)) as oldest
                from (${join(
                  SLOTS.map(
                    (slot) =>
                      fragment`(select queue, kind, schema_version, run_at from ${table(`ready_${slot}`)} limit ${whole(LOOKED_AT)})`,
                  ),
                  ' union all ',
                )}
                      union all
                      select queue, kind, schema_version, run_at from ${table('deferred_jobs')} where state = 'available') as ready
               group by queue, kind, schema_version) as w
       order by w.oldest desc
       limit 200`,

    /** Dead letters by queue: what came and went in the last hour, and what came in the day before. Index: counters_minute. */
    flows: sql<[], [queue: string, arrived: string, departed: string, arrivedBefore: string]>`
      select queue,
             coalesce(sum(n) filter (where what = 'arrived' and minute >= now() - interval '1 hour'), 0),
             coalesce(sum(n) filter (where what = 'departed' and minute >= now() - interval '1 hour'), 0),
             coalesce(sum(n) filter (where what = 'arrived' and minute < now() - interval '1 hour'), 0)
        from ${table('counters')}
       where minute >= now() - interval '25 hours' and what in ('arrived', 'departed')
       group by queue
       order by queue`,

    /** Jobs that have been held for 30 days, of the 10,000 oldest. Index: held_age. */
    held: sql<[], [queue: string, state: string, n: string, firstMs: string]>`
      select queue, state, count(*), min(date_part('epoch', held_at)) * 1000
        from (select queue, state, held_at from ${table('held_entries')}
               where held_at < now() - interval '30 days'
               order by held_at
               limit 10000) as old
       group by queue, state
       order by queue, state`,

    /** Slots are left out: they are truncated, never vacuumed. */
    bloat: sql<[schema: string], BloatRow>`
      select relname, n_dead_tup, n_live_tup,
             date_part('epoch', greatest(last_vacuum, last_autovacuum)) * 1000
        from pg_stat_user_tables
       where schemaname = $1 and n_dead_tup > 10000 and n_dead_tup > n_live_tup and relname !~ '^(ready|leases)_\d$'
       order by n_dead_tup desc
       limit 20`,
  }
}
