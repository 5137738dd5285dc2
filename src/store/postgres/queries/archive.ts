import type { JobDetail, JobRow } from '../job-row.js'
import { columns, moved } from '../rows.js'
import { Columns, Fragment, fragment, Identifier, join, type Statement, sql, whole } from '../sql.js'
import { PLACES } from './check.js'
import { Conditions } from './conditions.js'
import { wholeHistory, withEntry } from './history.js'
import { jobColumns } from './inspect.js'
import { isoTime } from './iso-time.js'
import { MARK_COLUMNS } from './triage-marks.js'

/**
 * Of a job's place in the archive why, when, until when, and its exact time as a key; where the look ended, and whether it
 * looked at as many rows as it may; the job itself, whose id is null where there is no hit.
 */
export type ColdRow = [
  why: 'expired' | 'evicted',
  archivedAtMs: string,
  keepUntilMs: string | null,
  at: string,
  endAt: string | null,
  endId: string | null,
  full: 't' | 'f' | null,
  ...JobDetail,
  ...JobRow,
]

/** What is listed: (archived_at, id) descending, from below `before` down to `since`. */
export interface ColdListing {
  readonly queue?: string | undefined
  readonly kind?: string | undefined
  readonly state?: string | undefined
  readonly tag?: string | undefined
  readonly cause?: string | undefined
  readonly reason?: string | undefined
  /** A pattern for the error class and message. */
  readonly pattern?: string | undefined
  readonly before: { readonly at: string; readonly id: string }
  readonly since: string
  readonly limit: number
  /** Whether payload, history, result and progress come along. */
  readonly isWhole: boolean
}

export type RestoredRow = [
  state: string,
  /** discarded: the state before it was. */
  fromState: string | null,
  /** Where a job with its id is now. */
  place: string | null,
  restored: 't' | 'f',
]

export type MonthRow = [month: string, rows: string, keepUntilMs: string | null, isPrunable: string]

/** How many rows one page of a search looks at. */
const SEARCH_ROWS = 10_000

