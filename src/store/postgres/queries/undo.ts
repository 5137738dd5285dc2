import { columns, moved } from '../rows.js'
import { Fragment, Identifier, sql } from '../sql.js'
import { DEAD_OWN } from './bulk.js'
import { heldBinQueries } from './held-bin.js'
import { newestEntry, withEntry } from './history.js'
import { sources } from './sources.js'

/** What takes an operation back: a retry, as far as nobody has claimed what it moved, and a discard. */
export function undoQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const { dead } = sources(schema)
  const newest = (alias: string) => new Fragment(newestEntry(alias))

  return {
    /**
     * available, scheduled → archived again: what a retry of this operation moved and nobody has claimed since; $3 rows
     * at most, of ids above $2. The last history entry is that retry, and run_lease is what it gave. Index:
     * ready_N_operation, deferred_operation. Answers how many were looked at, the last id, and those that went back.
     */
    takeBack: sql<
      [operation: string, after: string, limit: number, actor: string],
      [read: string, last: string | null, ids: string | null]
    >`
      with here as materialized (
        select r.tableoid as part, r.ctid as at, r.id, ${newest('r')} as retried, r.run_lease
          from ${table('ready_entries')} r
         where r.last_operation = $1::bigint and r.id > $2::bigint
         order by r.id limit $3
           for update skip locked
      ),
      there as materialized (
        select d.tableoid as part, d.ctid as at, d.id, ${newest('d')} as retried, d.run_lease
          from ${table('deferred_jobs')} d
         where d.last_operation = $1::bigint and d.id > $2::bigint
         order by d.id limit $3
           for update skip locked
      ),
      looked as materialized (
        select *
          from (select * from here union all select * from there) as both_planes
         order by id limit $3
      ),
      untouched as materialized (
        select part, at, id from looked
         where retried ->> 'type' = 'retried' and retried ->> 'operation' = $1::bigint::text
           and (retried ->> 'run_lease')::integer = run_lease and retried -> 'before' ->> 'state' = 'archived'
           and coalesce(retried -> 'payload_before' ->> 'spillway_omitted', '') = ''
      ),
      from_ready as (
        delete from ${table('ready_entries')} r using untouched u
         where r.id = u.id and r.tableoid = u.part and r.ctid = u.at
        returning ${moved('r')}
      ),
      from_deferred as (
        delete from ${table('deferred_jobs')} r using untouched u
         where r.id = u.id and r.tableoid = u.part and r.ctid = u.at
        returning ${moved('r')}
      ),
      gone as materialized (
        select f.*, ${newest('f')} as retried, ${newest('f')} -> 'before' as before
          from (select * from from_ready union all select * from from_deferred) as f
      ),
      freed as (
        delete from ${table('unique_keys')} k
         using gone g where g.unique_key is not null and k.key = g.unique_key and k.job_id = g.id
      ),
      ruled as materialized (
        select ${moved('g', {
          attempt: "(g.retried ->> 'attempt')::integer as attempt",
          crash_attempt: "(g.before ->> 'crash_attempt')::integer as crash_attempt",
          charge_base: "(g.before ->> 'charge_base')::integer as charge_base",
          run_lease: "(g.before ->> 'run_lease')::integer as run_lease",
          max_attempts: "(g.before ->> 'max_attempts')::integer as max_attempts",
          deadline: "(g.before ->> 'deadline')::timestamptz as deadline",
          queue: "g.before ->> 'queue' as queue",
          priority: "(g.before ->> 'priority')::smallint as priority",
          run_at: "(g.before ->> 'run_at')::timestamptz as run_at",
          release_id: "(g.before ->> 'release_id')::bigint as release_id",
          last_operation: "(g.before ->> 'last_operation')::bigint as last_operation",
          generation: 'g.generation - 1 as generation',
          payload: "coalesce(g.retried -> 'payload_before', g.payload) as payload",
          ...withEntry(
            schema,
            'g',
            `json_build_object('type', 'undone',
            'at', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'started_at', null,
            'generation', g.generation, 'attempt', g.attempt, 'lease_id', null, 'worker', null,
            'by', $4::text, 'why', null, 'operation', $1::bigint::text)::text`,
          ),
        })}, g.retried ->> 'reason' as dlq_reason, (g.retried ->> 'dlq_at')::timestamptz as dlq_at,
               (g.retried ->> 'original_run_lease')::integer as original_run_lease, g.before ->> 'cause' as cause,
               g.before ->> 'error_class' as error_class, g.before ->> 'error_message' as error_message,
               (g.retried ->> 'lease_id')::bigint as lease_id, (g.before ->> 'started_at')::timestamptz as started_at,
               case when json_typeof(g.retried -> 'progress') <> 'null' then g.retried -> 'progress' end as progress
          from gone g
      ),
      dead as (
        insert into ${dead.table} (${columns(...DEAD_OWN)})
        select ${moved('r', {}, ...DEAD_OWN.map((column) => (column === 'dlq_xid' ? 'pg_current_xact_id()' : column === 'retain_from' ? 'now()' : `r.${column}`)))}
          from ruled r
      ),
      tagged as (
        insert into ${table('dlq_tags')} (tag, dlq_at, id)
        select distinct tag, r.dlq_at, r.id from ruled r, unnest(r.tags) as tag where r.tags is not null
      ),
      counts as (
        -- Of the time they died: coming back is no new death.
        insert into ${table('cause_deltas')} (queue, cause, n, at)
        select queue, cause, count(*), max(dlq_at) from ruled group by 1, 2
      ),
      counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select queue, kind, 'undone', 'arrived', count(*) from ruled group by queue, kind
      )
      select (select count(*) from looked), (select max(id) from looked), (select array_agg(id::text) from ruled)::text`,

    /** Where what a retry moved is now, of ids above $2, $3 at most: what could not be taken back. */
    elsewhere: sql<[operation: string, after: string, limit: number], [id: string, state: string]>`
      select id, state from (
        select id, 'available' as state from ${table('ready_entries')} where last_operation = $1::bigint and id > $2::bigint
        union all
        select id, state from ${table('deferred_jobs')} where last_operation = $1::bigint and id > $2::bigint
        union all
        select id, state from ${table('waiting_jobs')} where last_operation = $1::bigint and id > $2::bigint
        union all
        select id, state from ${table('held_entries')} where last_operation = $1::bigint and id > $2::bigint
        union all
        select id, 'discarded' from ${table('dlq_bin')} where last_operation = $1::bigint and id > $2::bigint
        union all
        select id, 'running' from ${table('leases')} where last_operation = $1::bigint and id > $2::bigint
        union all
        select id, state from ${table('terminal_entries')} where last_operation = $1::bigint and id > $2::bigint
        union all
        select id, 'archived' from ${dead.table} where last_operation = $1::bigint and id > $2::bigint
      ) as places
       order by id
       limit $3`,

    restoreHeld: heldBinQueries(schema).restore,

    /** discarded → archived again, byte for byte, those of one operation; $2 rows at most. */
    restore: sql<[operation: string, limit: number], [ids: string | null]>`
      with gone as (
        delete from ${table('dlq_bin')} b
         where b.id = any (array(select id from ${table('dlq_bin')}
                                  where discard_operation = $1::bigint and from_state = 'archived'
                                  order by id limit $2 for update skip locked))
        returning ${moved('b', {}, ...DEAD_OWN.map((column) => `b.${column}`))}
      ),
      back as (
        insert into ${dead.table} (${columns(...DEAD_OWN)})
        select ${moved('g', {}, ...DEAD_OWN.map((column) => (column === 'retain_from' ? 'now()' : `g.${column}`)))} from gone g
      ),
      tagged as (
        insert into ${table('dlq_tags')} (tag, dlq_at, id)
        select distinct tag, g.dlq_at, g.id from gone g, unnest(g.tags) as tag where g.tags is not null
      ),
      counts as (
        insert into ${table('cause_deltas')} (queue, cause, n, at)
        select queue, cause, count(*), max(dlq_at) from gone group by 1, 2
      ),
      counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select queue, kind, 'undone', 'arrived', count(*) from gone group by queue, kind
      )
      select array_agg(id::text)::text from gone`,
  }
}
