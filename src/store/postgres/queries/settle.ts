import { columns, leading, moved } from '../rows.js'
import { Fragment, fragment, Identifier, type Statement, sql } from '../sql.js'
import { SLOTS } from './claim.js'
import { noticesOfHeld } from './held.js'
import { entryAdded, withEntry } from './history.js'
import { deleteSpots } from './spots.js'

/** Texts joined by U+001F, a missing one as U+001E. */
type Texts = string
/** An array literal of numbers. */
type Numbers = string

type SettledRow = [id: string, state: string]

export type DeathParams = [
  ids: Numbers,
  leaseIds: Numbers,
  reasons: Texts,
  charges: Numbers,
  entries: Texts,
  causes: Texts,
  errorClasses: Texts,
  errorMessages: Texts,
  titles: Texts,
  /** Whether any of them has reported progress. */
  reported: boolean,
]

export interface SettleStatements {
  readonly complete: Statement<[ids: Numbers, leaseIds: Numbers, results: Texts], SettledRow>
  readonly retry: Statement<
    [ids: Numbers, leaseIds: Numbers, delays: Numbers, charges: Numbers, entries: Texts],
    SettledRow
  >
  readonly dead: Statement<DeathParams, SettledRow>
  readonly snooze: Statement<[ids: Numbers, leaseIds: Numbers, delays: Numbers], SettledRow>
  readonly revoke: Statement<[ids: Numbers, leaseIds: Numbers], SettledRow>
  readonly handback: Statement<[ids: Numbers, leaseIds: Numbers], SettledRow>
  readonly quarantine: Statement<[ids: Numbers, leaseIds: Numbers], SettledRow>
  readonly undecodable: Statement<[ids: Numbers, leaseIds: Numbers, reasons: Texts, entries: Texts], SettledRow>
  readonly wait: Statement<
    [
      ids: Numbers,
      leaseIds: Numbers,
      callbackIds: Numbers,
      retryDelays: Numbers,
      /** Whether any of them has reported progress. */
      reported: boolean,
      channel: string,
    ],
    SettledRow
  >
}

/**
 * running → wherever an attempt ended, for the worker that still holds the leases.
 *
 * Each statement deletes the lease rows by (id, lease_id) and inserts what they become; at most 500 rows, sorted by the
 * caller, so that two batches cannot wait for each other. Index: leases_N_id. An id that does not come back was not
 * there under that lease: the caller looks in every slot before it calls the lease lost. A row that is being carried to
 * another slot answers 40001, and the statement is repeated.
 */
