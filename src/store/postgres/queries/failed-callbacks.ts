import type { SweptRow } from '../dead-row.js'
import { columns, moved } from '../rows.js'
import { Fragment, fragment, Identifier, sql } from '../sql.js'
import type { AnsweredRow } from './callbacks.js'
import { wholeHistory, withEntry } from './history.js'
import { jobColumns } from './inspect.js'
import { isoTime } from './iso-time.js'
import { leftToWorkers, takenAs } from './served.js'

export type FailParams = [
  token: string,
  /** JSON text of the failure. */
  answer: string,
  answerId: string,
  channel: string,
  name: string,
  message: string,
  code: string | null,
  /** The message as its cause has it (src/job/cause.ts), and what that is called in lists. */
  causeText: string,
  title: string,
]

/** What a callback that is not answered in time is recorded as; its cause as src/job/cause.ts would make it. */
const LATE = {
  name: 'CallbackTimeout',
  causeText: 'the callback <text> was not answered in time',
} as const

/** The texts and columns by which the two statements differ. */
interface Failing {
  /** Rows of waiting_jobs that go, as `gone`, with what the rest asks for. */
  readonly gone: Fragment
  /** Whether a worker of the queue writes deaths of a job `g` with code of its own, and is left this one. */
  readonly isLeft: Fragment
  readonly state: Fragment
  readonly answer: Fragment
  readonly answerId: Fragment
  /** Of a death by it. */
  readonly reason: Fragment
  readonly name: Fragment
  /** Of the failed callback `g`. */
  readonly message: Fragment
  readonly code: Fragment
  readonly causeText: Fragment
  readonly title: Fragment
  readonly channel: Fragment
}

/** Jobs that wait for a callback which fails, as the attempt would that waited in them. */
export function failedCallbackQueries(schema: string) {
  const waiting = new Identifier(schema, 'waiting_jobs')
  const tokens = new Identifier(schema, 'callback_tokens')
  const callbacks = new Identifier(schema, 'callbacks')
  const gone = (which: Fragment) => fragment`
      gone as materialized (
        delete from ${waiting} w
         ${which}
        returning ${moved('w', {}, 'w.lease_id', 'w.started_at', 'w.progress', 'w.callback_id', 'w.callback_name', 'w.retry_delay_ms')}
      )`

  const timingOut = failing(schema, {
    gone: gone(
      fragment`where w.ctid = any (array(
               select ctid
                 from ${waiting}
                where waits_until <= now()
                order by waits_until
                limit $1
                  for update skip locked))`,
    ),
    isLeft: fragment`${takenAs('g')} = any (${leftToWorkers(schema)})`,
    state: fragment`'timed_out'`,
    answer: fragment`null`,
    answerId: fragment`null`,
    channel: fragment`$2::text`,
    reason: fragment`'callback_timeout'`,
    name: new Fragment(`'${LATE.name}'::text`),
    message: fragment`'the callback "' || g.callback_name || '" was not answered in time'`,
    code: fragment`null::text`,
    causeText: new Fragment(`'${LATE.causeText}'::text`),
    title: new Fragment(`'${LATE.name}: ${LATE.causeText}'`),
  })
  const timedOut = fragment`(select count(*) from gone),
             (select date_part('epoch', min(waits_until) - now()) * 1000 from ${waiting} where waits_until > now())`

  return {
    /**
     * waiting → retryable, or archived where no attempt is left (failed on a queue without a dead-letter queue, gone and
     * counted where that keeps none): the callback of the token $1 has failed, and that is charged to the attempt.
     *
     * Index: primary keys. Locks the waiting job: waits for whoever is taking it. No row back: the job does not wait for
     * this callback.
     */
    fail: sql<FailParams, AnsweredRow>`
      with ${failing(schema, {
        gone: gone(
          fragment`using ${tokens} t, ${callbacks} c
         where t.token = decode($1, 'hex') and c.id = t.callback_id and w.id = c.job_id and w.callback_id = c.id`,
        ),
        isLeft: fragment`false`,
        state: fragment`'failed'`,
        answer: fragment`$2::json`,
        answerId: fragment`$3::uuid`,
        channel: fragment`$4::text`,
        reason: fragment`'attempts_exhausted'`,
        name: fragment`$5::text`,
        message: fragment`$6::text`,
        code: fragment`$7::text`,
        causeText: fragment`$8::text`,
        title: fragment`$9::text`,
      })}
      select callback_id, callback_name, id, state from answered where (select count(*) from told) >= 0`,

    /**
     * waiting → retryable, or archived with `callback_timeout` where no attempt is left: callbacks that were not answered
     * in time; at most $1, the longest overdue first. → available where a worker of the queue writes such deaths with
     * code of its own: it claims the job, and gives it up without entering its handler.
     *
     * Index: waiting_until. Locks: skips rows somebody else is moving. Always answers one row: how many, and the ms until
     * the next times out, null when none does.
     */
    timeOut: sql<[limit: number, channel: string], [timedOut: string, nextInMs: string | null]>`
      with ${timingOut}
      select ${timedOut}
       where (select count(*) from told) >= 0`,

    /** The same, with the jobs that died of it: one row each, and one with nulls where none did. */
    timeOutTelling: sql<
      [limit: number, channel: string],
      [timedOut: string, nextInMs: string | null, ...SweptRow] | [timedOut: string, nextInMs: string | null, id: null]
    >`
      with ${timingOut}
      select summary.timed_out, summary.next_in_ms, ${jobColumns('job')}, job.payload, array_to_json(${new Fragment(wholeHistory('job'))}), null::json,
             job.progress, job.origin_id
        from (select ${timedOut} where (select count(*) from told) >= 0) as summary(timed_out, next_in_ms)
        left join (select ${moved(
          'r',
          {
            attempt: 'r.attempt + 1 as attempt',
            handbacks: '0 as handbacks',
            ...withEntry(schema, 'r', 'r.entry'),
          },
          'r.state',
          'r.started_at',
          'now() as finalized_at',
          'r.lease_id',
          'null::text as reason',
          "'callback_timeout' as dlq_reason",
          'now() as dlq_at',
          'r.run_lease as original_run_lease',
          'r.cause',
          `'${LATE.name}' as error_class`,
          'left(r.message, 500) as error_message',
          'r.progress',
          'null::json as callback',
        )}
                     from dying r) as job on true`,
  }
}

