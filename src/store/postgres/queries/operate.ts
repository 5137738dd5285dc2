import type { JobState } from '../../../job/states.js'
import { columns, moved } from '../rows.js'
import { Fragment, fragment, Identifier, join, sql } from '../sql.js'
import { withEntry } from './history.js'

export type ActParams = [actor: string, reason: string | null, requestId: string | null, channel: string]

export type MovedRow = [state: JobState | 'gone', notified: string | null]

/** Actions on one job by its id. Each is one statement: the move, what goes with it, its audit row and its notice. */
export function operateQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const position = `nextval('${table('job_ids').quoted.replaceAll("'", "''")}')`
  const head = `(select head from ${table('ring_state').quoted} where ring = 'ready')`
  const audit = fragment`insert into ${table('audit_log')} (actor, action, target, reason, result, request_id)`

  /** Where a cancelled job can come from, and what that place knows of its attempt. */
  const held = [
    {
      place: 'ready_entries',
      state: "'available'",
      lease: 'null::bigint',
      started: 'null::timestamptz',
      progress: 'null::json',
    },
    {
      place: 'deferred_jobs',
      state: 'j.state',
      lease: 'null::bigint',
      started: 'j.started_at',
      progress: 'null::json',
    },
    { place: 'waiting_jobs', state: 'j.state', lease: 'j.lease_id', started: 'j.started_at', progress: 'j.progress' },
    { place: 'held_entries', state: 'j.state', lease: 'j.lease_id', started: 'j.started_at', progress: 'j.progress' },
    {
      place: 'leases',
      state: "'running'",
      lease: 'j.lease_id',
      started: 'j.claimed_at',
      progress: `(select s.progress from ${table('attempt_state').quoted} s where s.job_id = j.id and s.lease_id = j.lease_id)`,
    },
  ]
  const cancelledEntry = `json_build_object('type', 'cancelled', 'at', ${iso('now()')}, 'started_at', ${iso('g.started_at')},
      'generation', g.generation, 'attempt', g.attempt, 'lease_id', g.lease_id::text, 'worker', null,
      'by', $2::text, 'why', $3::text, 'reason', null)::text`

  return {
    /**
     * any live, held → cancelled; on a queue that keeps none, gone and counted. $6: also a running one, whose lease row
     * goes at once: its worker is told to abort, and what it still reports is refused.
     *
     * Index: the one on id of each place. Locks the job's row: waits for a claim, a settle or another operator that has
     * it. No row back: it was in none of these places when the statement began.
     */
    cancel: sql<[id: string, ...ActParams, running: boolean], MovedRow>`
      with ${join(
        held.map(
          ({ place, ...own }) => fragment`
      ${new Identifier(`from_${place}`)} as (
        delete from ${table(place)} j
         where j.id = $1::bigint${place === 'leases' ? fragment` and $6::boolean` : fragment``}
        returning ${moved('j', {}, `${own.state} as from_state`, `${own.lease} as lease_id`, `${own.started} as started_at`, `${own.progress} as progress`)}
      )`,
        ),
        ',',
      )},
      gone as materialized (
        ${join(
          held.map(({ place }) => fragment`select * from ${new Identifier(`from_${place}`)}`),
          ' union all ',
        )}
      ),
      freed as (
        delete from ${table('unique_keys')} k
         using gone g
         where g.unique_key is not null and k.key = g.unique_key and k.job_id = g.id
      ),
      forgotten as (
        delete from ${table('attempt_state')} s using gone g where s.job_id = g.id
      ),
      ruled as materialized (
        select g.*,
               case when g.retention::jsonb ? 'cancelled' then (g.retention ->> 'cancelled')::bigint
                    when q.retention ? 'cancelled' then (q.retention ->> 'cancelled')::bigint
                    else 86400000 end as keep_ms
          from gone g
          left join ${table('queues')} q on q.queue = g.queue
      ),
      kept as (
        insert into ${table('terminal_entries')}
               (${columns('state', 'retention_class', 'finalized_at', 'started_at', 'lease_id', 'handler_running', 'reason', 'progress')})
        select ${moved(
          'g',
          { ...withEntry(schema, 'g', cancelledEntry) },
          "'cancelled'",
          `${table('retention_class').quoted}(g.keep_ms)`,
          'now()',
          'g.started_at',
          'g.lease_id',
          "g.from_state = 'running'",
          '$3::text',
          'g.progress',
        )}
          from ruled g
         where g.keep_ms is null or g.keep_ms > 0
      ),
      counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select queue, kind, 'cancelled', 'gone', 1 from ruled where keep_ms <= 0
      ),
      aborted as (
        insert into ${table('aborts')} (registration, lease_id, job_id, reason)
        select lease_id >> 36, lease_id, id, 'cancelled' from gone where from_state = 'running'
        on conflict do nothing
      ),
      audited as (
        ${audit}
        select $2::text, 'cancel', json_build_object('id', id::text), $3::text,
               json_build_object('from', from_state, 'state', case when keep_ms <= 0 then 'gone' else 'cancelled' end),
               $4::text
          from ruled
      )
      select case when keep_ms <= 0 then 'gone' else 'cancelled' end,
             case when from_state = 'running' then pg_notify($5::text, 'a|' || (lease_id >> 36)) end
        from ruled`,

    /**
     * scheduled, retryable → available: at the end of its priority, due now.
     *
     * Index: primary key. No row back: it does not wait for a time.
     */
    promote: sql<[id: string, ...ActParams], MovedRow>`
      with gone as (
        delete from ${table('deferred_jobs')} j
         where j.id = $1::bigint and j.state in ('scheduled', 'retryable')
        returning ${moved('j', {}, 'j.state as from_state')}
      ),
      now_ready as (
        insert into ${table('ready_entries')} (${columns('position', 'slot')})
        select ${moved('g', { run_at: 'least(g.run_at, now())' }, position, head)}
          from gone g
        returning priority, position, queue
      ),
      audited as (
        ${audit}
        select $2::text, 'promote', json_build_object('id', id::text), $3::text,
               json_build_object('from', from_state, 'state', 'available'), $4::text
          from gone
      )
      select 'available', pg_notify($5::text, 'r|' || priority || '|' || position || '|' || queue) from now_ready`,

    /**
     * scheduled, retryable, available → scheduled, or available where $6 has come. One that stays where it is, is edited
     * in place: an available job keeps its position, also while it is set aside.
     *
     * Index: those on id. No row back: it is in none of these states.
     */
    reschedule: sql<[id: string, ...ActParams, runAtMs: number], MovedRow>`
      with asked as (
        select to_timestamp($6::float8 / 1000) as run_at, to_timestamp($6::float8 / 1000) > now() as later
      ),
      stays_ready as (
        update ${table('ready_entries')} j
           set run_at = a.run_at
          from asked a
         where j.id = $1::bigint and not a.later
        returning j.id, 'available' as from_state
      ),
      stays_aside as (
        update ${table('deferred_jobs')} j
           set run_at = a.run_at
          from asked a
         where j.id = $1::bigint and j.state = 'available' and not a.later
        returning j.id, j.state as from_state
      ),
      stays_later as (
        update ${table('deferred_jobs')} j
           set run_at = a.run_at, due_at = a.run_at, state = 'scheduled', position = null, set_aside = 0
          from asked a,
               (select id, state from ${table('deferred_jobs')} where id = $1::bigint for update) as before
         where j.id = before.id and a.later
        returning j.id, before.state as from_state
      ),
      leaves_ready as (
        delete from ${table('ready_entries')} j
         using asked a
         where j.id = $1::bigint and a.later
        returning ${moved('j', { run_at: 'a.run_at as run_at' }, "'available' as from_state")}
      ),
      now_later as (
        insert into ${table('deferred_jobs')} (${columns('state', 'due_at')})
        select ${moved('g', {}, "'scheduled'", 'g.run_at')} from leaves_ready g
      ),
      leaves_later as (
        delete from ${table('deferred_jobs')} j
         using asked a
         where j.id = $1::bigint and j.state in ('scheduled', 'retryable') and not a.later
        returning ${moved('j', { run_at: 'a.run_at as run_at' }, 'j.state as from_state')}
      ),
      now_ready as (
        insert into ${table('ready_entries')} (${columns('position', 'slot')})
        select ${moved('g', {}, position, head)} from leaves_later g
        returning priority, position, queue
      ),
      changed as materialized (
        select id, from_state from stays_ready
        union all select id, from_state from stays_aside
        union all select id, from_state from stays_later
        union all select id, from_state from leaves_ready
        union all select id, from_state from leaves_later
      ),
      audited as (
        ${audit}
        select $2::text, 'reschedule', json_build_object('id', id::text), $3::text,
               json_build_object('from', from_state, 'state', case when later then 'scheduled' else 'available' end,
                                 'run_at', a.iso),
               $4::text
          from changed, (select later, ${new Fragment(iso('run_at'))} as iso from asked) as a
      )
      select case when a.later then 'scheduled' else 'available' end,
             case when a.later then pg_notify($5::text, 'd|' || floor($6::float8)::bigint)
                  when r.position is not null
                    then pg_notify($5::text, 'r|' || r.priority || '|' || r.position || '|' || r.queue) end
        from changed c
       cross join asked a
        left join now_ready r on true`,

    /** Makes the partitions that finished jobs of these days need. */
    partitions: sql<[], [made: string]>`
      select ${table('ensure_terminal_partitions')}((now() at time zone 'UTC')::date - 1, (now() at time zone 'UTC')::date + 7)`,
  }
}

/** A time as history entries carry it. Null stays null. */
export function iso(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}
