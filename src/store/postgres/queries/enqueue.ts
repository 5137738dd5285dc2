import { Fragment, fragment, Identifier, sql } from '../sql.js'
import { noticesOfHeld } from './held.js'
import { somethingQuarantined } from './quarantine.js'

/** Texts joined by U+001F, a missing one as U+001E: JSON and checked names hold no control characters. */
type Texts = string
/** An array literal of numbers, such as `{1,2,NULL}`. */
type Numbers = string

export type PlainParams = [
  requestId: string | null,
  queues: Texts,
  kinds: Texts,
  payloads: Texts,
  versions: Numbers,
  priorities: Numbers,
  maxAttempts: Numbers,
]

export type FullParams = [
  ...plain: PlainParams,
  runAts: Numbers,
  deadlines: Numbers,
  timeouts: Numbers,
  keys: Texts,
  tags: Texts,
  metadata: Texts,
  retentions: Texts,
  /** Whether a job is parked rather than refused. */
  parks: Texts,
]

/**
 * `ids` in the order given; `places` has a letter for each: r ready, d deferred, k its key was taken, q its fingerprint
 * is quarantined (then nothing of the statement was stored), p parked for that. Null: all ready.
 */
export type EnqueuedRow = [ids: string, places: string | null]

export function enqueueQueries(schema: string) {
  const ids = fragment`nextval('${new Identifier(schema, 'job_ids')}')`
  const ready = new Identifier(schema, 'ready_entries')
  const deferred = new Identifier(schema, 'deferred_jobs')
  const requests = new Identifier(schema, 'requests')
  const keys = new Identifier(schema, 'unique_keys')
  const rings = new Identifier(schema, 'ring_state')
  // Hashes what is given only while something is quarantined.
  const hits = (payload: string) => fragment`
      hits as materialized (
        select g.id, q.fingerprint
          from given g
          join ${new Identifier(schema, 'quarantine')} q
            on q.release_id is null and q.fingerprint = md5(g.kind || E'\n' || ${new Fragment(payload)})
         where ${somethingQuarantined(schema)}
      )`
  const head = fragment`(select head from ${rings} where ring = 'ready')`

  return {
    /**
     * – → available: jobs that set nothing but queue, kind, payload, version, priority and attempts; at most some
     * thousands. A job's first position is its id. $1 is stored, so that a repetition after a lost connection meets a
     * unique violation instead of storing the jobs twice.
     */
    plain: sql<PlainParams, EnqueuedRow>`
      with given as materialized (
        select ${ids} as id, g.*
          from unnest(string_to_array($2, E'\x1f'), string_to_array($3, E'\x1f'), string_to_array($4, E'\x1f'),
                      $5::integer[], $6::smallint[], $7::integer[])
               as g(queue, kind, payload, schema_version, priority, max_attempts)
      ),
      ${hits('g.payload')},
      stored as (
        insert into ${ready} (id, position, slot, queue, kind, payload, schema_version, priority, max_attempts)
        select id, id, ${head}, queue, kind, payload::json, schema_version, priority, max_attempts
          from given
         where not exists (select from hits)
      ),
      requested as (
        insert into ${requests} (uuid, ids)
        select $1::uuid, array_agg(id order by id)
          from given where $1::uuid is not null and not exists (select from hits)
        having count(*) > 0
      )
      select array_agg(id order by id)::text,
             case when exists (select from hits)
                    then string_agg(case when id in (select id from hits) then 'q' else 'r' end, '' order by id) end
        from given`,

    /**
     * – → available or scheduled, with everything a job can have. A job whose key is taken is not stored; its place is
     * `k`. Keys are taken in sorted order, so that two statements cannot wait for each other.
     */
    full: sql<FullParams, EnqueuedRow>`
      with given as materialized (
        select ${ids} as id, g.queue, g.kind, g.payload::json as payload, g.schema_version, g.priority, g.max_attempts,
               to_timestamp(g.run_at / 1000.0) as run_at, to_timestamp(g.deadline / 1000.0) as deadline, g.timeout_ms,
               g.unique_key, g.metadata::json as metadata, g.retention::json as retention, g.park,
               case when g.tags is not null then array(select json_array_elements_text(g.tags::json)) end as tags
          from unnest(string_to_array($2, E'\x1f'), string_to_array($3, E'\x1f'), string_to_array($4, E'\x1f'),
                      $5::integer[], $6::smallint[], $7::integer[], $8::bigint[], $9::bigint[], $10::integer[],
                      string_to_array($11, E'\x1f', E'\x1e'), string_to_array($12, E'\x1f', E'\x1e'),
                      string_to_array($13, E'\x1f', E'\x1e'), string_to_array($14, E'\x1f', E'\x1e'),
                      string_to_array($15, E'\x1f'))
               as g(queue, kind, payload, schema_version, priority, max_attempts, run_at, deadline, timeout_ms,
                    unique_key, tags, metadata, retention, park)
      ),
      ${hits('g.payload::text')},
      -- Locked, so that a release that begins meanwhile finds what is parked.
      standing as materialized (
        select q.fingerprint
          from ${new Identifier(schema, 'quarantine')} q
         where q.release_id is null and q.fingerprint in (select fingerprint from hits)
         order by q.fingerprint
           for share of q
      ),
      parked as materialized (
        select h.id, h.fingerprint
          from hits h join given g on g.id = h.id
         where g.park = 't' and h.fingerprint in (select fingerprint from standing)
      ),
      refused as materialized (
        select h.id from hits h join given g on g.id = h.id where g.park <> 't'
      ),
      keyed as (
        insert into ${keys} (key, job_id)
        select unique_key, id
          from given
         where unique_key is not null and not exists (select from refused)
         order by unique_key, id
        on conflict (key) do nothing
        returning job_id
      ),
      placed as materialized (
        select g.*,
               case when exists (select from refused)
                      then case when g.id in (select id from refused) then 'q' else 'r' end
                    when g.unique_key is not null and not exists (select from keyed where job_id = g.id) then 'k'
                    when g.id in (select id from parked) then 'p'
                    when g.run_at > now() then 'd'
                    else 'r' end as place
          from given g
      ),
      now_ready as (
        insert into ${ready}
               (id, position, slot, queue, kind, payload, schema_version, priority, max_attempts, run_at, deadline,
                timeout_ms, unique_key, tags, metadata, retention)
        select id, id, ${head}, queue, kind, payload, schema_version, priority, max_attempts, coalesce(run_at, now()),
               deadline, timeout_ms, unique_key, tags, metadata, retention
          from placed
         where place = 'r' and not exists (select from refused)
      ),
      later as (
        insert into ${deferred}
               (id, state, due_at, queue, kind, payload, schema_version, priority, max_attempts, run_at, deadline,
                timeout_ms, unique_key, tags, metadata, retention)
        select id, 'scheduled', run_at, queue, kind, payload, schema_version, priority, max_attempts, run_at, deadline,
               timeout_ms, unique_key, tags, metadata, retention
          from placed
         where place = 'd'
      ),
      held as (
        insert into ${new Identifier(schema, 'held_entries')}
               (id, state, held_at, held_reason, fingerprint, queue, kind, payload, schema_version, priority, max_attempts,
                run_at, deadline, timeout_ms, unique_key, tags, metadata, retention)
        select g.id, 'quarantined', now(), 'parked', p.fingerprint, queue, kind, payload, schema_version, priority,
               max_attempts, coalesce(run_at, now()), deadline, timeout_ms, unique_key, tags, metadata, retention
          from placed g join parked p on p.id = g.id
         where place = 'p'
        returning id, queue, kind, generation, held_reason, fingerprint
      ),
      ${noticesOfHeld(schema, 'held')},
      requested as (
        insert into ${requests} (uuid, ids, places)
        select $1::uuid, array_agg(id order by id), string_agg(place, '' order by id)
          from placed where $1::uuid is not null and not exists (select from refused)
        having count(*) > 0
      )
      select array_agg(id order by id)::text, string_agg(place, '' order by id) from placed`,

    /** Notes what a transaction of several statements stored. */
    note: sql<[requestId: string, ids: string, places: string], []>`
      insert into ${requests} (uuid, ids, places) values ($1::uuid, $2::bigint[], $3)`,

    /** What an earlier try of the same request stored. No row: it did not commit. */
    requested: sql<[requestId: string], EnqueuedRow>`
      select ids::text, places from ${requests} where uuid = $1::uuid`,

    /** Who holds each of the keys now; a key nobody holds any more is missing. */
    holders: sql<[keys: string], [key: string, id: string]>`
      select key, job_id from ${keys} where key = any (string_to_array($1, E'\x1f'))`,

    /** Tells listeners; delivered when the transaction commits. */
    notify: sql<[channel: string, payloads: Texts], []>`
      select pg_notify($1, payload)::text
        from unnest(string_to_array($2, E'\x1f')) as payload`,

    /** The same in a transaction of its own that does not wait for the disk: a lost notice costs one poll. */
    notifyNow: sql<[channel: string, payloads: Texts], []>`
      select set_config('synchronous_commit', 'off', true), pg_notify($1, payload)
        from unnest(string_to_array($2, E'\x1f')) as payload`,
  }
}
