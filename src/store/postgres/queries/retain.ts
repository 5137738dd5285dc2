import { DEFAULT_POLICY } from '../../../job/policy.js'
import { Columns, type Fragment, fragment, Identifier, join, type Statement, sql, whole } from '../sql.js'
import { PLACES } from './check.js'
import { coldColumns, toCold } from './cold.js'

/** After which row (its time, as the store writes it) to look on, how many rows to look at, how many to delete. */
export type SweepParams = [after: string, looks: number, limit: number]
/** How many went, how many were looked at, and the time of the last of them. */
export type SweepRow = [deleted: string, looked: string, last: string | null]
export type Sweep = Statement<SweepParams, SweepRow>

/** Which sweeps have anything to look at. */
export type RetainLookRow = [
  terminal: string,
  terminalOwn: string,
  bin: string,
  held: string,
  requests: string,
  counters: string,
  aborts: string,
  crashes: string,
  endedWorkers: string,
  causes: string,
  idempotencyKeys: string,
  payloadVersions: string,
  callbacks: string,
  events: string,
  deliveries: string,
  triage: string,
  causeTriage: string,
  /** Whether any queue keeps what leaves in the cold archive. */
  isArchiving: string,
]

const DEFAULTS = DEFAULT_POLICY.retention

/**
 * Deletions of what outlived its retention, but for dead letters. A job's own retention comes before its queue's, that
 * before the default; JSON null keeps for good. Each statement looks at a bounded number of rows, oldest first, and
 * deletes a bounded number of them; rows that are kept longer than others of their age are passed over, and come up again
 * when the sweep has reached the end and begins anew. Every job that goes is counted in the same statement, and where
 * `isArchiving`, kept in the cold archive by it.
 */
