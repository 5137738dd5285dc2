import type { Selector } from '../../../job/selector.js'
import { columns, moved } from '../rows.js'
import { Fragment, fragment, Identifier, type Statement, sql } from '../sql.js'
import { Conditions } from './conditions.js'
import { heldBinQueries } from './held-bin.js'
import { newestEntry, withEntry } from './history.js'
import { quarantinedNow } from './quarantine.js'
import { deadColumns, redriven } from './redriven.js'
import { countOf, namedWindow, newerOf, type WindowRequest, windowOf } from './selection.js'
import { type SourceName, sources } from './sources.js'

/** What one batch is about: a window of a selector, or rows named by id. */
export type BatchScope =
  | { readonly type: 'window'; readonly window: WindowRequest }
  | {
      readonly type: 'ids'
      readonly ids: readonly string[]
      readonly selector: Selector
      /** Deaths it does not see are left alone; null: none are. */
      readonly snapshot: string | null
      readonly wait: boolean
    }

/** Who does it, why, and in which operation. */
export interface BatchAct {
  readonly operation: string
  readonly actor: string
  readonly reason: string | null
  readonly channel: string
}

export interface RetryTerms {
  readonly budget: 'fresh' | 'keep' | 'extra'
  readonly extra: number
  readonly force: boolean
  readonly queue: string | null
  readonly priority: number | null
  readonly runAtMs: number | null
  readonly maxAttempts: number | null
  readonly deadlineMs: number | null
  readonly payload: string | null
}

/**
 * What a batch did: ids that moved; rows that did not, as `[id, code, key]`; ids that somebody else had locked or has
 * changed; the key of the last row read.
 */
export type BatchRow = [
  done: string | null,
  refused: string | null,
  locked: string | null,
  at: string | null,
  id: string | null,
  /** The scan has come to its end. */
  ended: 't' | 'f',
]

type Asked<Row> = readonly [Statement<unknown[], Row>, unknown[]]