export function archiveQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const cold = table('cold_archive')
  const dead = table('dlq_entries')
  const exact = (column: string) =>
    new Fragment(`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`)
  // As job lists have it: when a dead letter died is when it ended, why a job was held is its reason, what was held before
  // it was discarded has not died, and nothing here waits for a callback.
  const shown = fragment`
      (select c.*, coalesce(c.finalized_at, c.dlq_at) as ended_at, null::json as callback,
              coalesce(c.reason, c.held_reason) as own_reason,
              case when c.state <> 'discarded' or c.from_state = 'archived' then c.dlq_reason end as died_of
         from ${cold} c)`
  const row = (ended: Fragment, isWhole: Fragment) => fragment`
             job.why, date_part('epoch', job.archived_at) * 1000, date_part('epoch', job.keep_until) * 1000, ${exact('job.archived_at')},
             ${ended},
             case when ${isWhole} then job.payload end, case when ${isWhole} then array_to_json(${new Fragment(wholeHistory('job'))}) end,
             case when ${isWhole} then job.result end, case when ${isWhole} then job.progress end, job.origin_id,
             ${new Columns([jobColumns('job').quoted.replace('job.finalized_at', 'job.ended_at').replace('job.dlq_reason', 'job.died_of').replace('job.reason', 'job.own_reason')])}`

  return {
    /**
     * The next rows of the archive that match; a page looks at no more than 10,000 and says where it stopped. Index:
     * cold_queue, cold_kind or cold_recent, month by month.
     */
    list(listing: ColdListing): readonly [Statement<unknown[], ColdRow>, unknown[]] {
      const { queue, kind, state, tag, cause, reason, pattern, before, since, limit, isWhole } = listing
      const where = new Conditions([before.at, before.id, since, limit])
      const leads = [
        ...(queue === undefined ? [] : [where.compare('c.queue =', queue)]),
        ...(kind === undefined ? [] : [where.compare('c.kind =', kind)]),
      ]
      const filters = [
        ...(state === undefined ? [] : [where.compare('state =', state)]),
        ...(cause === undefined ? [] : [where.compare('cause =', cause)]),
        ...(reason === undefined ? [] : [where.compare('coalesce(dlq_reason, reason, held_reason) =', reason)]),
        ...(tag === undefined ? [] : [fragment`${where.value(tag)} = any (tags)`]),
        ...(pattern === undefined ? [] : [textMatches(where.value(pattern))]),
      ]
      const range = fragment`(c.archived_at, c.id) < ($1::timestamptz, $2::bigint) and c.archived_at < $1::timestamptz + interval '1 second'
             and c.archived_at >= $3::timestamptz`
      // Without filters every row is a hit, so no more than a page is looked at.
      const looks = filters.length === 0 ? fragment`$4::bigint` : whole(SEARCH_ROWS)
      const statement = sql<unknown[], ColdRow>`
      with looked as materialized (
        select c.id, c.archived_at, ${
          filters.length === 0
            ? fragment`true`
            : join(
                filters.map((it) => fragment`coalesce(${it}, false)`),
                ' and ',
              )
        } as hit
          from ${cold} c
         where ${join([range, ...leads], ' and ')}
         order by c.archived_at desc, c.id desc
         limit ${looks}
      )
      select ${row(
        fragment`${exact('ended.archived_at')}, ended.id, (select count(*) from looked) = ${looks}`,
        isWhole ? fragment`true` : fragment`false`,
      )}
        from (select 1) as one
        left join (select archived_at, id from looked order by archived_at, id limit 1) as ended on true
        left join (select archived_at, id from looked where hit order by archived_at desc, id desc limit $4::bigint) as found on true
        left join lateral (select * from ${shown} s where s.archived_at = found.archived_at and s.id = found.id limit 1) as job on true
       order by job.archived_at desc, job.id desc`
      return [statement, where.values]
    },

    /** One job, whole; the newest where the archive has it twice. Index: cold_id, of every month. */
    job: sql<[id: string], ColdRow>`
      select ${row(fragment`null::text, null::bigint, null::boolean`, fragment`true`)}
        from ${shown} job
       where job.id = $1::bigint
       order by job.archived_at desc
       limit 1`,

    /** Each month there is, oldest first. Index: cold_keep of each month for its times; counts its rows. */
    months: sql<[], MonthRow>`
      select to_char(c.archived_at at time zone 'UTC', 'YYYY-MM') as month, count(*),
             case when not bool_or(c.keep_until is null) then date_part('epoch', max(c.keep_until)) * 1000 end,
             not bool_or(c.keep_until is null or c.keep_until > now()) and max(c.archived_at) < date_trunc('month', now(), 'UTC')
        from ${cold} c
       group by 1
       order by 1`,

    /**
     * cold → archived, one that was dead, and whose id no job has: as it was, but that retention counts from now and its
     * history says so. No new death: it is counted as restored, and its cause does not regress by it.
     *
     * Locks the row. No row back: the archive does not have it. Index: cold_id, those on id.
     */
    restore: sql<[id: string, actor: string, reason: string | null, requestId: string | null], RestoredRow>`
      with found as materialized (
        select c.tableoid as part, c.ctid as at, c.state, c.from_state
          from ${cold} c
         where c.id = $1::bigint
         order by c.archived_at desc
         limit 1
      ),
      placed as materialized (
        ${join(
          PLACES.map(
            (place) =>
              fragment`select ${new Fragment(`'${place}'`)}::text as place from ${table(place)} j where j.id = $1::bigint`,
          ),
          ' union all ',
        )}
      ),
      gone as (
        delete from ${cold} c
         using found f
         where c.id = $1::bigint and c.tableoid = f.part and c.ctid = f.at
           and (f.state in ('archived', 'failed') or (f.state = 'discarded' and f.from_state = 'archived'))
           and not exists (select from placed)
        returning ${moved('c', {}, ...RETURNED.map((column) => `c.${column}`))}
      ),
      ruled as materialized (
        select g.*, coalesce(g.dlq_at, g.finalized_at) as died_at,
               coalesce(g.dlq_reason, g.reason, 'manual') as why_dead,
               coalesce(g.cause, substr(md5(g.kind || E'\n' || coalesce(g.reason, 'manual')), 1, 16)) as own_cause
          from gone g
      ),
      dead as (
        insert into ${dead}
               (${columns('dlq_at', 'dlq_reason', 'original_run_lease', 'cause', 'error_class', 'error_message', 'dlq_xid', 'retain_from', 'lease_id', 'started_at', 'progress')})
        select ${moved(
          'r',
          {
            ...withEntry(
              schema,
              'r',
              `json_build_object('type', 'restored', 'at', ${isoTime('now()').quoted},
              'started_at', null, 'generation', r.generation, 'attempt', r.attempt, 'lease_id', null, 'worker', null,
              'by', $2::text, 'why', $3::text, 'operation', null)::text`,
            ),
          },
          'r.died_at',
          'r.why_dead',
          'coalesce(r.original_run_lease, r.run_lease)',
          'r.own_cause',
          'r.error_class',
          'r.error_message',
          'pg_current_xact_id()',
          'now()',
          'r.lease_id',
          'r.started_at',
          'r.progress',
        )}
          from ruled r
        returning id
      ),
      tagged as (
        insert into ${table('dlq_tags')} (tag, dlq_at, id)
        select distinct tag, r.died_at, r.id from ruled r, unnest(r.tags) as tag where r.tags is not null
      ),
      known as (
        insert into ${table('dlq_causes')} (queue, cause, kind, reason, error_class, title, sample_id, first_at, last_at)
        select queue, own_cause, kind, why_dead, error_class,
               left(coalesce(error_class || ': ' || error_message, error_class, why_dead), 300), id, died_at, died_at
          from ruled
        on conflict (queue, cause) do nothing
      ),
      counts as (
        insert into ${table('cause_deltas')} (queue, cause, n, at) select queue, own_cause, 1, died_at from ruled
      ),
      counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select queue, kind, 'restored', 'arrived', 1 from ruled
        union all
        select queue, kind, case why when 'evicted' then 'evicted' else case state when 'discarded' then 'discarded' when 'failed' then 'failed' else why_dead end end,
               'restored', 1
          from ruled
      ),
      said as (
        insert into ${table('dlq_triage')} (job_id, generation, queue, cause, ${new Columns(MARK_COLUMNS)}, updated_at)
        select r.id, t.generation, r.queue, r.own_cause, ${new Columns(MARK_COLUMNS, 't')}, now()
          from ruled r, json_populate_record(null::${table('dlq_triage')}, r.triage) as t
         where r.triage is not null
        on conflict (job_id) do nothing
      ),
      versions as (
        insert into ${table('payload_versions')} (job_id, version, payload, edited_at, edited_by, reason)
        select r.id, (v ->> 'version')::integer, v -> 'payload', (v ->> 'edited_at')::timestamptz, v ->> 'edited_by', v ->> 'reason'
          from ruled r, json_array_elements(r.payload_versions) as v
         where r.payload_versions is not null
        on conflict (job_id, version) do nothing
      ),
      events as (
        insert into ${table('event_outbox')} (type, job_id, queue, kind, generation, reason, cause)
        select 'restored', id, queue, kind, generation, why_dead, own_cause from ruled
      ),
      audited as (
        insert into ${table('audit_log')} (actor, action, target, reason, result, request_id)
        select $2::text, 'restore', json_build_object('id', id::text), $3::text,
               json_build_object('from', state, 'state', 'archived', 'archived_at', ${isoTime('archived_at')}), $4::text
          from ruled
      )
      select f.state, f.from_state, (select place from placed limit 1), exists (select from dead)
        from found f`,

    /** Drops a month, if it may go, and then only writes an audit row. Always answers one row: a document that says what came of it. */
    prune: sql<[day: string, actor: string, reason: string | null, requestId: string | null], [outcome: string]>`
      with pruned as materialized (select ${table('prune_cold_month')}($1::date) as outcome),
      audited as (
        insert into ${table('audit_log')} (actor, action, target, reason, result, request_id)
        select $2::text, 'prune', json_build_object('month', to_char($1::date, 'YYYY-MM')), $3::text,
               json_build_object('rows', outcome -> 'rows'), $4::text
          from pruned where outcome ->> 'outcome' = 'pruned'
      )
      select outcome from pruned`,

    /** Makes what is missing from this month to three months ahead. */
    prepare: sql<[], [made: string]>`
      select ${table('ensure_cold_partitions')}((now() at time zone 'UTC')::date, ((now() at time zone 'UTC')::date + interval '3 months')::date)`,
  }
}

/** What a restored row is made from, besides the snapshot. */
const RETURNED = [
  ...['state', 'why', 'archived_at', 'finalized_at', 'started_at', 'lease_id', 'reason', 'cause', 'error_class'],
  ...['error_message', 'progress', 'dlq_at', 'dlq_reason', 'original_run_lease', 'triage', 'payload_versions'],
]

function textMatches(pattern: Fragment): Fragment {
  return fragment`(error_message ilike ${pattern} or error_class ilike ${pattern})`
}