export function retainQueries(schema: string, isArchiving = false) {
  const table = (name: string) => new Identifier(schema, name)
  const queues = table('queues')
  const counters = table('counters')
  const shortest = {
    terminal: shortestOf(queues, ['completed', 'failed', 'cancelled']),
    bin: shortestOf(queues, ['bin']),
    held: shortestOf(queues, ['held']),
  }
  const terminal = table('terminal_entries')
  const dlq = table('dlq_entries')
  const bin = table('dlq_bin')
  const held = table('held_entries')
  const keep = (alias: string, key: 'bin' | 'held') =>
    fragment`${table('effective_retention')}(${new Identifier(alias)}.retention, q.retention, ${LITERAL[key]}, ${msOf(DEFAULTS[key])})`
  /** What is returned of a row that goes, and what is done with it; without an archive the row itself is not read. */
  const keptOf = (source: 'terminal' | 'bin' | 'held', alias: string, few: Fragment, ...more: string[]) =>
    isArchiving
      ? { returned: coldColumns(alias, source, ...more), cold: fragment`${toCold(schema, source, 'expired')},` }
      : { returned: few, cold: fragment`` }

  const ended = keptOf('terminal', 't', fragment`t.queue, t.kind, t.state`)
  const binned = keptOf('bin', 'b', fragment`b.queue, b.kind`, 'b.discarded_at')
  const parked = keptOf('held', 'h', fragment`h.id, h.queue, h.kind, h.state, h.unique_key`)

  /** completed, failed, cancelled → gone, in one retention class. Index: terminal_age or terminal_own_retention. */
  const terminalSweep = (retentionClass: number, which: Fragment) =>
    sql<SweepParams, SweepRow>`
      with looked as materialized (
        select t.id, t.finalized_at as at, t.finalized_at + ${terminalKeep(schema, 't')} * interval '1 millisecond' as until
          from (select id, queue, state, retention, finalized_at
                  from ${terminal}
                 where retention_class = ${whole(retentionClass)} and finalized_at > $1::timestamptz and ${which}
                 order by finalized_at
                 limit $2) as t
          left join ${queues} q on q.queue = t.queue
      ),
      due as materialized (
        select t.id, t.finalized_at
          from looked l
          join ${terminal} t
            on t.retention_class = ${whole(retentionClass)} and t.finalized_at = l.at and t.id = l.id
         where l.until <= now()
         limit $3
           for update of t skip locked
      ),
      gone as (
        delete from ${terminal} t
         using due d
         where t.retention_class = ${whole(retentionClass)} and t.finalized_at = d.finalized_at and t.id = d.id
        returning ${ended.returned}
      ),
      ${ended.cold}
      ${expired(counters, fragment`g.state`)}
      select (select count(*) from gone), (select count(*) from looked), (select max(at)::text from looked)`

  /** discarded → gone. Index: bin_age or bin_own_retention. */
  const binSweep = (which: Fragment) =>
    sql<SweepParams, SweepRow>`
      with looked as materialized (
        select b.id, b.discarded_at as at, b.discarded_at + ${keep('b', 'bin')} * interval '1 millisecond' as until
          from (select id, queue, retention, discarded_at
                  from ${bin}
                 where discarded_at > $1::timestamptz and ${which}
                 order by discarded_at
                 limit $2) as b
          left join ${queues} q on q.queue = b.queue
      ),
      due as materialized (
        select b.id from looked l join ${bin} b on b.id = l.id
         where l.until <= now() limit $3 for update of b skip locked
      ),
      gone as (
        delete from ${bin} b using due where b.id = due.id returning ${binned.returned}
      ),
      ${binned.cold}
      ${expired(counters, fragment`'discarded'`)}
      select (select count(*) from gone), (select count(*) from looked), (select max(at)::text from looked)`

  /**
   * quarantined, undecodable → gone, only where a queue or the job says for how long; frees the unique key. Index: held_age
   * or held_own_retention.
   */
  const heldSweep = (which: Fragment) =>
    sql<SweepParams, SweepRow>`
      with looked as materialized (
        select h.id, h.held_at as at, h.held_at + ${keep('h', 'held')} * interval '1 millisecond' as until
          from (select id, queue, retention, held_at
                  from ${held}
                 where held_at > $1::timestamptz and ${which}
                 order by held_at
                 limit $2) as h
          left join ${queues} q on q.queue = h.queue
      ),
      due as materialized (
        select h.id from looked l join ${held} h on h.id = l.id
         where l.until <= now() limit $3 for update of h skip locked
      ),
      gone as (
        delete from ${held} h using due where h.id = due.id
        returning ${parked.returned}
      ),
      freed as (
        delete from ${table('unique_keys')} k
         using gone g
         where g.unique_key is not null and k.key = g.unique_key and k.job_id = g.id
      ),
      ${parked.cold}
      ${expired(counters, fragment`g.state`)}
      select (select count(*) from gone), (select count(*) from looked), (select max(at)::text from looked)`

  const eventsKept = fragment`now() - (select retention_ms from ${table('event_head')}) * interval '1 millisecond'`

  return {
    /** Which of the sweeps below have rows to look at, by one probe each. Always answers one row. */
    look: sql<[], RetainLookRow>`
      select exists (select from ${terminal} where finalized_at <= now() - ${shortest.terminal}),
             exists (select from ${terminal} where retention is not null),
             exists (select from ${bin} where discarded_at <= now() - ${shortest.bin})
               or exists (select from ${bin} where retention is not null),
             exists (select from ${held} where held_at <= now() - ${shortest.held})
               or exists (select from ${held} where retention is not null),
             exists (select from ${table('requests')} where at < now() - interval '1 hour'),
             exists (select from ${counters} where minute < now() - interval '90 days'),
             exists (select from ${table('aborts')} where at < now() - interval '1 hour'),
             exists (select from ${table('crashes')} where at < now() - interval '25 hours'),
             exists (select from ${table('ended_workers')} where ended_at < now() - interval '25 hours'),
             exists (select from ${table('dlq_causes')} where count = 0 and last_at < now() - interval '90 days'),
             exists (select from ${table('idempotency_keys')} where created_at < now() - interval '24 hours'),
             exists (select from ${table('payload_versions')} where edited_at < now() - interval '1 day'),
             exists (select from ${table('callbacks')} where created_at < now() - interval '1 day'),
             (select logged_at from ${table('event_log')} order by position limit 1) < ${eventsKept},
             exists (select from ${table('deliveries')} where ended_at < now() - interval '3 days'),
             exists (select from ${table('dlq_triage')} where updated_at < now() - interval '1 day'),
             exists (select from ${table('cause_triage')} where updated_at < now() - interval '1 year'),
             exists (select from ${queues} where policy ->> 'coldArchive' = 'true')`,

    /** By retention class, so that rows kept for years never stand before those kept for a day. */
    terminal: ([0, 1, 2, 3] as const).map((retentionClass) =>
      terminalSweep(retentionClass, fragment`finalized_at <= now() - ${shortest.terminal}`),
    ),
    /** Jobs with a retention of their own: it may be shorter than every queue's. */
    terminalOwn: ([0, 1, 2, 3] as const).map((retentionClass) =>
      terminalSweep(retentionClass, fragment`retention is not null`),
    ),

    bin: binSweep(fragment`discarded_at <= now() - ${shortest.bin}`),
    binOwn: binSweep(fragment`retention is not null`),
    held: heldSweep(fragment`held_at <= now() - ${shortest.held}`),
    heldOwn: heldSweep(fragment`retention is not null`),

    /**
     * What was said about dead letters that are nowhere any more, a day after it. Where one goes, it goes with it; this
     * is for those that were retried and ended otherwise. Index: triage_age, those on id.
     */
    triage: sql<SweepParams, SweepRow>`
      with looked as materialized (
        select job_id, updated_at as at
          from ${table('dlq_triage')}
         where updated_at > $1::timestamptz and updated_at < now() - interval '1 day'
         order by updated_at
         limit $2
      ),
      due as materialized (
        select l.job_id
          from looked l
         where ${nowhere(schema, 'l.job_id')}
         limit $3
      ),
      gone as (delete from ${table('dlq_triage')} t using due d where t.job_id = d.job_id returning 1)
      select (select count(*) from gone), (select count(*) from looked), (select max(at)::text from looked)`,

    /**
     * Versions of payloads whose job is nowhere any more, a day after the edit. Where a dead letter goes, by hand or by
     * retention, they go with it; this is for jobs that ended otherwise. Index: payload_versions_age, those on id.
     */
    payloadVersions: sql<SweepParams, SweepRow>`
      with looked as materialized (
        select job_id, version, edited_at as at
          from ${table('payload_versions')}
         where edited_at > $1::timestamptz and edited_at < now() - interval '1 day'
         order by edited_at
         limit $2
      ),
      due as materialized (
        select l.job_id, l.version
          from looked l
         where ${nowhere(schema, 'l.job_id')}
         limit $3
      ),
      gone as (
        delete from ${table('payload_versions')} v
         using due d
         where v.job_id = d.job_id and v.version = d.version
        returning 1
      )
      select (select count(*) from gone), (select count(*) from looked), (select max(at)::text from looked)`,

    /**
     * Callbacks whose job is nowhere any more, a day after they were made; their tokens go with them. Until then a token
     * is told that its job has left. Index: callbacks_age, those on id.
     */
    callbacks: sql<SweepParams, SweepRow>`
      with looked as materialized (
        select id, job_id, created_at as at
          from ${table('callbacks')}
         where created_at > $1::timestamptz and created_at < now() - interval '1 day'
         order by created_at
         limit $2
      ),
      due as materialized (
        select l.id
          from looked l
         where ${nowhere(schema, 'l.job_id')}
         limit $3
      ),
      gone as (
        delete from ${table('callbacks')} c using due d where c.id = d.id returning 1
      )
      select (select count(*) from gone), (select count(*) from looked), (select max(at)::text from looked)`,

    /** Bookkeeping that has served its time; no jobs. Each skips rows that are locked. */
    bookkeeping: {
      requests: forget(table('requests'), fragment`at < now() - interval '1 hour'`),
      counters: forget(counters, fragment`minute < now() - interval '90 days'`),
      idempotencyKeys: forget(table('idempotency_keys'), fragment`created_at < now() - interval '24 hours'`),
      // Along the positions, oldest first, so that none is missing between two that are there.
      events: sql<[limit: number], [deleted: string]>`
      with gone as (
        delete from ${table('event_log')}
         where position <= (select max(position)
                              from (select position, logged_at from ${table('event_log')} order by position limit $1) as oldest
                             where logged_at < ${eventsKept})
        returning 1
      )
      select count(*) from gone`,
      deliveries: forget(
        table('deliveries'),
        fragment`ended_at < now() - case state when 'delivered' then interval '3 days' else interval '30 days' end`,
      ),
      aborts: forget(table('aborts'), fragment`at < now() - interval '1 hour'`),
      // Convictions look back as far as their queue says, and what convicted is shown as long as it holds.
      crashes: forget(
        table('crashes'),
        fragment`at < now() - interval '25 hours' and expires_at < now()
                    and not exists (select from ${table('quarantine')} q where q.fingerprint = crashes.fingerprint)`,
      ),
      endedWorkers: forget(table('ended_workers'), fragment`ended_at < now() - interval '25 hours'`),
      causes: forget(
        table('dlq_causes'),
        fragment`count = 0 and last_at < now() - interval '90 days'
                    and not exists (select from ${table('cause_deltas')} c
                                     where c.queue = dlq_causes.queue and c.cause = dlq_causes.cause)
                    and not exists (select from ${dlq} d
                                     where d.queue = dlq_causes.queue and d.cause = dlq_causes.cause)`,
      ),
      // A cause that is known to have been resolved is worth more than its count.
      causeTriage: forget(
        table('cause_triage'),
        fragment`updated_at < now() - interval '1 year'
                    and not exists (select from ${table('dlq_causes')} c
                                     where c.queue = cause_triage.queue and c.cause = cause_triage.cause)`,
      ),
    },
  }
}

