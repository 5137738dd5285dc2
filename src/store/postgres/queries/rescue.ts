import { columns, moved } from '../rows.js'
import { fragment, Identifier, join, sql } from '../sql.js'
import { SLOTS } from './claim.js'
import { isoTime } from './iso-time.js'

export type LostRow = [ended: string, registrations: string]

/** How many leases of lost registrations went which way. */
export type VerdictRow = [verdict: 'retry' | 'back' | 'handed_back' | 'crash_bound' | 'crash_limit', n: string]

export function rescueQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const workers = table('workers')
  const ended = table('ended_workers')
  const leases = table('leases')
  const append = table('append_history').quoted
  const head = `(select head from ${table('ring_state').quoted} where ring = 'ready')`
  const dueAt = "now() + least(5000 * 2 ^ least(r.crash_attempt, 20), 3600000) * interval '1 millisecond'"

  return {
    /**
     * Ends registrations that were silent for $1 ms, and answers which registrations have leases and are no more.
     *
     * Nobody is declared lost by silence while this statement has not itself been run, without a long gap, for a whole
     * stale time: the database may have been away for everybody. Half a stale time is a long gap (a whole one where stale
     * times are short), because a worker that beat just before it looks as silent as the gap and one heartbeat together. The very first run of a schema has no
     * gap behind it.
     *
     * Index: leases_N_lease, one probe for each registration and slot. Always answers one row.
     */
    lost: sql<[staleMs: number], LostRow>`
      with watch as (
        insert into ${table('leaders')} as l (name, holder, expires_at, writing_since)
        values ('rescue', '', now(), '-infinity')
        on conflict (name) do update
           set written_at = now(),
               writing_since = case
                 when now() - l.written_at > greatest($1 / 2.0, least($1, 20000)) * interval '1 millisecond' then now()
                 else l.writing_since
               end
        returning writing_since <= now() - $1 * interval '1 millisecond' as trusted
      ),
      silent as (
        delete from ${workers} w
         using watch
         where watch.trusted and w.heartbeat_at < now() - $1 * interval '1 millisecond'
        returning w.registration
      ),
      holding as (${join(
        SLOTS.map(
          (slot) => fragment`
        select registration from (
          with recursive holder(registration) as (
            (select min(lease_id) >> 36 from ${table(`leases_${slot}`)})
            union all
            select (select min(lease_id) >> 36 from ${table(`leases_${slot}`)}
                     where lease_id > ((holder.registration << 36) | 68719476735))
              from holder where holder.registration is not null
          )
          select registration from holder where registration is not null) as slot`,
        ),
        ' union ',
      )}),
      lost as (
        select registration from silent
        union
        select registration from holding h
         where not exists (select from ${workers} w where w.registration = h.registration)
      )
      select (select count(*) from silent), coalesce((select array_agg(registration)::text from lost), '{}')`,

    /**
     * Takes back leases of registrations that are no more, at most $2: running → retryable with a crash charged;
     * → quarantined once the verdict is spoken; → available, uncharged and at its old position, where the worker had
     * said that it was stopping (the tenth time in a row → quarantined).
     *
     * A registration is on disk before its first claim, so one that is missing has ended. A crash in company proves
     * nothing, so only the last lease of its registration can be convicted by it; a job that used up all its starts is
     * held in any case. Unique keys stay with the jobs.
     *
     * Index: leases_N_lease, leases_N_id. Locks: skips leases that are just being settled. No row back: none was lost.
     */
    takeBack: sql<[registrations: string, limit: number, crashLimit: number, channel: string], VerdictRow>`
      with lost as materialized (
        select l.id, l.lease_id, l.slot
          from unnest($1::bigint[]) as r(registration)
          join ${leases} l on l.lease_id between r.registration << 36 and (r.registration << 36) | 68719476735
         where not exists (select from ${workers} w where w.registration = r.registration)
         limit $2
           for update of l skip locked
      ),
      company as materialized (
        select r.registration,
               (select count(*) from ${leases} l
                 where l.lease_id between r.registration << 36 and (r.registration << 36) | 68719476735) = 1
               and not exists (select from ${table('crashes')} c where c.registration = r.registration) as alone
          from (select distinct lease_id >> 36 as registration from lost) as r
      ),
      gone as (
        delete from ${leases} l
         using lost
         where l.slot = lost.slot and l.id = lost.id and l.lease_id = lost.lease_id
        returning ${moved('l', {}, 'l.position', 'l.lease_id', 'l.claimed_at')}
      ),
      ruled as materialized (
        select g.*, c.registration, c.alone, e.name as worker, e.host, e.heartbeat_at,
               case
                 when e.state = 'stopping' and g.handbacks + 1 >= 10 then 'handed_back'
                 when e.state = 'stopping' then 'back'
                 when g.attempt + g.crash_attempt + 1 - g.charge_base >= g.max_attempts + limits.crash_limit
                   then 'crash_bound'
                 when c.alone and g.crash_attempt + 1 >= limits.crash_limit then 'crash_limit'
                 else 'retry'
               end as verdict
          from gone g
          join company c on c.registration = g.lease_id >> 36
          left join ${ended} e on e.registration = c.registration
          left join ${table('queues')} q on q.queue = g.queue,
               lateral (select coalesce((q.policy ->> 'crashLimit')::integer, $3) as crash_limit) as limits
      ),
      told_of as materialized (
        select r.*, json_build_object(
                 'type', case r.verdict when 'handed_back' then 'handed_back' else 'crash' end,
                 'at', ${isoTime('now()')}, 'started_at', ${isoTime('r.claimed_at')},
                 'generation', r.generation, 'attempt', r.attempt, 'lease_id', r.lease_id::text, 'worker', r.worker,
                 case r.verdict when 'handed_back' then 'handbacks' else 'last_heartbeat_at' end,
                 case r.verdict when 'handed_back' then to_json(r.handbacks + 1)
                                else to_json(${isoTime('r.heartbeat_at')}) end)::text as entry
          from ruled r
      ),
      forgotten as (
        delete from ${table('attempt_state')} s using gone g where s.job_id = g.id and s.lease_id = g.lease_id
      ),
      crashed as (
        insert into ${table('crashes')} (fingerprint, job_id, registration, host, alone)
        select ${FINGERPRINT}, r.id, r.registration, r.host, r.alone
          from ruled r
         where r.verdict in ('retry', 'crash_bound', 'crash_limit')
      ),
      later as (
        insert into ${table('deferred_jobs')} (${columns('state', 'due_at', 'started_at')})
        select ${moved(
          'r',
          {
            crash_attempt: 'r.crash_attempt + 1',
            handbacks: '0',
            run_at: dueAt,
            history: `${append}(r.history, r.entry)`,
          },
          "'retryable'",
          dueAt,
          'r.claimed_at',
        )}
          from told_of r
         where r.verdict = 'retry'
      ),
      held as (
        insert into ${table('held_entries')}
               (${columns('state', 'held_at', 'held_reason', 'fingerprint', 'lease_id', 'started_at')})
        select ${moved(
          'r',
          {
            crash_attempt: "r.crash_attempt + case r.verdict when 'handed_back' then 0 else 1 end",
            handbacks: "case r.verdict when 'handed_back' then r.handbacks + 1 else 0 end",
            history: `${append}(r.history, r.entry)`,
          },
          "'quarantined'",
          'now()',
          'r.verdict',
          FINGERPRINT.quoted,
          'r.lease_id',
          'r.claimed_at',
        )}
          from told_of r
         where r.verdict in ('handed_back', 'crash_bound', 'crash_limit')
      ),
      held_events as (
        insert into ${table('event_outbox')} (type, job_id, queue, kind, generation, reason)
        select 'quarantined', r.id, r.queue, r.kind, r.generation, r.verdict
          from ruled r
         where r.verdict in ('handed_back', 'crash_bound', 'crash_limit')
      ),
      held_counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select r.queue, r.kind, r.verdict, 'quarantined', count(*)
          from ruled r
         where r.verdict in ('handed_back', 'crash_bound', 'crash_limit')
         group by r.queue, r.kind, r.verdict
      ),
      back as (
        insert into ${table('ready_entries')} (${columns('position', 'slot')})
        select ${moved('r', { handbacks: 'r.handbacks + 1' }, 'r.position', head)}
          from ruled r
         where r.verdict = 'back'
        returning queue, priority, position
      ),
      told as (
        select pg_notify($4, 'r|' || priority || '|' || min(position) || '|' || queue)
          from back
         group by queue, priority
      )
      select verdict, count(*)
        from ruled
       where (select count(*) from told) >= 0
       group by verdict`,

    /** The registrations of one host, boot and pid namespace: only there can be told whether a pid still lives. */
    neighbours: sql<
      [host: string, bootId: string, pidNamespace: string],
      [registration: string, pid: string, pidStarted: string]
    >`
      select registration, pid, pid_started
        from ${workers}
       where host = $1 and boot_id = $2 and pid_namespace = $3`,

    /** Ends registrations whose process is gone. Their leases are taken back by the rescue. */
    endGone: sql<[registrations: string[]], [registration: string]>`
      delete from ${workers} where registration = any ($1::bigint[]) returning registration`,
  }
}

const FINGERPRINT = fragment`md5(r.kind || E'\n' || r.payload::text)`