function failing(schema: string, it: Failing): Fragment {
  const table = (name: string) => new Identifier(schema, name)
  const changed = { attempt: 'r.attempt + 1', handbacks: '0', ...withEntry(schema, 'r', 'r.entry') }
  const exhausted = fragment`g.attempt + 1 >= g.max_attempts
               or g.attempt + g.crash_attempt + 1 - g.charge_base
                    >= g.max_attempts + coalesce((q.policy ->> 'crashLimit')::integer, 3)`
  const head = `(select head from ${table('ring_state').quoted} where ring = 'ready')`
  const nextPosition = `nextval('${table('job_ids').quoted}')`
  const delay = 'coalesce(r.retry_delay_ms, least(15000 * 2 ^ least(r.attempt, 20), 3600000))'
  const dueAt = `now() + ${delay} * interval '1 millisecond'`

  return fragment`${it.gone},
      judged as materialized (
        select g.*, over.is_over and not over.is_left as is_dead, over.is_over and over.is_left as is_left,
               coalesce(q.dlq_enabled, true) as dlq_enabled,
               ${table('effective_retention')}(g.retention, q.retention, 'failed', 259200000) as keep_ms,
               ${it.message} as message
          from gone g
          left join ${table('queues')} q on q.queue = g.queue,
               lateral (select ${exhausted} as is_over, ${it.isLeft} as is_left) as over
      ),
      settled as (
        update ${table('callbacks')} c
           set state = ${it.state}, answer = ${it.answer}, answer_id = ${it.answerId}, settled_at = now(),
               charged_attempt = case when not j.is_left then j.attempt end
          from judged j
         where c.id = j.callback_id
      ),
      causes as materialized (
        select queue, kind, ${table('cause_for')}(queue, kind, own) as cause
          from (select distinct queue, kind, left(encode(sha256(convert_to(
                         '[' || to_json(kind) || ',' || to_json(${it.name}) || ',' || to_json(${it.causeText}) || ']',
                         'UTF8')), 'hex'), 16) as own
                  from judged
                 where is_dead) as c
      ),
      ruled as materialized (
        select j.*, c.cause,
               case when j.is_left then 'available'
                    when not j.is_dead then 'retryable'
                    when j.dlq_enabled then 'archived'
                    when coalesce(j.keep_ms, 1) > 0 then 'failed'
                    else 'gone' end as state,
               json_build_object(
                 'type', 'callback_failed', 'at', ${isoTime('now()')}, 'started_at', ${isoTime('j.started_at')},
                 'generation', j.generation, 'attempt', j.attempt, 'lease_id', j.lease_id::text, 'worker', null,
                 'name', ${it.name}, 'message', j.message, 'stack', null, 'code', ${it.code}, 'cause', '[]'::json,
                 'truncated', false, 'callback', j.callback_name)::text as entry
          from judged j
          left join causes c on j.is_dead and c.queue = j.queue and c.kind = j.kind
      ),
      dying as materialized (select * from ruled where is_dead),
      freed as (
        delete from ${table('unique_keys')} k
         using dying d
         where d.unique_key is not null and k.key = d.unique_key and k.job_id = d.id
      ),
      entered as (
        insert into ${table('ready_entries')} (${columns('position', 'slot')})
        select ${moved('r', {}, nextPosition, head)}
          from ruled r
         where r.state = 'available'
        returning priority, position, queue
      ),
      later as (
        insert into ${table('deferred_jobs')} (${columns('state', 'due_at', 'started_at')})
        select ${moved('r', { ...changed, run_at: dueAt }, "'retryable'", dueAt, 'r.started_at')}
          from ruled r
         where r.state = 'retryable'
        returning due_at
      ),
      dead as (
        insert into ${table('dlq_entries')}
               (${columns('dlq_at', 'dlq_reason', 'original_run_lease', 'cause', 'error_class', 'error_message', 'dlq_xid', 'retain_from', 'lease_id', 'started_at', 'progress')})
        select ${moved('r', changed, 'now()', it.reason.quoted, 'r.run_lease', 'r.cause', it.name.quoted, 'left(r.message, 500)', 'pg_current_xact_id()', 'now()', 'r.lease_id', 'r.started_at', 'r.progress')}
          from dying r
         where r.state = 'archived'
      ),
      failed as (
        insert into ${table('terminal_entries')}
               (${columns('state', 'retention_class', 'finalized_at', 'started_at', 'lease_id', 'failed_xid', 'reason', 'cause', 'error_class', 'error_message', 'progress')})
        select ${moved('r', changed, "'failed'", `${table('retention_class').quoted}(r.keep_ms)`, 'now()', 'r.started_at', 'r.lease_id', 'pg_current_xact_id()', it.reason.quoted, 'r.cause', it.name.quoted, 'left(r.message, 500)', 'r.progress')}
          from dying r
         where r.state = 'failed'
      ),
      tagged as (
        insert into ${table('dlq_tags')} (tag, dlq_at, id)
        select distinct tag, now(), r.id from dying r, unnest(r.tags) as tag where r.state = 'archived'
      ),
      known as (
        insert into ${table('dlq_causes')} (queue, cause, kind, reason, error_class, title, sample_id, first_at, last_at)
        select distinct on (queue, cause) queue, cause, kind, ${it.reason}, ${it.name}, ${it.title}, id, now(), now()
          from dying
         where state = 'archived'
         order by queue, cause, id
        on conflict (queue, cause) do nothing
      ),
      counts as (
        insert into ${table('cause_deltas')} (queue, cause, n)
        select queue, cause, count(*) from dying where state = 'archived' group by queue, cause
      ),
      counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select queue, kind, ${it.reason}, case state when 'archived' then 'arrived' else state end, count(*)
          from dying
         group by queue, kind, state
      ),
      events as (
        insert into ${table('event_outbox')} (type, job_id, queue, kind, generation, reason, cause, message)
        select 'died', id, queue, kind, generation, ${it.reason}, cause, left(message, 500) from dying
      ),
      told as (
        select pg_notify(${it.channel}, 'd|' || floor(date_part('epoch', min(due_at)) * 1000)::bigint)
          from later
        having count(*) > 0
         union all
        select pg_notify(${it.channel}, 'r|' || priority || '|' || min(position) || '|' || queue)
          from entered
         group by priority, queue
      ),
      answered as materialized (select callback_id, callback_name, id, state from ruled)`
}
