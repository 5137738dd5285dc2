import { Fragment, fragment, Identifier, sql } from '../sql.js'
import type { Asked, BatchScope } from './batch.js'
import { Conditions } from './conditions.js'
import { exactTime } from './iso-time.js'
import { quarantinedNow } from './quarantine.js'
import { countOf, namedWindow, newerOf, type WindowRequest, windowOf } from './selection.js'
import { type SourceName, sources } from './sources.js'

/** What bulk work looks at, without moving or locking anything. */
export function lookQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const places = sources(schema)
  const { dead } = places

  return {
    /** Where each of these is now; no row: nowhere. Index: those on id. */
    whereabouts: sql<[ids: string[]], [id: string, state: string, queue: string]>`
      select i.id, p.state, p.queue
        from unnest($1::bigint[]) as i(id)
        cross join lateral (
          select 'archived' as state, queue from ${dead.table} where id = i.id
          union all
          select 'available', queue from ${table('ready_entries')} where id = i.id
          union all
          select 'running', queue from ${table('leases')} where id = i.id
          union all
          select state, queue from ${table('deferred_jobs')} where id = i.id
          union all
          select state, queue from ${table('waiting_jobs')} where id = i.id
          union all
          select state, queue from ${table('held_entries')} where id = i.id
          union all
          select state, queue from ${table('terminal_entries')} where id = i.id
          union all
          select 'discarded', queue from ${table('dlq_bin')} where id = i.id
          limit 1) as p`,

    /**
     * Who holds the key of a dead job, and whether it is to be left alone: it runs, or the same operation has sent it to
     * work. No row: nobody holds it, or the job is not dead.
     */
    holderOf: sql<[id: string, operation: string], [holder: string, isRunning: 't' | 'f', isOurs: 't' | 'f']>`
      select k.job_id, exists (select from ${table('leases')} l where l.id = k.job_id),
             exists (select from ${table('ready_entries')} r where r.id = k.job_id and r.last_operation = $2::bigint)
             or exists (select from ${table('deferred_jobs')} r where r.id = k.job_id and r.last_operation = $2::bigint)
        from ${dead.table} d join ${table('unique_keys')} k on k.key = d.unique_key
       where d.id = $1::bigint`,

    /** How many jobs of an operation wait to be claimed, counted to $2 and no further. Index: ready_N_operation. */
    waiting: sql<[operation: string, enough: number], [n: string]>`
      select count(*) from (
        select 1 from ${table('ready_entries')} where last_operation = $1::bigint limit $2) as counted`,

    /** How many rows of a scan match, without touching them, and where it stopped: null where it came to its end. */
    count(window: WindowRequest, source: SourceName): Asked<[hits: string, at: string | null, id: string | null]> {
      const where = new Conditions()
      const statement = sql<unknown[], [hits: string, at: string | null, id: string | null]>`
      with ${countOf(schema, places[source], where, window)}
      select c.hits, ${exactTime(new Fragment('e.at'))}, e.id
        from counted c left join edge e on true`
      return [statement, where.values]
    },

    /** How many dead rows that match died after the snapshot, of the next `scan` behind transaction `after`; null: all. */
    newer(
      request: Pick<WindowRequest, 'selector' | 'snapshot' | 'scan'>,
      after: string,
    ): Asked<[hits: string, xid: string | null]> {
      const where = new Conditions()
      const statement = sql<unknown[], [hits: string, xid: string | null]>`
      with ${newerOf(dead, where, request, after)}
      select c.hits, e.xid from counted c left join edge e on true`
      return [statement, where.values]
    },

    /** Samples and counts by cause of a window, and what it would refuse (a retry does): what a preview shows. */
    preview(scope: BatchScope, source: SourceName, refuses: boolean, force: boolean): Asked<[document: string]> {
      const where = new Conditions()
      const origin = places[source]
      const cut =
        scope.type === 'window'
          ? windowOf(schema, origin, where, scope.window)
          : namedWindow(origin, where, scope.ids, scope.selector, scope.snapshot)
      const capped = fragment`(not ${where.value(force, 'boolean')} and d.generation >= coalesce((select (q.policy ->> 'maxGenerations')::integer from ${table('queues')} q where q.queue = d.queue), 10))`
      const statement = sql<unknown[], [document: string]>`
      with ${cut},
      rows as materialized (
        select d.id, d.kind, d.queue, d.${new Fragment(origin.at)} as died_at, ${origin.error},
               case when ${quarantinedNow(schema, 'd.kind', 'd.payload')} then 'fingerprint_quarantined'
                    when ${capped} then 'generation_cap'
                    when d.unique_key is not null and exists (select from ${table('unique_keys')} k where k.key = d.unique_key)
                      then 'unique_conflict' end as refused
          from cut c join ${origin.table} d on d.id = c.id
      )
      select json_build_object(
               'looked_at', (select count(*) from rows),
               'samples', (select coalesce(json_agg(json_build_object('id', id::text, 'kind', kind, 'queue', queue, 'died_at', died_at,
                              'cause', cause, 'error_class', error_class, 'error_message', error_message)), '[]')
                             from (select * from rows order by died_at, id limit 10) as first_ten),
               'causes', (select coalesce(json_agg(json_build_object('cause', cause, 'title', title, 'count', n)), '[]')
                            from (select cause, min(coalesce(error_class || ': ' || error_message, error_class)) as title, count(*) as n
                                    from rows group by cause order by n desc limit 50) as most),
               'would_refuse', (select coalesce(json_agg(json_build_object('code', refused, 'count', n)), '[]')
                                  from (select refused, count(*) as n from rows where refused is not null and ${where.value(refuses, 'boolean')} group by refused) as r))::text`
      return [statement, where.values]
    },
  }
}
