import { columns, moved } from '../rows.js'
import { Fragment, fragment, Identifier, join, sql } from '../sql.js'
import { SLOTS } from './claim.js'
import { noticesOfHeld } from './held.js'
import { withEntry } from './history.js'
import { isoTime } from './iso-time.js'

export type LostRow = [ended: string, registrations: string]

/** How many leases of lost registrations went which way. */
export type VerdictRow = [verdict: 'retry' | 'back' | 'handed_back' | 'crash_bound' | 'crash_limit', n: string]

export function rescueQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const workers = table('workers')
  const ended = table('ended_workers')
  const leases = table('leases')
  const crashes = table('crashes')
  const quarantine = table('quarantine')
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
     * said that it was stopping (the tenth time in a row → quarantined). Unique keys stay with the jobs.
     *
     * The verdict is about fingerprints: a job that was alone in its process when that died, and whose fingerprint then
     * has as many open crashes as the limit says, convicts it. Those of registrations of one host that were alive at the
     * same time and fell silent within $5 ms of each other count once. A job that used up all its starts is held by
     * itself. A job that was cancelled, and of which the process was not told any more, was company: it may be the one. A
     * registration is on disk before its first claim, so one that is missing has ended; of one that nobody
     * remembers it is not known who else was there, so it convicts nobody.
     *
     * Index: leases_N_lease, leases_N_id, crashes_open. Locks: skips leases that are just being settled. No row back:
     * none was lost.
     */
    takeBack: sql<
      [registrations: string, limit: number, crashLimit: number, channel: string, staleMs: number],
      VerdictRow
    >`
      with lost as materialized (
        select l.id, l.lease_id, l.slot
          from unnest($1::bigint[]) as r(registration)
          join ${leases} l on l.lease_id between r.registration << 36 and (r.registration << 36) | 68719476735
         where not exists (select from ${workers} w where w.registration = r.registration)
         limit $2
           for update of l skip locked
      ),
      company as materialized (
        select r.registration, e.name as worker, e.host, e.state, e.heartbeat_at, e.started_at, e.ended_at,
               e.registration is not null
               and (select count(*)
                      from unnest(process.registrations) as s(registration)
                      join ${leases} l on l.lease_id between s.registration << 36 and (s.registration << 36) | 68719476735) = 1
               and not exists (select from ${crashes} c where c.registration = any (process.registrations))
               and not exists (select from ${table('aborts')} a where a.registration = any (process.registrations)) as alone
          from (select distinct lease_id >> 36 as registration from lost) as r
          left join ${ended} e on e.registration = r.registration
         cross join lateral (
               select array_agg(s.registration) as registrations
                 from (select r.registration
                       union
                       select x.registration from ${ended} x where x.process = e.process
                       union
                       select w.registration from ${workers} w
                        where concat_ws(' ', w.host, w.boot_id, w.pid_namespace, w.pid, w.pid_started) = e.process) as s
               ) as process
      ),
      gone as (
        delete from ${leases} l
         using lost
         where l.slot = lost.slot and l.id = lost.id and l.lease_id = lost.lease_id
        returning ${moved('l', {}, 'l.position', 'l.lease_id', 'l.claimed_at')}
      ),
      judged as materialized (
        select g.*, c.registration, c.alone, c.worker, c.host, c.heartbeat_at, c.started_at as began_at, c.ended_at,
               coalesce(c.state = 'stopping', false) as stopping, ${FINGERPRINT} as fingerprint, limits.crash_limit,
               limits.crash_window_ms
          from gone g
          join company c on c.registration = g.lease_id >> 36
          left join ${table('queues')} q on q.queue = g.queue,
               lateral (select coalesce((q.policy ->> 'crashLimit')::integer, $3) as crash_limit,
                               coalesce((q.policy ->> 'crashWindowMs')::bigint, 86400000) as crash_window_ms) as limits
      ),
      traces as materialized (
        select distinct on (fingerprint, registration) fingerprint, registration, id, host, began_at,
               coalesce(heartbeat_at, now()) as lost_at, coalesce(ended_at, now()) as ended_at
          from judged
         where not stopping
         order by fingerprint, registration, id
      ),
      fresh as materialized (
        select t.*
          from traces t
         where not exists (
                 select from ${crashes} c
                  where c.fingerprint = t.fingerprint and c.closed_at is null
                    and (c.registration = t.registration or c.counted and ${together('c')}))
           and not exists (
                 select from traces c
                  where c.fingerprint = t.fingerprint and (c.lost_at, c.registration) < (t.lost_at, t.registration)
                    and ${together('c')})
      ),
      standing as materialized (
        select f.fingerprint,
               (select count(*) from ${crashes} c
                 where c.fingerprint = f.fingerprint and c.closed_at is null and c.counted and c.expires_at > now())
               + (select count(*) from fresh n where n.fingerprint = f.fingerprint) as crashes,
               exists (select from ${quarantine} q
                        where q.fingerprint = f.fingerprint and q.release_id is null) as convicted
          from (select distinct fingerprint from traces) as f
      ),
      ruled as materialized (
        select j.*,
               case
                 when j.stopping and j.handbacks + 1 >= 10 or j.handbacks >= 10 then 'handed_back'
                 when j.stopping then 'back'
                 when j.alone and (s.crashes >= j.crash_limit or s.convicted) then 'crash_limit'
                 when j.attempt + j.crash_attempt + 1 - j.charge_base >= j.max_attempts + j.crash_limit then 'crash_bound'
                 else 'retry'
               end as verdict
          from judged j
          left join standing s on s.fingerprint = j.fingerprint
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
        insert into ${crashes}
               (fingerprint, job_id, registration, host, alone, kind, queue, worker, began_at, lost_at, ended_at, counted,
                crash_limit, handbacks, expires_at)
        select r.fingerprint, r.id, r.registration, r.host, r.alone, r.kind, r.queue, r.worker, r.began_at,
               coalesce(r.heartbeat_at, now()), coalesce(r.ended_at, now()),
               exists (select from fresh f
                        where f.fingerprint = r.fingerprint and f.registration = r.registration and f.id = r.id),
               r.crash_limit, r.handbacks, now() + r.crash_window_ms * interval '1 millisecond'
          from ruled r
         where r.verdict in ('retry', 'crash_bound', 'crash_limit')
        returning fingerprint
      ),
      convicted as (
        insert into ${quarantine} as q (fingerprint, kind, queue, job_id)
        select distinct on (fingerprint) fingerprint, kind, queue, id
          from ruled
         where verdict = 'crash_limit'
         order by fingerprint, id
        on conflict (fingerprint) do update
           set held_at = case when q.release_id is null then q.held_at else now() end, job_id = excluded.job_id,
               release_id = null, canary_job = null, canary_release = null
      ),
      later as (
        insert into ${table('deferred_jobs')} (${columns('state', 'due_at', 'started_at')})
        select ${moved(
          'r',
          {
            crash_attempt: 'r.crash_attempt + 1',
            handbacks: '0',
            run_at: dueAt,
            ...withEntry(schema, 'r', 'r.entry'),
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
            release_id: 'null::bigint',
            crash_attempt: "r.crash_attempt + case when r.verdict = 'handed_back' then 0 else 1 end",
            handbacks: "case r.verdict when 'handed_back' then r.handbacks + 1 else 0 end",
            ...withEntry(schema, 'r', 'r.entry'),
          },
          "'quarantined'",
          'now()',
          'r.verdict',
          'r.fingerprint',
          'r.lease_id',
          'r.claimed_at',
        )}
          from told_of r
         where r.verdict in ('handed_back', 'crash_bound', 'crash_limit')
        returning id, queue, kind, generation, held_reason, fingerprint
      ),
      ${noticesOfHeld(schema, 'held')},
      back as (
        insert into ${table('ready_entries')} (${columns('position', 'slot')})
        select ${moved('r', { handbacks: 'r.handbacks + 1' }, 'r.position', head)}
          from ruled r
         where r.verdict = 'back'
        returning queue, priority, position
      ),
      bumped as (
        update ${table('control')}
           set quarantine_version = quarantine_version + 1
         where exists (select from crashed)
        returning 1
      ),
      told as (
        select pg_notify($4, 'r|' || priority || '|' || min(position) || '|' || queue)
          from back
         group by queue, priority
        union all
        select pg_notify($4, 'p') from bumped
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

const FINGERPRINT = fragment`md5(g.kind || E'\n' || g.payload::text)`

/** Whether a trace `t` and an earlier one tell of one event of one host: both were alive when the first was lost. */
function together(earlier: string): Fragment {
  const c = new Fragment(earlier)
  return fragment`${c}.host = t.host and t.began_at <= ${c}.ended_at and ${c}.began_at <= t.ended_at
                    and t.lost_at between ${c}.lost_at - $5::float8 * interval '1 millisecond'
                                      and ${c}.lost_at + $5::float8 * interval '1 millisecond'`
}
