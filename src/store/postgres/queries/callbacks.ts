import { columns, moved } from '../rows.js'
import { fragment, Identifier, join, sql } from '../sql.js'

/** Where a job can be whose callback may still be needed by a later run, besides waiting for this very callback. */
const LIVE_OR_HELD = ['leases', 'ready_entries', 'deferred_jobs', 'waiting_jobs', 'held_entries'] as const

export type OpenRow = [id: string, state: string, answer: string | null, waitsUntilMs: string | null]
/** The state is null where the job is where it was. */
export type AnsweredRow = [callbackId: string, name: string, jobId: string, jobState: string | null]
export type ExtendedRow = [...AnsweredRow, waitsUntilMs: string | null]
export type LookRow = [
  callbackId: string,
  name: string,
  jobId: string,
  generation: string,
  state: string,
  settledAtMs: string | null,
  answer: string | null,
  answerId: string | null,
]

/**
 * Callbacks and their answers.
 *
 * A job that waits is answered by taking its row in waiting_jobs: that row is what answers, time-outs, heartbeats, cancels
 * and deadlines contend for. Before it waits, the row in callbacks is; settling an attempt that waits writes it (settle.ts),
 * so an answer and a wait that meet see each other: whichever is second finds what the first did, or finds nothing and
 * looks again in a new statement.
 */
