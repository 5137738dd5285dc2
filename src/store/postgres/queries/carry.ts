import { columns, moved } from '../rows.js'
import { Columns, Fragment, fragment, Identifier, join, sql } from '../sql.js'
import { PLACES } from './check.js'
import { addedTo, wholeHistory } from './history.js'
import { isoTime } from './iso-time.js'

/** What a line of an export says, in this order; what stands under `JSON` goes there as it is stored. */
export const CARRIED = {
  TEXT: [
    'id',
    'queue',
    'kind',
    'unique_key',
    'dlq_reason',
    'cause',
    'error_class',
    'error_message',
    'lease_id',
    'origin_id',
  ],
  NUMBER: [
    ...[
      'schema_version',
      'priority',
      'attempt',
      'crash_attempt',
      'max_attempts',
      'charge_base',
      'run_lease',
      'generation',
    ],
    ...['handbacks', 'timeout_ms', 'original_run_lease'],
  ],
  TIME: ['created_at', 'run_at', 'deadline', 'started_at', 'dlq_at'],
  JSON: ['tags', 'metadata', 'retention', 'progress', 'history', 'payload'],
} as const

export type ExportedRow = (string | null)[]

/** Where each incoming one went: a new id, or the state of the job that has it. */
export type LandedRow = [n: string, id: string | null, taken: string | null]

export function carryQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const ids = table('job_ids')
  const time = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
  const asText = {
    tags: 'array_to_json(tags)',
    history: `coalesce(array_to_json(${wholeHistory('d')}), '[]'::json)`,
  } as Record<string, string>
  const exported = new Columns([
    ...CARRIED.TEXT,
    ...CARRIED.NUMBER,
    ...CARRIED.TIME.map(time),
    ...CARRIED.JSON.map((column) => asText[column] ?? column),
  ])
  const incoming = moved('r', {
    id: 'p.id',
    release_id: 'null::bigint',
    last_operation: 'null::bigint',
    last_entry: 'null::text',
    history: addedTo(
      schema,
      'r.history',
      `json_build_object('type', 'imported', 'at', ${isoTime('now()').quoted},
        'started_at', null, 'generation', r.generation, 'attempt', r.attempt, 'lease_id', null, 'worker', null,
        'by', $2::text, 'why', $3::text, 'operation', null)::text`,
    ),
  })

  return {
    /** Dead letters whole, in no order. Index: primary key. At most a page. */
    exported: sql<[ids: readonly string[]], ExportedRow>`
      select ${exported} from ${table('dlq_entries')} d where id = any ($1::bigint[])`,

    /**
     * Makes the ids that will be given out higher than one that comes from elsewhere. A million is left between, so that
     * ids that are given out while this statement runs are never given out again.
     */
    passIds: sql<[highest: string], [passed: string | null]>`
      select case when last_value < $1::bigint then setval('${ids}', $1::bigint + 1000000) end from ${ids}`,

    /**
     * – → archived, at most some hundred: $1 is a list of rows. An id that a job has in any place is refused, also one
     * that comes twice. Bound to no transaction (dlq_xid null): operations that are at work may take them in.
     *
     * Index: those on id. Locks nothing but the rows it makes.
     */
    imported: sql<[rows: string, actor: string, reason: string | null, requestId: string | null], LandedRow>`
      with given as materialized (
        select g.n, g.id, g.title, ${new Columns(
          [...CARRIED.TEXT, ...CARRIED.NUMBER, ...CARRIED.TIME, 'tags', 'history']
            .filter((column) => column !== 'id')
            .map((column) => `r.${column}`),
        )},
               -- A record made from JSON would make NULL of null, and write texts anew.
               row -> 'payload' as payload, row -> 'metadata' as metadata, row -> 'retention' as retention,
               row -> 'progress' as progress
          from (select n, (row ->> 'id')::bigint as id, row ->> 'title' as title, row
                  from json_array_elements($1::json) with ordinality as given(row, n)) as g,
               lateral json_populate_record(null::${table('dlq_entries')}, g.row) as r
      ),
      placed as materialized (
        ${join(
          PLACES.map(
            (place) => fragment`
        select j.id, ${new Fragment(`'${place}'`)} as place from given g join ${table(place)} j on j.id = g.id`,
          ),
          ' union all ',
        )}
      ),
      picked as materialized (
        select g.n, coalesce(g.id, nextval('${ids}')) as id
          from given g
         where not exists (select from placed p where p.id = g.id)
           and not exists (select from given e where e.id = g.id and e.n < g.n)
      ),
      causes as materialized (
        select c.queue, c.kind, c.cause as own, ${table('cause_for')}(c.queue, c.kind, c.cause) as cause
          from (select distinct queue, kind, cause from given) c
      ),
      dead as (
        insert into ${table('dlq_entries')}
               (${columns('dlq_at', 'dlq_reason', 'original_run_lease', 'cause', 'error_class', 'error_message', 'dlq_xid', 'retain_from', 'lease_id', 'started_at', 'progress')})
        select ${incoming}, r.dlq_at, r.dlq_reason, r.original_run_lease, c.cause, r.error_class, r.error_message, null, now(),
               r.lease_id, r.started_at, r.progress
          from picked p
          join given r on r.n = p.n
          join causes c on c.queue = r.queue and c.kind = r.kind and c.own = r.cause
        on conflict (id) do nothing
        returning id, queue, kind, generation, tags, dlq_at, dlq_reason, cause, error_class
      ),
      tagged as (
        insert into ${table('dlq_tags')} (tag, dlq_at, id)
        select distinct tag, d.dlq_at, d.id from dead d, unnest(d.tags) as tag
      ),
      known as (
        insert into ${table('dlq_causes')} (queue, cause, kind, reason, error_class, title, sample_id, first_at, last_at)
        select distinct on (d.queue, d.cause) d.queue, d.cause, d.kind, d.dlq_reason, d.error_class, g.title, d.id, d.dlq_at, d.dlq_at
          from dead d
          join picked p on p.id = d.id
          join given g on g.n = p.n
         order by d.queue, d.cause, d.id
        on conflict (queue, cause) do nothing
      ),
      counts as (
        insert into ${table('cause_deltas')} (queue, cause, n, at)
        select queue, cause, count(*), max(dlq_at) from dead group by queue, cause
      ),
      counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select queue, kind, 'imported', 'arrived', count(*) from dead group by queue, kind
      ),
      events as (
        insert into ${table('event_outbox')} (type, job_id, queue, kind, generation, reason, cause)
        select 'imported', id, queue, kind, generation, dlq_reason, cause from dead
      ),
      audited as (
        insert into ${table('audit_log')} (actor, action, target, reason, result, request_id)
        select $2::text, 'import', json_build_object('ids', coalesce(json_agg(id::text order by id), '[]'::json)), $3::text,
               json_build_object('imported', count(*), 'refused', (select count(*) from given) - count(*)), $4::text
          from dead
      )
      select g.n, d.id, (select p.place from placed p where p.id = g.id limit 1)
        from given g
        left join picked p on p.n = g.n
        left join dead d on d.id = p.id
       order by g.n`,
  }
}
