import { type Fragment, fragment, Identifier, type Statement, sql, whole } from '../sql.js'
import { bookkeepingQueries, eventsKept } from './bookkeeping.js'
import { coldColumns, toCold } from './cold.js'
import { leftBehindQueries } from './left-behind.js'
import { keepOf, shortestOf, terminalKeep } from './retention.js'

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
  const bin = table('dlq_bin')
  const held = table('held_entries')
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
        select b.id, b.discarded_at as at, b.discarded_at + ${keepOf(schema, 'b', 'bin')} * interval '1 millisecond' as until
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
        select h.id, h.held_at as at, h.held_at + ${keepOf(schema, 'h', 'held')} * interval '1 millisecond' as until
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
             (select logged_at from ${table('event_log')} order by position limit 1) < ${eventsKept(schema)},
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

    ...leftBehindQueries(schema),
    bookkeeping: bookkeepingQueries(schema),
  }
}

/** Each deletion is counted, by why the job was there. */
export function expired(counters: Identifier, reason: Fragment): Fragment {
  return fragment`expired as (
        insert into ${counters} (queue, kind, reason, what, n)
        select g.queue, g.kind, ${reason}, 'expired', count(*) from gone g group by 1, 2, 3
      )`
}