export function settleQueries(schema: string) {
  return {
    /** On the slot's own table: through the parent a generic plan would lock all eight. */
    bySlot: SLOTS.map((slot) => {
      const leases = new Identifier(schema, `leases_${slot}`)
      return settleFrom(schema, takenFrom(leases))
    }),
    /** Over every slot, for what was not where the worker left it. */
    everywhere: settleFrom(schema, takenAnywhere(new Identifier(schema, 'leases'))),

    /** Which of these ends were written by an earlier try whose answer was lost. */
    alreadyApplied: sql<[ids: Numbers, leaseIds: Numbers], SettledRow>`
      with given as (select * from unnest($1::bigint[], $2::bigint[]) as g(id, lease_id))
      select t.id, t.state
        from given g join ${new Identifier(schema, 'terminal_entries')} t on t.id = g.id and t.lease_id = g.lease_id
       where t.state <> 'cancelled'
      union all
      select d.id, 'archived'
        from given g join ${new Identifier(schema, 'dlq_entries')} d on d.id = g.id and d.lease_id = g.lease_id
      union all
      select c.job_id, 'waiting'
        from given g join ${new Identifier(schema, 'callbacks')} c on c.job_id = g.id and c.wait_lease_id = g.lease_id`,

    /** Forgets what attempts reported, once they have ended. */
    forgetProgress: sql<[ids: Numbers, leaseIds: Numbers], []>`
      delete from ${new Identifier(schema, 'attempt_state')} s
       using unnest($1::bigint[], $2::bigint[]) as g(id, lease_id)
       where s.job_id = g.id and s.lease_id = g.lease_id`,

    /** Says in the history of a death just written what could not be done along with it. */
    noteDeath: sql<[id: string, leaseId: string, entry: string], []>`
      with archived as (
        update ${new Identifier(schema, 'dlq_entries')} d
           set ${new Fragment(entryAdded(schema, 'd', '$3'))}
         where id = $1 and lease_id = $2
      )
      update ${new Identifier(schema, 'terminal_entries')} t
         set ${new Fragment(entryAdded(schema, 't', '$3'))}
       where id = $1 and lease_id = $2 and state = 'failed'`,

    /** Which transaction this is; fails in one that can only be rolled back. */
    transactionId: sql<[], [id: string]>`
      select pg_current_xact_id()`,

    /** Limits what a transaction may take; these last until its end. */
    limitTransaction: sql<[ms: string], [statement: string, idle: string]>`
      select set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $1, true)`,

    /** A cancelled job's handler has ended. */
    handlerEnded: sql<[id: string, leaseId: string], []>`
      update ${new Identifier(schema, 'terminal_entries')}
         set handler_running = false
       where id = $1 and lease_id = $2 and handler_running`,
  }
}

/** What several parts of a settling statement look at. */
const FRONT = ['id', 'lease_id', 'queue', 'unique_key', 'retention', 'kind'] as const

/** By ctid, looked up row by row: a join would read the whole slot, and a slot that a long reader keeps is long. */
function takenFrom(leases: Identifier): Fragment {
  return fragment`
      spots as materialized (
        select held.ctid as spot
          from given g,
               lateral (select l.ctid from ${leases} l
                         where l.id = g.id and l.lease_id = g.lease_id limit 1) as held
      ),
      taken as (
        ${deleteSpots(leases)}
        returning ${leading(FRONT, 'position', 'lease_id', 'claimed_at')}
      )`
}

/** Over all slots a ctid means nothing: eight rows may have the same. */
function takenAnywhere(leases: Identifier): Fragment {
  return fragment`
      taken as (
        delete from ${leases} l
         using given g
         where l.id = g.id and l.lease_id = g.lease_id
        returning ${moved('l', {}, 'l.position', 'l.lease_id', 'l.claimed_at')}
      )`
}