/** For how long a finished job is kept, in ms; null for good. Needs its queue's row as `q`. */
export function terminalKeep(schema: string, alias: string): Fragment {
  const row = new Identifier(alias)
  return fragment`${new Identifier(schema, 'effective_retention')}(${row}.retention, q.retention, ${row}.state,
               case ${row}.state when 'failed' then ${msOf(DEFAULTS.failed)} when 'cancelled' then ${msOf(DEFAULTS.cancelled)}
                                 else ${msOf(DEFAULTS.completed)} end)`
}

function msOf(ms: number | null): Fragment {
  return ms === null ? fragment`null::bigint` : fragment`${whole(ms)}::bigint`
}

const LITERAL = {
  completed: fragment`'completed'`,
  failed: fragment`'failed'`,
  cancelled: fragment`'cancelled'`,
  dlq: fragment`'dlq'`,
  bin: fragment`'bin'`,
  held: fragment`'held'`,
} as const

/** The shortest retention of any queue: no row younger than that has to be looked at. Null where all keep for good. */
function shortestOf(queues: Identifier, keys: readonly (keyof typeof LITERAL)[]): Fragment {
  const set = join(
    keys.map((key) => fragment`(retention ->> ${LITERAL[key]})::bigint`),
    ', ',
  )
  const defaults = keys.flatMap((key) => DEFAULTS[key] ?? []).map(whole)
  const ofQueues = fragment`min(least(${set}))`
  return fragment`(select least(${join([...defaults, ofQueues], ', ')}) * interval '1 millisecond' from ${queues})`
}

/** Each deletion is counted, by why the job was there. */
export function expired(counters: Identifier, reason: Fragment): Fragment {
  return fragment`expired as (
        insert into ${counters} (queue, kind, reason, what, n)
        select g.queue, g.kind, ${reason}, 'expired', count(*) from gone g group by 1, 2, 3
      )`
}

function nowhere(schema: string, id: string): Fragment {
  return join(
    PLACES.map(
      (place) =>
        fragment`not exists (select from ${new Identifier(schema, place)} j where j.id = ${new Columns([id])})`,
    ),
    ' and ',
  )
}

function forget(from: Identifier, old: Fragment): Statement<[limit: number], [deleted: string]> {
  return sql`
      with gone as (
        delete from ${from}
         where ctid = any (array(select ctid from ${from} where ${old} limit $1 for update skip locked))
        returning 1
      )
      select count(*) from gone`
}
