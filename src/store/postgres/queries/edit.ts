import type { JobState } from '../../../job/states.js'
import { Fragment, fragment, Identifier, join, sql } from '../sql.js'
import { entryAdded } from './history.js'
import { isoTime } from './iso-time.js'
import type { ActParams } from './operate.js'

/** Places whose jobs can get another payload, in which states, and what else of the row has to follow. */
const EDITABLE = [
  { place: 'ready_entries', state: "'available'", which: '', lease: 'null::bigint', also: '' },
  { place: 'deferred_jobs', state: 'j.state', which: '', lease: 'null::bigint', also: '' },
  { place: 'dlq_entries', state: "'archived'", which: '', lease: 'j.lease_id', also: '' },
  { place: 'terminal_entries', state: 'j.state', which: " and j.state = 'failed'", lease: 'j.lease_id', also: '' },
  {
    place: 'held_entries',
    state: 'j.state',
    which: " and j.state = 'undecodable'",
    lease: 'j.lease_id',
    also: ", fingerprint = case when j.fingerprint is not null then md5(j.kind || E'\\n' || $6::json::text) end",
  },
] as const

export function editQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const versions = table('payload_versions')
  const audit = fragment`insert into ${table('audit_log')} (actor, action, target, reason, result, request_id)`
  const edited = (row: string, lease: string, more: string) =>
    entryAdded(
      schema,
      row,
      `json_build_object('type', 'edited', 'at', ${isoTime('now()').quoted}, 'started_at', null,
        'generation', ${row}.generation, 'attempt', ${row}.attempt, 'lease_id', (${lease})::text, 'worker', null,
        'by', $2::text, 'why', $3::text, ${more})::text`,
    )
  const found = (place: string) => new Identifier(`found_in_${place}`)
  const done = (place: string) => new Identifier(`done_in_${place}`)

  return {
    /**
     * available, scheduled, retryable, archived, failed, undecodable | edit payload | the same state. The payload it had
     * becomes version 1 at the first edit, and a version of its own where a retry had replaced it since the last one.
     *
     * Index: those on id. Locks the job's row, and reads what it holds only then. No row back: it is in none of these
     * states. Two edits of one job at the same time: the later one fails on the number of its version (23505), and is
     * repeated.
     */
    payload: sql<
      [id: string, ...act: ActParams, payload: string],
      [state: JobState, version: string, notified: string | null]
    >`
      with ${join(
        EDITABLE.map(
          ({ place, state, which, lease, also }) => fragment`
      ${found(place)} as materialized (
        select j.id, ${new Fragment(state)} as state, j.created_at, j.payload as old, j.generation, j.tableoid as part
          from ${table(place)} j
         where j.id = $1::bigint${new Fragment(which)}
           for update
      ),
      numbered_${new Fragment(place)} as materialized (
        select f.*, n.last, n.same
          from ${found(place)} f,
               lateral (select coalesce(max(v.version), 0) as last,
                               coalesce((select l.payload::text = f.old::text from ${versions} l
                                          where l.job_id = f.id order by l.version desc limit 1), false) as same
                          from ${versions} v where v.job_id = f.id) as n
      ),
      ${done(place)} as (
        update ${table(place)} j
           set payload = $6::json,
               ${new Fragment(edited('j', lease, "'changed', json_build_array('payload'), 'version', f.last + case when f.same then 1 else 2 end"))}${new Fragment(also)}
          from numbered_${new Fragment(place)} f
         where j.id = f.id
        returning j.id, f.state, f.created_at, f.old, f.last, f.same
      )`,
        ),
        ',',
      )},
      changed as materialized (
        ${join(
          EDITABLE.map(({ place }) => fragment`select * from ${done(place)}`),
          ' union all ',
        )}
      ),
      kept as (
        insert into ${versions} (job_id, version, payload, edited_at, edited_by, reason)
        select id, last + 1, old, case when last = 0 then created_at else now() end,
               case when last = 0 then 'enqueued' else 'retried' end, null
          from changed where not same
        union all
        select id, last + case when same then 1 else 2 end, $6::json, now(), $2::text, $3::text from changed
        returning job_id, version
      ),
      audited as (
        ${audit}
        select $2::text, 'edit_payload', json_build_object('id', c.id::text), $3::text,
               json_build_object('state', c.state, 'version', (select max(version) from kept)), $4::text
          from changed c
      )
      select state, (select max(version) from kept), case when $5::text is null then null end from changed`,

    /**
     * available, scheduled, retryable | edit priority or queue | the same state. An available job keeps its position;
     * its new queue hears of it, because workers look above the position they have passed.
     *
     * Index: those on id. Locks the job's row. No row back: it is in none of these states.
     */
    settings: sql<
      [id: string, ...act: ActParams, priority: number | null, queue: string | null, changed: string],
      [state: JobState, notified: string | null]
    >`
      with in_ready as (
        update ${table('ready_entries')} j
           set priority = coalesce($6::smallint, j.priority), queue = coalesce($7::text, j.queue),
               ${new Fragment(edited('j', 'null::bigint', "'changed', $8::json"))}
         where j.id = $1::bigint
        returning j.id, 'available' as state, j.priority, j.queue, j.position
      ),
      in_deferred as (
        update ${table('deferred_jobs')} j
           set priority = coalesce($6::smallint, j.priority), queue = coalesce($7::text, j.queue),
               -- One set aside, because nobody served it where it was, is looked at again at once.
               due_at = case when j.state = 'available' then now() else j.due_at end,
               ${new Fragment(edited('j', 'null::bigint', "'changed', $8::json"))}
         where j.id = $1::bigint
        returning j.id, j.state, j.priority, j.queue, null::bigint as position
      ),
      changed as materialized (
        select * from in_ready union all select * from in_deferred
      ),
      audited as (
        ${audit}
        select $2::text, 'edit', json_build_object('id', id::text), $3::text,
               json_build_object('state', state, 'priority', priority, 'queue', queue), $4::text
          from changed
      )
      select state,
             case when position is not null then pg_notify($5::text, 'r|' || priority || '|' || position || '|' || queue)
                  when state = 'available'
                    then pg_notify($5::text, 'd|' || floor(date_part('epoch', now()) * 1000)::bigint) end
        from changed`,

    /** Every payload a job had, oldest first. Index: primary key. */
    versions: sql<
      [id: string],
      [version: string, payload: string, editedAtMs: string, editedBy: string, reason: string | null]
    >`
      select version, payload, date_part('epoch', edited_at) * 1000, edited_by, reason
        from ${versions} where job_id = $1::bigint order by version`,
  }
}