function settleFrom(schema: string, taken: Fragment): SettleStatements {
  const table = (name: string) => new Identifier(schema, name)
  const retentionClass = table('retention_class').quoted
  const kept = table('effective_retention')
  const keepMs = `${kept.quoted}(t.retention, p.retention, 'completed', 86400000)`
  const freed = fragment`
      freed as (
        delete from ${table('unique_keys')} k
         using gone g
         where g.unique_key is not null and k.key = g.unique_key and k.job_id = g.id
      )`
  // Once for each queue: a batch has few.
  const policies = fragment`
      policies as materialized (
        select d.queue, coalesce(q.dlq_enabled, true) as dlq_enabled, q.retention
          from (select distinct queue from gone) d
          left join ${table('queues')} q on q.queue = d.queue
      )`
  const head = `(select head from ${table('ring_state').quoted} where ring = 'ready')`
  const nextPosition = `nextval('${table('job_ids').quoted}')`

  return {
    /**
     * running → completed; on a queue that keeps none, gone and counted. The statement a worker runs most: a row is put
     * together once on its way from the lease to the history.
     */
    complete: sql`
      with given as (
        select *
          from unnest($1::bigint[], $2::bigint[], string_to_array($3, E'\x1f', E'\x1e')) as g(id, lease_id, result)
      ),
      ${taken},
      freed as (
        delete from ${table('unique_keys')} k
         using taken t
         where t.unique_key is not null and k.key = t.unique_key and k.job_id = t.id
      ),
      policies as materialized (
        select d.queue, q.retention, d.own or (q.retention ->> 'completed')::bigint <= 0 as may_keep_none
          from (select queue, bool_or(retention is not null) as own from taken group by queue) d
          left join ${table('queues')} q on q.queue = d.queue
      ),
      kept as (
        insert into ${table('terminal_entries')}
               (${columns('state', 'retention_class', 'finalized_at', 'started_at', 'lease_id', 'result')})
        select ${moved(
          't',
          { handbacks: '0' },
          "'completed'",
          `${retentionClass}(${keepMs})`,
          'now()',
          't.claimed_at',
          't.lease_id',
          'g.result::json',
        )}
          from taken t
          join given g on g.id = t.id and g.lease_id = t.lease_id
          join policies p on p.queue = t.queue
         where coalesce(${new Fragment(keepMs)}, 1) > 0
      ),
      counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select t.queue, t.kind, 'completed', 'gone', count(*)
          from taken t
          join policies p on p.queue = t.queue
         where (select bool_or(may_keep_none) from policies) and ${new Fragment(keepMs)} <= 0
         group by t.queue, t.kind
      )
      select id, 'completed' from taken`,

    /** running → retryable: the attempt is charged and recorded. */
    retry: sql`
      with given as (
        select *
          from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::integer[], string_to_array($5, E'\x1f', E'\x1e'))
               as g(id, lease_id, delay_ms, charge, entry)
      ),
      ${taken},
      gone as materialized (
        select ${moved('l', {}, 'l.claimed_at', 'g.delay_ms', 'g.charge', 'g.entry')}
          from taken l
          join given g on g.id = l.id and g.lease_id = l.lease_id
      ),
      later as (
        insert into ${table('deferred_jobs')} (${columns('state', 'due_at', 'started_at')})
        select ${moved(
          'g',
          {
            attempt: 'g.attempt + g.charge',
            handbacks: '0',
            run_at: "now() + g.delay_ms * interval '1 millisecond'",
            ...withEntry(schema, 'g', 'g.entry', true),
          },
          "'retryable'",
          "now() + g.delay_ms * interval '1 millisecond'",
          'g.claimed_at',
        )}
          from gone g
      )
      select id, 'retryable' from gone`,

    /**
     * running → archived, or failed on a queue without a dead-letter queue. The row is the stored job; the worker adds
     * only why. What lists, groups, counts and notices need is written in the same statement.
     */
    dead: sql`
      with given as (
        select *
          from unnest($1::bigint[], $2::bigint[], string_to_array($3, E'\x1f'), $4::integer[],
                      string_to_array($5, E'\x1f', E'\x1e'), string_to_array($6, E'\x1f'),
                      string_to_array($7, E'\x1f', E'\x1e'), string_to_array($8, E'\x1f', E'\x1e'),
                      string_to_array($9, E'\x1f', E'\x1e'))
               as g(id, lease_id, reason, charge, entry, given_cause, error_class, error_message, title)
      ),
      ${taken},
      gone as materialized (
        select ${moved(
          'l',
          {
            attempt: 'l.attempt + g.charge as attempt',
            handbacks: '0 as handbacks',
            ...withEntry(schema, 'l', 'g.entry', true),
          },
          'l.lease_id',
          'l.claimed_at',
          'g.reason',
          'g.given_cause',
          'g.error_class',
          'g.error_message',
          'g.title',
        )}
          from taken l
          join given g on g.id = l.id and g.lease_id = l.lease_id
      ),
      ${freed},
      ${policies},
      causes as materialized (
        select c.queue, c.given_cause, ${new Identifier(schema, 'cause_for')}(c.queue, c.kind, c.given_cause) as cause
          from (select distinct queue, kind, given_cause from gone) c
      ),
      ruled as materialized (
        select g.*, c.cause, s.progress, q.dlq_enabled,
               ${kept}(g.retention, q.retention, 'failed', 259200000) as keep_ms
          from gone g
          join causes c on c.queue = g.queue and c.given_cause = g.given_cause
          join policies q on q.queue = g.queue
          left join lateral (select a.progress from ${table('attempt_state')} a
                              where $10 and a.job_id = g.id and a.lease_id = g.lease_id limit 1) s on true
      ),
      forgotten as (
        delete from ${table('attempt_state')} s using gone g where $10 and s.job_id = g.id and s.lease_id = g.lease_id
      ),
      dead as (
        insert into ${table('dlq_entries')}
               (${columns('dlq_at', 'dlq_reason', 'original_run_lease', 'cause', 'error_class', 'error_message', 'dlq_xid', 'retain_from', 'lease_id', 'started_at', 'progress')})
        select ${moved('r', {}, 'now()', 'r.reason', 'r.run_lease', 'r.cause', 'r.error_class', 'r.error_message', 'pg_current_xact_id()', 'now()', 'r.lease_id', 'r.claimed_at', 'r.progress')}
          from ruled r
         where r.dlq_enabled
      ),
      failed as (
        insert into ${table('terminal_entries')}
               (${columns('state', 'retention_class', 'finalized_at', 'started_at', 'lease_id', 'failed_xid', 'reason', 'cause', 'error_class', 'error_message', 'progress')})
        select ${moved('r', {}, "'failed'", `${retentionClass}(r.keep_ms)`, 'now()', 'r.claimed_at', 'r.lease_id', 'pg_current_xact_id()', 'r.reason', 'r.cause', 'r.error_class', 'r.error_message', 'r.progress')}
          from ruled r
         where not r.dlq_enabled and coalesce(r.keep_ms, 1) > 0
      ),
      tagged as (
        insert into ${table('dlq_tags')} (tag, dlq_at, id)
        select distinct tag, now(), r.id
          from ruled r, unnest(r.tags) as tag
         where r.dlq_enabled and r.tags is not null
      ),
      known as (
        insert into ${table('dlq_causes')} (queue, cause, kind, reason, error_class, title, sample_id, first_at, last_at)
        select distinct on (queue, cause) queue, cause, kind, reason, error_class, title, id, now(), now()
          from ruled
         where dlq_enabled
         order by queue, cause, id
        on conflict (queue, cause) do nothing
      ),
      counts as (
        insert into ${table('cause_deltas')} (queue, cause, n)
        select queue, cause, count(*) from ruled where dlq_enabled group by queue, cause
      ),
      counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select queue, kind, reason, case when dlq_enabled then 'arrived' when coalesce(keep_ms, 1) > 0 then 'failed' else 'gone' end,
               count(*)
          from ruled
         group by 1, 2, 3, 4
      ),
      events as (
        insert into ${table('event_outbox')} (type, job_id, queue, kind, generation, reason, cause, message)
        select 'died', id, queue, kind, generation, reason, cause, left(error_message, 500) from ruled
      )
      select id, case when dlq_enabled then 'archived' when coalesce(keep_ms, 1) > 0 then 'failed' else 'gone' end from ruled`,

    /** running → scheduled: not a failure, so nothing is charged. */
    snooze: sql`
      with given as (
        select * from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as g(id, lease_id, delay_ms)
      ),
      ${taken},
      gone as materialized (
        select ${moved('l', {}, 'l.claimed_at', 'g.delay_ms')}
          from taken l
          join given g on g.id = l.id and g.lease_id = l.lease_id
      ),
      later as (
        insert into ${table('deferred_jobs')} (${columns('state', 'due_at', 'started_at')})
        select ${moved(
          'g',
          { handbacks: '0', run_at: "now() + g.delay_ms * interval '1 millisecond'" },
          "'scheduled'",
          "now() + g.delay_ms * interval '1 millisecond'",
          'g.claimed_at',
        )}
          from gone g
      )
      select id, 'scheduled' from gone`,

    /** running → gone, counted. */
    revoke: sql`
      with given as (
        select * from unnest($1::bigint[], $2::bigint[]) as g(id, lease_id)
      ),
      ${taken},
      gone as materialized (
        select l.id, l.queue, l.kind, l.unique_key
          from taken l
          join given g on g.id = l.id and g.lease_id = l.lease_id
      ),
      ${freed},
      counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select queue, kind, 'revoked', 'gone', count(*) from gone group by queue, kind
      )
      select id, 'gone' from gone`,

    /** running → available, at its old position, uncharged; the tenth time in a row → quarantined. */
    handback: sql`
      with given as (
        select * from unnest($1::bigint[], $2::bigint[]) as g(id, lease_id)
      ),
      ${taken},
      gone as materialized (
        select ${moved('l', { handbacks: 'l.handbacks + 1 as handbacks' }, 'l.position', 'l.claimed_at', 'l.lease_id')}
          from taken l
          join given g on g.id = l.id and g.lease_id = l.lease_id
      ),
      back as (
        insert into ${table('ready_entries')} (${columns('position', 'slot')})
        select ${moved('g', {}, 'g.position', head)}
          from gone g
         where g.handbacks < 10
      ),
      held as (
        insert into ${table('held_entries')}
               (${columns('state', 'held_at', 'held_reason', 'fingerprint', 'lease_id', 'started_at')})
        select ${moved(
          'g',
          {
            ...withEntry(
              schema,
              'g',
              `json_build_object('type', 'handed_back', 'at', now(), 'generation', g.generation, 'attempt', g.attempt, 'handbacks', g.handbacks)::text`,
            ),
          },
          "'quarantined'",
          'now()',
          "'handed_back'",
          "md5(g.kind || E'\\n' || g.payload::text)",
          'g.lease_id',
          'g.claimed_at',
        )}
          from gone g
         where g.handbacks >= 10
        returning id, queue, kind, generation, held_reason, fingerprint
      ),
      ${noticesOfHeld(schema, 'held')}
      select id, case when handbacks < 10 then 'available' else 'quarantined' end from gone`,

    /**
     * running → quarantined: its fingerprint is, and the handler was not entered; nothing is charged. → available, at its
     * old position, where it was released meanwhile. Locks the conviction, so that a release that begins meanwhile finds
     * the job among those it lets go.
     */
    quarantine: sql`
      with given as (
        select * from unnest($1::bigint[], $2::bigint[]) as g(id, lease_id)
      ),
      ${taken},
      gone as materialized (
        select ${moved('l', {}, 'l.position', 'l.claimed_at', 'l.lease_id', "md5(l.kind || E'\\n' || l.payload::text) as fingerprint")}
          from taken l
          join given g on g.id = l.id and g.lease_id = l.lease_id
      ),
      standing as materialized (
        select q.fingerprint
          from ${table('quarantine')} q
         where q.release_id is null and q.fingerprint in (select fingerprint from gone)
         order by q.fingerprint
           for share of q
      ),
      held as (
        insert into ${table('held_entries')}
               (${columns('state', 'held_at', 'held_reason', 'fingerprint', 'lease_id', 'started_at')})
        select ${moved('g', {}, "'quarantined'", 'now()', "'fingerprint'", 'g.fingerprint', 'g.lease_id', 'g.claimed_at')}
          from gone g
         where g.fingerprint in (select fingerprint from standing)
        returning id, queue, kind, generation, held_reason, fingerprint
      ),
      ${noticesOfHeld(schema, 'held')},
      back as (
        insert into ${table('ready_entries')} (${columns('position', 'slot')})
        select ${moved('g', {}, 'g.position', head)}
          from gone g
         where g.fingerprint not in (select fingerprint from standing)
      )
      select id, case when fingerprint in (select fingerprint from standing) then 'quarantined' else 'available' end
        from gone`,

    /** running → undecodable: parked until code that can read it is there; nothing is charged. */
    undecodable: sql`
      with given as (
        select *
          from unnest($1::bigint[], $2::bigint[], string_to_array($3, E'\x1f'), string_to_array($4, E'\x1f'))
               as g(id, lease_id, held_reason, entry)
      ),
      ${taken},
      gone as materialized (
        select ${moved('l', {}, 'l.claimed_at', 'l.lease_id', 'g.held_reason', 'g.entry')}
          from taken l
          join given g on g.id = l.id and g.lease_id = l.lease_id
      ),
      held as (
        insert into ${table('held_entries')}
               (${columns('state', 'held_at', 'held_reason', 'lease_id', 'started_at')})
        select ${moved(
          'g',
          { handbacks: '0', ...withEntry(schema, 'g', 'g.entry') },
          "'undecodable'",
          'now()',
          'g.held_reason',
          'g.lease_id',
          'g.claimed_at',
        )}
          from gone g
      ),
      events as (
        insert into ${table('event_outbox')} (type, job_id, queue, kind, generation, reason)
        select 'undecodable', id, queue, kind, generation, left(held_reason, 500) from gone
      ),
      counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select queue, kind, 'undecodable', 'undecodable', count(*) from gone group by queue, kind
      )
      select id, 'undecodable' from gone`,

    /**
     * running → waiting, for a callback; → available, at the end of its priority, where that has an answer by now.
     *
     * Locks and writes the callback, so that an answer under way is waited for and seen, and one that comes after finds
     * the job waiting (queries/callbacks.ts). Where the callback is no more the handler is entered again and makes another.
     */
    wait: sql`
      with given as (
        select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
               as g(id, lease_id, callback_id, retry_delay_ms)
      ),
      ${taken},
      asked as materialized (
        update ${table('callbacks')} c
           set waiting = c.state = 'open', wait_lease_id = t.lease_id
          from taken t
          join given g on g.id = t.id and g.lease_id = t.lease_id
         where c.id = g.callback_id and c.job_id = t.id
        returning c.id, c.job_id, c.name, c.waiting, c.waits_until
      ),
      gone as materialized (
        select ${moved('l', { handbacks: '0 as handbacks' }, 'l.lease_id', 'l.claimed_at', 'g.retry_delay_ms', 'a.id as callback_id', 'a.name as callback_name', 'a.waits_until', 'coalesce(a.waiting, false) as waits', 's.progress')}
          from taken l
          join given g on g.id = l.id and g.lease_id = l.lease_id
          left join asked a on a.job_id = l.id
          left join lateral (select p.progress from ${table('attempt_state')} p
                              where $5 and p.job_id = l.id and p.lease_id = l.lease_id limit 1) s on true
      ),
      forgotten as (
        delete from ${table('attempt_state')} s using gone g where $5 and s.job_id = g.id and s.lease_id = g.lease_id
      ),
      later as (
        insert into ${table('waiting_jobs')}
               (${columns('lease_id', 'started_at', 'waits_until', 'callback_id', 'callback_name', 'retry_delay_ms', 'progress')})
        select ${moved('g', {}, 'g.lease_id', 'g.claimed_at', 'g.waits_until', 'g.callback_id', 'g.callback_name', 'g.retry_delay_ms', 'g.progress')}
          from gone g
         where g.waits
      ),
      entered as (
        insert into ${table('ready_entries')} (${columns('position', 'slot')})
        select ${moved('g', {}, nextPosition, head)}
          from gone g
         where not g.waits
        returning priority, position, queue
      ),
      told as (
        select pg_notify($6, 'r|' || priority || '|' || min(position) || '|' || queue)
          from entered
         group by queue, priority
      )
      select id, case when waits then 'waiting' else 'available' end from gone where (select count(*) from told) >= 0`,
  }
}