export function callbackQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const callbacks = table('callbacks')
  const tokens = table('callback_tokens')
  const waiting = table('waiting_jobs')
  const head = `(select head from ${table('ring_state').quoted} where ring = 'ready')`
  const nextPosition = `nextval('${table('job_ids').quoted}')`
  const isNeeded = join(
    LIVE_OR_HELD.map(
      (place) => fragment`exists (select from ${table(place)} j where j.id = c.job_id and j.generation = c.generation)`,
    ),
    ' or ',
  )
  /** The callback of the token $1 that no job waits for yet. */
  const early = fragment`t.token = decode($1, 'hex') and c.id = t.callback_id and c.state = 'open' and not c.waiting
           and (${isNeeded})`
  /** The waiting job of the token $1. */
  const awaited = fragment`t.token = decode($1, 'hex') and c.id = t.callback_id and w.id = c.job_id and w.callback_id = c.id`

  return {
    /**
     * The callback $3 of a job that $2 leases, made where there is none, or where the newest has failed and was charged;
     * and a token for it.
     *
     * Index: leases_N_id, the unique one on (job_id, generation, name, round). Two calls of one handler meet at that
     * index, and both get the one row. No row back: the lease is lost.
     */
    open: sql<[jobId: string, leaseId: string, name: string, token: string, timeoutMs: number | null], OpenRow>`
      with leased as materialized (
        select l.id, l.attempt, l.generation
          from ${table('leases')} l
         where l.id = $1::bigint and l.lease_id = $2::bigint
      ),
      newest as materialized (
        select c.round, c.state in ('failed', 'timed_out') and c.charged_attempt < l.attempt as is_spent
          from leased l
          join ${callbacks} c on c.job_id = l.id and c.generation = l.generation and c.name = $3
         order by c.round desc
         limit 1
      ),
      opened as (
        insert into ${callbacks} (job_id, generation, name, round, timeout_ms, waits_until)
        select l.id, l.generation, $3,
               coalesce((select case when is_spent then round + 1 else round end from newest), 1),
               $5::bigint, now() + $5::bigint * interval '1 millisecond'
          from leased l
        on conflict (job_id, generation, name, round) do update set name = excluded.name
        returning id, state, answer, waits_until
      ),
      named as (
        insert into ${tokens} (token, callback_id) select decode($4, 'hex'), id from opened
        on conflict do nothing
      )
      select id, state, answer, date_part('epoch', waits_until) * 1000 from opened`,

    /**
     * What has become of callback $3; a failure is charged to this attempt from now on.
     *
     * Index: leases_N_id, primary key. No row back: the lease is lost.
     */
    answer: sql<[jobId: string, leaseId: string, callbackId: string], [state: string, answer: string | null]>`
      with leased as materialized (
        select l.id, l.attempt from ${table('leases')} l where l.id = $1::bigint and l.lease_id = $2::bigint
      ),
      charged as (
        update ${callbacks} c
           set charged_attempt = l.attempt
          from leased l
         where c.id = $3::bigint and c.job_id = l.id and c.state in ('failed', 'timed_out') and c.charged_attempt is null
      )
      select c.state, c.answer
        from leased l
        join ${callbacks} c on c.id = $3::bigint and c.job_id = l.id`,

    /**
     * The callback that the leased job has not had answered in time, where it was left to the worker to give the job up;
     * that is charged to this attempt from now on. However often it is asked, it answers the same.
     *
     * Index: leases_N_id, the unique one on (job_id, generation, name, round). No row: there is none, or the lease is lost.
     */
    late: sql<[jobId: string, leaseId: string], [name: string]>`
      with leased as materialized (
        select l.id, l.attempt, l.generation from ${table('leases')} l where l.id = $1::bigint and l.lease_id = $2::bigint
      )
      update ${callbacks} c
         set charged_attempt = l.attempt
        from leased l
       where c.job_id = l.id and c.generation = l.generation and c.state = 'timed_out'
         and coalesce(c.charged_attempt, l.attempt) = l.attempt
      returning c.name`,

    /**
     * waiting → available, at the end of its priority.
     *
     * Index: primary keys. Locks the waiting job: waits for whoever is taking it. No row back: the job does not wait for
     * this callback.
     */
    complete: sql<[token: string, answer: string, answerId: string, channel: string], AnsweredRow>`
      with gone as materialized (
        delete from ${waiting} w
         using ${tokens} t, ${callbacks} c
         where ${awaited}
        returning ${moved('w', {}, 'w.callback_id', 'w.callback_name')}
      ),
      settled as (
        update ${callbacks} c
           set state = 'completed', answer = $2::json, answer_id = $3::uuid, settled_at = now()
          from gone g
         where c.id = g.callback_id
      ),
      entered as (
        insert into ${table('ready_entries')} (${columns('position', 'slot')})
        select ${moved('g', {}, nextPosition, head)}
          from gone g
        returning priority, position, queue
      ),
      told as (
        select pg_notify($4, 'r|' || priority || '|' || position || '|' || queue) from entered
      )
      select callback_id, callback_name, id, 'available' from gone where (select count(*) from told) >= 0`,

    /**
     * Keeps an answer that comes before the job waits for it.
     *
     * Index: primary keys, those on id of the places. Locks the callback. No row back: it has an answer, or the job waits
     * for it, or needs it no more.
     */
    keep: sql<[token: string, state: string, answer: string, answerId: string], AnsweredRow>`
      update ${callbacks} c
         set state = $2, answer = $3::json, answer_id = $4::uuid, settled_at = now()
        from ${tokens} t
       where ${early}
      returning c.id, c.name, c.job_id, null`,

    /**
     * Moves the time-out of a job that waits to $2 ms from now, if that is later.
     *
     * Index: primary keys. Locks the waiting job. No row back: the job does not wait for this callback.
     */
    extendWaiting: sql<[token: string, timeoutMs: number | null], ExtendedRow>`
      with extended as (
        update ${waiting} w
           set waits_until = ${LATER('w')}
          from ${tokens} t, ${callbacks} c
         where ${awaited}
        returning w.id, w.callback_id, w.callback_name, w.waits_until
      ),
      noted as (
        update ${callbacks} c set waits_until = e.waits_until from extended e where c.id = e.callback_id
      )
      select callback_id, callback_name, id, 'waiting', date_part('epoch', waits_until) * 1000 from extended`,

    /** The same before the job waits. Locks the callback. No row back: as for `keep`. */
    extendEarly: sql<[token: string, timeoutMs: number | null], ExtendedRow>`
      update ${callbacks} c
         set waits_until = ${LATER('c')}
        from ${tokens} t
       where ${early}
      returning c.id, c.name, c.job_id, null, date_part('epoch', c.waits_until) * 1000`,

    /** What a token belongs to. No row: to nothing. Index: primary keys. */
    look: sql<[token: string], LookRow>`
      select c.id, c.name, c.job_id, c.generation, c.state, date_part('epoch', c.settled_at) * 1000, c.answer, c.answer_id
        from ${tokens} t
        join ${callbacks} c on c.id = t.callback_id
       where t.token = decode($1, 'hex')`,
  }
}

/** $2 ms from now, or as long as it was made for; never earlier than it is, and never where it has no end. */
function LATER(alias: 'c' | 'w') {
  const now = new Identifier(alias, 'waits_until')
  return fragment`case when ${now} is not null
                       then greatest(${now}, now() + coalesce($2::bigint, c.timeout_ms) * interval '1 millisecond') end`
}
