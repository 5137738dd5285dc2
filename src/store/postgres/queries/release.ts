import { columns, moved } from '../rows.js'
import { Fragment, fragment, Identifier, sql } from '../sql.js'
import { withEntry } from './history.js'
import { isoTime } from './iso-time.js'
import type { ActParams } from './operate.js'

/** quarantined → available: a fingerprint as a whole, some of its jobs, or a canary whom the rest follows. */
export function releaseQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const quarantine = table('quarantine')
  const held = table('held_entries')
  const crashes = table('crashes')
  const position = `nextval('${table('job_ids').quoted.replaceAll("'", "''")}')`
  const head = `(select head from ${table('ring_state').quoted} where ring = 'ready')`
  const released = (by: string, why: string, release: string) =>
    moved(
      'g',
      {
        release_id: release,
        crash_attempt: '0',
        charge_base: 'g.attempt',
        handbacks: '0',
        run_at: 'least(g.run_at, now())',
        ...withEntry(
          schema,
          'g',
          `json_build_object('type', 'released', 'at', ${isoTime('now()').quoted}, 'started_at', null,
            'generation', g.generation, 'attempt', g.attempt, 'lease_id', g.lease_id::text, 'worker', null,
            'by', ${by}, 'why', ${why}, 'release_id', (${release})::text)::text`,
        ),
      },
      position,
      head,
    )
  const told = (channel: string, rows: string) => fragment`
      told as (
        select pg_notify(${new Fragment(channel)}, 'r|' || priority || '|' || min(position) || '|' || queue)
          from ${new Fragment(rows)} group by queue, priority
        union all
        select pg_notify(${new Fragment(channel)}, 'p') from bumped
      )`
  const noted = fragment`
      events as (
        insert into ${table('event_outbox')} (type, job_id, queue, kind, generation, reason, message)
        select 'released', id, queue, kind, generation, held_reason, fingerprint from gone
      ),
      counted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select queue, kind, held_reason, 'released', count(*) from gone group by queue, kind, held_reason
      )`
  const bumped = fragment`
      bumped as (
        update ${table('control')} set quarantine_version = quarantine_version + 1 where exists (select from changed)
        returning 1
      )`

  return {
    /**
     * Begins to let a fingerprint go, whole: from now on it blocks nothing and its count is 0. What is held moves in
     * batches ({@link move}). Repeated, it goes on with what an earlier one has begun. No row: nothing of it is held.
     */
    release: sql<[fingerprint: string, ...act: ActParams], [releaseId: string, jobs: string]>`
      with found as (
        select fingerprint, kind, queue, job_id from ${quarantine} where fingerprint = $1
        union all
        select h.fingerprint, h.kind, h.queue, h.id from ${held} h where h.fingerprint = $1 and h.state = 'quarantined'
        limit 1
      ),
      changed as (
        insert into ${quarantine} as q (fingerprint, kind, queue, job_id, release_id)
        select f.fingerprint, f.kind, f.queue, f.job_id, nextval('${table('releases')}') from found f
        on conflict (fingerprint) do update
           set release_id = coalesce(q.release_id, excluded.release_id), canary_job = null, canary_release = null
        returning fingerprint, release_id
      ),
      closed as (
        update ${crashes} c
           set closed_at = now(), closed_by = 'release'
          from changed g
         where c.fingerprint = g.fingerprint and c.closed_at is null
      ),
      ${bumped},
      jobs as materialized (
        select count(*) as n from ${held} h where h.fingerprint = $1 and h.state = 'quarantined'
      ),
      audited as (
        insert into ${table('audit_log')} (actor, action, target, reason, result, request_id)
        select $2::text, 'release', json_build_object('fingerprint', fingerprint), $3::text,
               json_build_object('release_id', release_id::text, 'jobs', jobs.n), $4::text
          from changed, jobs
      ),
      told as (select pg_notify($5, 'p') from bumped)
      select release_id, jobs.n from changed, jobs where (select count(*) from told) >= 0`,

    /**
     * quarantined → available, of fingerprints that are being let go, at most $1 rows. $2 and $3 are who and why. A
     * fingerprint of which nothing is held any more is forgotten; so this is called until it answers 0. Index: held_fingerprint.
     * Locks: skips rows somebody else is moving.
     */
    move: sql<[limit: number, by: string, why: string | null, channel: string], [moved: string]>`
      with due as materialized (
        select h.id
          from ${quarantine} q
          join ${held} h on h.fingerprint = q.fingerprint and h.state = 'quarantined'
         where q.release_id is not null
         order by h.id
         limit $1
           for update of h skip locked
      ),
      gone as (
        delete from ${held} h
         using due d, ${quarantine} q
         where h.id = d.id and q.fingerprint = h.fingerprint
        returning ${moved('h', {}, 'h.lease_id', 'h.held_reason', 'h.fingerprint', 'q.release_id as let_go')}
      ),
      back as (
        insert into ${table('ready_entries')} (${columns('position', 'slot')})
        select ${released('$2::text', '$3::text', 'g.let_go')} from (select * from gone order by id) as g
        returning id, queue, priority, position
      ),
      ${noted},
      forgotten as (
        delete from ${quarantine} q
         where q.release_id is not null
           and not exists (select from ${held} h where h.fingerprint = q.fingerprint and h.state = 'quarantined')
        returning q.fingerprint
      ),
      changed as (select fingerprint from forgotten),
      ${bumped},
      ${told('$4', 'back')}
      select (select count(*) from gone) + (select count(*) from told) * 0`,

    /**
     * quarantined → available, these jobs alone; their fingerprint, where it is convicted, stays so, and they run by
     * themselves. $6: as the canary, whom the rest follows when it succeeds. The count of their fingerprints is 0 again.
     * Index: primary key. Answers the jobs that moved.
     */
    releaseSome: sql<
      [ids: string, ...act: ActParams, canary: boolean],
      [id: string, releaseId: string, fingerprint: string | null]
    >`
      with release as materialized (select nextval('${table('releases')}') as id),
      due as materialized (
        select h.id, h.fingerprint from ${held} h
         where h.id = any ($1::bigint[]) and h.state = 'quarantined'
         order by h.id
           for update
      ),
      changed as (
        update ${quarantine} q
           set canary_job = d.id, canary_release = (select id from release)
          from due d
         where $6::boolean and q.fingerprint = d.fingerprint and q.release_id is null and q.canary_job is null
        returning q.fingerprint
      ),
      gone as (
        delete from ${held} h
         using due d
         where h.id = d.id and (not $6::boolean or d.fingerprint in (select fingerprint from changed))
        returning ${moved('h', {}, 'h.lease_id', 'h.held_reason', 'h.fingerprint')}
      ),
      back as (
        insert into ${table('ready_entries')} (${columns('position', 'slot')})
        select ${released('$2::text', '$3::text', '(select id from release)')} from (select * from gone order by id) as g
        returning id, queue, priority, position
      ),
      ${noted},
      closed as (
        update ${crashes}
           set closed_at = now(), closed_by = 'release'
         where closed_at is null and fingerprint in (select fingerprint from gone)
      ),
      bumped as (
        update ${table('control')} set quarantine_version = quarantine_version + 1 where exists (select from gone)
        returning 1
      ),
      audited as (
        insert into ${table('audit_log')} (actor, action, target, reason, result, request_id)
        select $2::text, 'release', json_build_object('ids', json_agg(id::text), 'canary', $6::boolean), $3::text,
               json_build_object('release_id', (select id from release)::text, 'jobs', count(*)), $4::text
          from gone
        having count(*) > 0
      ),
      ${told('$5', 'back')}
      select g.id, (select id from release), g.fingerprint from gone g where (select count(*) from told) >= 0`,

    /** The oldest held job of a convicted fingerprint: its canary. Says whether one is out already. */
    canary: sql<[fingerprint: string], [id: string | null, out: string | null]>`
      select (select h.id from ${held} h where h.fingerprint = q.fingerprint and h.state = 'quarantined' order by h.id limit 1),
             q.canary_job
        from ${quarantine} q
       where q.fingerprint = $1 and q.release_id is null`,

    /**
     * What became of canaries whose success nobody has told: one that was completed lets the rest follow, one that ended
     * otherwise is none any more. Answers whether something is to be let go. Index: those on id.
     */
    judge: sql<[channel: string], [due: 't' | 'f']>`
      with out as materialized (
        select q.fingerprint, q.canary_job as id
          from ${quarantine} q where q.canary_job is not null and q.release_id is null
      ),
      seen as materialized (
        select o.fingerprint, o.id,
               exists (select from ${table('terminal_entries')} t where t.id = o.id and t.state = 'completed') as passed,
               exists (select from ${table('ready_entries')} r where r.id = o.id)
               or exists (select from ${table('leases')} l where l.id = o.id)
               or exists (select from ${table('deferred_jobs')} d where d.id = o.id)
               or exists (select from ${table('waiting_jobs')} w where w.id = o.id) as lives
          from out o
      ),
      changed as (
        update ${quarantine} q
           set release_id = case when s.passed then q.canary_release end,
               canary_job = case when s.passed then q.canary_job end
          from seen s
         where q.fingerprint = s.fingerprint and q.canary_job = s.id and q.release_id is null and (s.passed or not s.lives)
        returning q.fingerprint
      ),
      ${bumped},
      told as (select pg_notify($1, 'p') from bumped)
      select exists (select from changed) or exists (select from ${quarantine} where release_id is not null)
       where (select count(*) from told) >= 0`,
  }
}
