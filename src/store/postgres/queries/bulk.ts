import { columns, moved } from '../rows.js'
import { Fragment, fragment, Identifier, sql } from '../sql.js'
import type { Asked, BatchAct, BatchRow, BatchScope, RetryTerms } from './batch.js'
import { Conditions } from './conditions.js'
import { heldBinQueries } from './held-bin.js'
import { withEntry } from './history.js'
import { exactTime } from './iso-time.js'
import { quarantinedNow } from './quarantine.js'
import { deadColumns, redriven } from './redriven.js'
import { namedWindow, windowOf } from './selection.js'
import { type SourceName, sources } from './sources.js'

/** One batch of an operation, one statement each: at most 1,000 rows and 8 MiB. */
export function bulkQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const places = sources(schema)
  const { dead, failed } = places
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
  const time = exactTime(new Fragment('at'))
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