/** One batch of an operation, one statement each: at most 1,000 rows and 8 MiB. */
export function bulkQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const places = sources(schema)
  const { dead, failed } = places
  const newest = (alias: string) => new Fragment(newestEntry(alias))
  const position = `nextval('${table('job_ids').quoted.replaceAll("'", "''")}')`
  const head = `(select head from ${table('ring_state').quoted} where ring = 'ready')`

  /**
   * The rows of the scope that match, locked, as they were when the statement began: those another transaction has are
   * passed over, or waited for; one that was changed meanwhile is left for the next statement, which sees it as it is.
   */
  const locked = (source: typeof dead, where: Conditions, scope: BatchScope, barred = new Fragment('false')) => {
    const cut =
      scope.type === 'window'
        ? windowOf(schema, source, where, scope.window)
        : namedWindow(source, where, scope.ids, scope.selector, scope.snapshot)
    const how = scope.type === 'ids' && scope.wait ? fragment`for update of d` : fragment`for update of d skip locked`
    // Places in a table are found without an index; in one of many partitions they are not unique.
    const found = source.always
      ? fragment`d.id = any (array(select id from cut order by id)) and ${source.always}`
      : fragment`d.ctid = any (array(select spot from cut))`
    return fragment`
      ${cut},
      locked as materialized (
        select d.id, d.unique_key, d.generation, d.queue, d.deadline, d.tableoid as part, d.ctid as at,
               ${barred} as barred
          from ${source.table} d
         where ${found}
           ${how}
      ),
      held as materialized (
        select l.* from locked l join cut c on c.id = l.id and c.part = l.part and c.spot = l.at
      )`
  }
  const text = (at: Fragment) => fragment`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
  const time = text(new Fragment('at'))
  const isFull = fragment`(select is_full from filled)`
  const stand = (scope: BatchScope) =>
    scope.type === 'ids'
      ? fragment`null::text, null::bigint, true`
      : fragment`
             case when ${isFull} then (select ${time} from cut order by place desc limit 1) else (select ${time} from edge) end,
             case when ${isFull} then (select id from cut order by place desc limit 1) else (select id from edge) end,
             not ${isFull} and not exists (select from edge)`
  const answer = (scope: BatchScope, done: string, refused: Fragment) => fragment`
      select (select array_agg(id::text) from ${new Fragment(done)})::text,
             ${refused},
             (select array_agg(c.id::text) from cut c where c.id not in (select h.id from held h))::text,
             ${stand(scope)}`
  const none = fragment`null::text`
  const heldBin = heldBinQueries(schema)

  /** What else is kept about a job that is gone for good. */
  const erased = fragment`
      no_versions as (delete from ${table('payload_versions')} v using gone g where v.job_id = g.id),
      no_triage as (delete from ${table('dlq_triage')} t using gone g where t.job_id = g.id),
      no_rows as (delete from ${table('operation_rows')} o using gone g where o.job_id = g.id),
      no_canaries as (delete from ${table('operation_canaries')} o using gone g where o.job_id = g.id),
      no_callbacks as (delete from ${table('callbacks')} c using gone g where c.job_id = g.id),
      no_crashes as (delete from ${table('crashes')} c using gone g where c.job_id = g.id),
      no_words as (update ${table('event_log')} e set message = null from gone g where e.job_id = g.id and e.message is not null),
      no_words_yet as (update ${table('event_outbox')} e set message = null from gone g where e.job_id = g.id and e.message is not null)`

  /** What leaves the dead with a row `g`: its tags and its place in the counts. */
  const departed = (gone: string, what: string) => fragment`
      untagged as (
        delete from ${table('dlq_tags')} t
         using ${new Fragment(gone)} g
         where t.tag = any (g.tags) and t.dlq_at = g.dlq_at and t.id = g.id
      ),
      discounted as (
        insert into ${table('cause_deltas')} (queue, cause, n)
        select queue, cause, -count(*) from ${new Fragment(gone)} group by queue, cause
      ),
      counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select queue, kind, '${new Fragment(what)}', 'departed', count(*) from ${new Fragment(gone)} group by queue, kind
      )`

  return {
    /**
     * archived → available or scheduled. Refused are rows above the cap on generations, with a deadline that has passed
     * (budget keep), and with a key that another live or held job has.
     *
     * Locks the dead rows, then their keys in sorted order.
     */
    retry(scope: BatchScope, act: BatchAct, terms: RetryTerms): Asked<BatchRow> {
      const where = new Conditions()
      const payload = terms.payload === null ? null : where.value(terms.payload, 'json').quoted
      const found = locked(dead, where, scope, quarantinedNow(schema, 'd.kind', payload ?? 'd.payload'))
      const value = (given: unknown, type: string) => where.value(given, type).quoted
      const time = (ms: number | null) => `to_timestamp(${value(ms, 'float8')} / 1000)`
      const runAt = time(terms.runAtMs)
      const { changes, capped, passed } = redriven(schema, {
        by: value(act.actor, 'text'),
        why: value(act.reason, 'text'),
        operation: value(act.operation, 'bigint'),
        budget: value(terms.budget, 'text'),
        extra: value(terms.extra, 'integer'),
        force: value(terms.force, 'boolean'),
        queue: value(terms.queue, 'text'),
        priority: value(terms.priority, 'smallint'),
        runAt,
        maxAttempts: value(terms.maxAttempts, 'integer'),
        deadline: time(terms.deadlineMs),
        payload,
      })
      const statement = sql<unknown[], BatchRow>`
      with ${found},
      judged as materialized (
        select h.*, case when h.barred then 'fingerprint_quarantined'
                         when ${new Fragment(capped('h'))} then 'generation_cap'
                         when ${new Fragment(passed('h'))} is not null then 'deadline_passed' end as code
          from held h
      ),
      keyed as (
        insert into ${table('unique_keys')} (key, job_id)
        select unique_key, id from judged where unique_key is not null and code is null order by unique_key, id
        on conflict (key) do nothing
        returning job_id
      ),
      cleared as materialized (
        select j.id, j.at from judged j
         where j.code is null and (j.unique_key is null or j.id in (select k.job_id from keyed k))
      ),
      gone as (
        delete from ${dead.table} d
         where d.ctid = any (array(select at from cleared))
        returning ${moved('d', {}, ...deadColumns('d'))}
      ),
      ${departed('gone', 'retried')},
      now_ready as (
        insert into ${table('ready_entries')} (${columns('position', 'slot')})
        select ${moved('g', changes, position, head)}
          from (select * from gone order by dlq_at, id) g
         where ${new Fragment(runAt)} is null or ${new Fragment(runAt)} <= now()
        returning id, queue, priority, position
      ),
      later as (
        insert into ${table('deferred_jobs')} (${columns('state', 'due_at')})
        select ${moved('g', changes, "'scheduled'", runAt)}
          from gone g
         where ${new Fragment(runAt)} > now()
        returning id, run_at
      ),
      notified as (
        select pg_notify(${where.value(act.channel)}, 'r|' || priority || '|' || min(position) || '|' || queue)
          from now_ready group by queue, priority
        union all
        select pg_notify(${where.value(act.channel)}, 'd|' || floor(date_part('epoch', min(run_at)) * 1000)::bigint)
          from later having count(*) > 0
      ),
      told as (select count(*) from notified)
      ${answer(
        scope,
        'gone',
        fragment`(select json_agg(json_build_array(j.id::text, coalesce(j.code, 'unique_conflict'), j.unique_key))
                  from judged j where j.id not in (select c.id from cleared c))::text`,
      )}
        from told`
      return [statement, where.values]
    },

    /** archived → discarded: as it is, to come back byte for byte. */
    discard(scope: BatchScope, act: BatchAct): Asked<BatchRow> {
      const where = new Conditions()
      const found = locked(dead, where, scope)
      const own = DEAD_OWN.map((column) => `g.${column}`)
      const statement = sql<unknown[], BatchRow>`
      with ${found},
      gone as (
        delete from ${dead.table} d
         where d.ctid = any (array(select at from held))
        returning ${moved('d', {}, ...DEAD_OWN.map((column) => `d.${column}`))}
      ),
      ${departed('gone', 'discarded')},
      binned as (
        insert into ${table('dlq_bin')}
               (${columns(...DEAD_OWN, 'from_state', 'discarded_at', 'discard_operation')})
        select ${moved('g', {}, ...own, "'archived'", 'now()', where.value(act.operation, 'bigint').quoted)}
          from gone g
      )
      ${answer(scope, 'gone', none)}`
      return [statement, where.values]
    },

    /** quarantined, undecodable → discarded: as it is, to come back byte for byte. Frees the unique key. */
    discardHeld(scope: BatchScope, act: BatchAct, place: SourceName): Asked<BatchRow> {
      const where = new Conditions()
      const found = locked(places[place], where, scope)
      const statement = sql<unknown[], BatchRow>`
      with ${found},
      ${heldBin.discarded(where.value(act.operation, 'bigint'))}
      ${answer(scope, 'gone', none)}`
      return [statement, where.values]
    },

    /** archived, terminal, discarded, held → gone for good, with everything that was kept about it. */
    purge(scope: BatchScope, place: SourceName): Asked<BatchRow> {
      const where = new Conditions()
      const found = locked(places[place], where, scope)
      const { table: from } = places[place]
      const statement = sql<unknown[], BatchRow>`
      with ${found},
      gone as (
        delete from ${from} d
         ${
           place === 'terminal'
             ? fragment`using held h where d.tableoid = h.part and d.ctid = h.at and d.id = h.id`
             : fragment`where d.ctid = any (array(select at from held))`
         }
        returning d.id, d.queue, d.kind, ${place === 'dead' ? fragment`d.tags, d.dlq_at, d.cause` : fragment`d.unique_key`}
      ),
      ${place === 'dead' ? departed('gone', 'purged') : heldBin.freed},
      ${erased},
      accounted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select queue, kind, 'purged', 'gone', count(*) from gone group by queue, kind
      )
      ${answer(scope, 'gone', none)}`
      return [statement, where.values]
    },

    /** failed → archived, with the operator's words as its reason. */
    move(scope: BatchScope, act: BatchAct): Asked<BatchRow> {
      const where = new Conditions()
      const found = locked(failed, where, scope)
      const reason = where.value(act.reason ?? 'manual')
      const entry = `json_build_object('type', 'moved', 'at', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'started_at', null, 'generation', g.generation, 'attempt', g.attempt, 'lease_id', g.lease_id::text, 'worker', null,
          'by', ${where.value(act.actor).quoted}, 'why', ${reason.quoted}, 'reason', g.reason)::text`
      const statement = sql<unknown[], BatchRow>`
      with ${found},
      gone as (
        delete from ${failed.table} t
         using held h
         where t.tableoid = h.part and t.ctid = h.at and t.id = h.id
        returning ${moved('t', {}, 't.reason', 't.cause', 't.error_class', 't.error_message', 't.lease_id', 't.started_at', 't.progress')}
      ),
      ruled as materialized (
        select g.*, coalesce(g.cause, substr(md5(g.kind || E'\n' || ${reason}), 1, 16)) as own_cause from gone g
      ),
      dead as (
        insert into ${dead.table} (${columns(...DEAD_OWN)})
        select ${moved(
          'g',
          {
            ...withEntry(schema, 'g', entry),
            last_operation: where.value(act.operation, 'bigint').quoted,
          },
          'now()',
          reason.quoted,
          'g.run_lease',
          'g.own_cause',
          'g.error_class',
          'g.error_message',
          'pg_current_xact_id()',
          'now()',
          'g.lease_id',
          'g.started_at',
          'g.progress',
        )}
          from ruled g
      ),
      tagged as (
        insert into ${table('dlq_tags')} (tag, dlq_at, id)
        select distinct tag, now(), g.id from ruled g, unnest(g.tags) as tag where g.tags is not null
      ),
      known as (
        insert into ${table('dlq_causes')} (queue, cause, kind, reason, error_class, title, sample_id, first_at, last_at)
        select distinct on (queue, own_cause) queue, own_cause, kind, ${reason}, error_class,
               left(coalesce(error_class || ': ' || error_message, error_class, ${reason}), 300), id, now(), now()
          from ruled order by queue, own_cause, id
        on conflict (queue, cause) do nothing
      ),
      counts as (
        insert into ${table('cause_deltas')} (queue, cause, n) select queue, own_cause, count(*) from ruled group by 1, 2
      ),
      counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select queue, kind, ${reason}, 'arrived', count(*) from ruled group by queue, kind
      ),
      events as (
        insert into ${table('event_outbox')} (type, job_id, queue, kind, generation, reason, cause, message)
        select 'died', id, queue, kind, generation, ${reason}, own_cause, left(error_message, 500) from ruled
      )
      ${answer(scope, 'gone', none)}`
      return [statement, where.values]
    },

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

    /** Where each of these is now; no row: nowhere. Index: those on id. */
    whereabouts: sql<[ids: string[]], [id: string, state: string]>`
      select i.id, p.state
        from unnest($1::bigint[]) as i(id)
        cross join lateral (
          select 'archived' as state from ${dead.table} where id = i.id
          union all
          select 'available' from ${table('ready_entries')} where id = i.id
          union all
          select 'running' from ${table('leases')} where id = i.id
          union all
          select state from ${table('deferred_jobs')} where id = i.id
          union all
          select state from ${table('waiting_jobs')} where id = i.id
          union all
          select state from ${table('held_entries')} where id = i.id
          union all
          select state from ${table('terminal_entries')} where id = i.id
          union all
          select 'discarded' from ${table('dlq_bin')} where id = i.id
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
      select c.hits, ${text(new Fragment('e.at'))}, e.id
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

    restoreHeld: heldBin.restore,

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

/** What `dlq_entries` has besides the snapshot. */
export const DEAD_OWN = [
  'dlq_at',
  'dlq_reason',
  'original_run_lease',
  'cause',
  'error_class',
  'error_message',
  'dlq_xid',
  'retain_from',
  'lease_id',
  'started_at',
  'progress',
] as const
