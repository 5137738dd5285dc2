import type { JobState } from '../../../job/states.js'
import { columns, moved } from '../rows.js'
import { Fragment, Identifier, sql } from '../sql.js'
import { type ActParams, iso } from './operate.js'
import { quarantinedNow } from './quarantine.js'
import { deadColumns, failedColumns, redriven } from './redriven.js'

export type RetryParams = [
  id: string,
  ...act: ActParams,
  budget: 'fresh' | 'keep' | 'extra',
  extra: number,
  force: boolean,
  queue: string | null,
  priority: number | null,
  runAtMs: number | null,
  maxAttempts: number | null,
  deadlineMs: number | null,
  /** JSON text. */
  payload: string | null,
]

/** The dead job as the statement's snapshot had it, why it was refused, and where it went: null where it did not. */
export type RetryRow = [
  generation: string,
  uniqueKey: string | null,
  capped: 't' | 'f',
  maxGenerations: string,
  passedDeadline: string | null,
  state: JobState | null,
  served: 't' | 'f',
  queue: string,
  notified: string | null,
  /** archived or failed. */
  from: JobState,
  /** To undo it by. */
  operation: string | null,
  /** Where its fingerprint is quarantined: that, and its kind. */
  fingerprint: string | null,
  kind: string,
]

export function retryQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const position = `nextval('${table('job_ids').quoted.replaceAll("'", "''")}')`
  const head = `(select head from ${table('ring_state').quoted} where ring = 'ready')`
  const dead = table('dlq_entries')
  const terminal = table('terminal_entries')

  const { changes, capped, passed, maxGenerations } = redriven(schema, {
    by: '$2::text',
    why: '$3::text',
    operation: '(select id from noted)',
    budget: '$6::text',
    extra: '$7::integer',
    queue: '$9::text',
    priority: '$10::smallint',
    runAt: 'to_timestamp($11::float8 / 1000)',
    maxAttempts: '$12::integer',
    deadline: 'to_timestamp($13::float8 / 1000)',
    payload: '$14::json',
    force: '$8::boolean',
  })

  const barred = (alias: string) => quarantinedNow(schema, `${alias}.kind`, `coalesce($14::json, ${alias}.payload)`)
  const seenOf = (alias: string) =>
    new Fragment(`${alias}.generation, ${alias}.unique_key, ${alias}.queue, ${alias}.deadline, ${alias}.kind,
               case when ${barred(alias).quoted} then md5(${alias}.kind || E'\\n' || coalesce($14::json, ${alias}.payload)::text) end as barred`)

  return {
    /**
     * archived, failed → available or scheduled, of the next generation, as the table of budgets says. What the row was
     * in the queue of dead letters goes with it: tags, its place in the counts; a history entry keeps the rest.
     *
     * Index: those on id. Locks the dead row first, then its unique key: of many callers one moves it, the others find
     * it gone. No row back: it was dead in no place when the statement began. A row without state: it was, and either a
     * guard refused it, its key is taken, or another caller has moved it.
     */
    retry: sql<RetryParams, RetryRow>`
      with seen as materialized (
        select d.id, 'archived' as state, ${seenOf('d')}
          from ${dead} d where d.id = $1::bigint
        union all
        select t.id, t.state, ${seenOf('t')}
          from ${terminal} t where t.id = $1::bigint and t.state = 'failed'
      ),
      dead_one as materialized (
        select d.id, d.unique_key
          from ${dead} d
         where d.id = $1::bigint and not ${new Fragment(capped('d'))} and ${new Fragment(passed('d'))} is null
           and not ${barred('d')}
           for update
      ),
      failed_one as materialized (
        select t.id, t.unique_key
          from ${terminal} t
         where t.id = $1::bigint and t.state = 'failed' and not ${new Fragment(capped('t'))} and ${new Fragment(passed('t'))} is null
           and not ${barred('t')}
           for update
      ),
      picked as materialized (
        select id, unique_key from dead_one union all select id, unique_key from failed_one
      ),
      keyed as (
        insert into ${table('unique_keys')} (key, job_id)
        select unique_key, id from picked where unique_key is not null
        on conflict (key) do nothing
        returning job_id
      ),
      cleared as materialized (
        select id from picked where unique_key is null or id in (select job_id from keyed)
      ),
      noted as (
        insert into ${table('operations')}
               (action, selector, params, state, phase, matched, succeeded, created_by, reason, request_id, started_at, finished_at)
        select 'retry', json_build_object('ids', json_build_array(id::text)), json_build_object('terms', json_build_object('budget', $6::text), 'onConflict', 'fail'),
               'done', 'ended', 1, 1, $2::text, $3::text, $4::text, now(), now()
          from cleared
        returning id
      ),
      was_dead as (
        delete from ${dead} d
         using cleared c
         where d.id = c.id
        returning ${moved('d', {}, ...deadColumns('d'))}
      ),
      had_failed as (
        delete from ${terminal} t
         using cleared c
         where t.id = c.id and t.state = 'failed'
        returning ${moved('t', {}, ...failedColumns('t'))}
      ),
      gone as materialized (
        select * from was_dead union all select * from had_failed
      ),
      untagged as (
        delete from ${table('dlq_tags')} t
         using was_dead d
         where t.tag = any (d.tags) and t.dlq_at = d.dlq_at and t.id = d.id
      ),
      discounted as (
        insert into ${table('cause_deltas')} (queue, cause, n) select queue, cause, -1 from was_dead
      ),
      counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select queue, kind, 'retried', 'departed', 1 from was_dead
      ),
      forgotten as (
        delete from ${table('attempt_state')} s using gone g where s.job_id = g.id
      ),
      again as materialized (
        select ${moved('g', changes)}
          from gone g
      ),
      now_ready as (
        insert into ${table('ready_entries')} (${columns('position', 'slot')})
        select ${moved('a', {}, position, head)} from again a where a.run_at <= now()
        returning id, queue, priority, position
      ),
      later as (
        insert into ${table('deferred_jobs')} (${columns('state', 'due_at')})
        select ${moved('a', {}, "'scheduled'", 'a.run_at')} from again a where a.run_at > now()
        returning id, run_at
      ),
      audited as (
        insert into ${table('audit_log')} (actor, action, target, reason, result, request_id)
        select $2::text, 'retry', json_build_object('id', id::text), $3::text,
               json_build_object('from', case when id in (select id from was_dead) then 'archived' else 'failed' end,
                                 'state', case when run_at > now() then 'scheduled' else 'available' end,
                                 'generation', generation, 'queue', queue,
                                 'budget', $6::text, 'extra', case when $6::text = 'extra' then $7::integer end),
               $4::text
          from again
      )
      select s.generation, s.unique_key, ${new Fragment(capped('s'))}, ${new Fragment(maxGenerations('s'))},
             ${new Fragment(iso(passed('s')))},
             case when r.id is not null then 'available' when l.id is not null then 'scheduled' end,
             exists (select from ${table('workers')} w
                      where w.state = 'running' and w.heartbeat_at > now() - interval '45 seconds'
                        and coalesce($9::text, s.queue) = any (w.queues)),
             coalesce($9::text, s.queue),
             case when r.id is not null
                    then pg_notify($5::text, 'r|' || r.priority || '|' || r.position || '|' || r.queue)
                  when l.id is not null
                    then pg_notify($5::text, 'd|' || floor(date_part('epoch', l.run_at) * 1000)::bigint) end,
             s.state, (select id from noted), s.barred, s.kind
        from seen s
        left join now_ready r on r.id = s.id
        left join later l on l.id = s.id`,

    /** Who holds a key. No row: nobody any more. */
    holder: sql<[key: string], [id: string]>`select job_id from ${table('unique_keys')} where key = $1`,
  }
}
