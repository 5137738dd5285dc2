import { columns, leading, moved } from '../rows.js'
import { Fragment, fragment, Identifier, join, sql, whole } from '../sql.js'
import { CLAIMED, SLOTS, suspected } from './claim.js'
import { entryAdded } from './history.js'
import { deleteSpots } from './spots.js'

/** The document of {@link suspectQueries}'s `list`. */
export interface SuspectDocument {
  readonly version: string
  readonly quarantined: readonly (readonly [fingerprint: string, kind: string])[] | null
  readonly suspects: readonly (readonly [fingerprint: string, kind: string, untilItEnds: boolean])[] | null
}

export type NextParams = [
  queue: string,
  /** Kinds of suspects that this worker serves. */
  kinds: string[],
  suspects: string[],
  /** Quarantined, where a released job runs by itself. */
  quarantined: string[],
  /** `kind@version`, each pair that is served. */
  pairs: string[],
]

/** More are not told apart; what is not listed runs in company until there are fewer. */
const LISTED = 10_000
/** How far from the head of a slot a suspect has to be for its turn to have come. */
const NEAR = 2_000

/** What workers do about fingerprints that have crashed. Nothing of it runs while there are none. */
export function suspectQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const leases = table('leases')
  const ready = SLOTS.map((slot) => table(`ready_${slot}`))
  const turns = table('suspect_turns')

  return {
    /** What is quarantined, and what has open crashes and is therefore run alone. Index: crashes_open. */
    list: sql<[], [document: string]>`
      select json_build_object(
               'version', c.quarantine_version::text,
               'quarantined', (select json_agg(json_build_array(q.fingerprint, q.kind))
                                 from ${table('quarantine')} q where q.release_id is null),
               'suspects', (select json_agg(json_build_array(s.fingerprint, s.kind, s.crashes >= s.crash_limit - 1))
                              from (select k.fingerprint, min(k.kind) as kind, min(k.crash_limit) as crash_limit,
                                           count(*) filter (where k.counted) as crashes
                                      from ${table('crashes')} k
                                     where k.closed_at is null and k.expires_at > now() and k.fingerprint is not null
                                     group by k.fingerprint
                                     limit ${whole(LISTED)}) as s))::text
        from ${table('control')} c`,

    /**
     * The suspect of a queue whose turn has come: the first one of best priority near the head of a slot. No row: none.
     * Index: ready_N_claim; at most 2,000 rows of a slot are looked at.
     */
    next: sql<NextParams, [slot: number, id: string]>`
      select slot, id
        from (${join(
          SLOTS.map(
            (slot) => fragment`
              (select ${whole(slot)} as slot, near.id, near.priority, near.position
                 from (select id, priority, position, kind, schema_version, payload, release_id
                         from ${ready[slot] as Identifier}
                        where queue = $1
                        order by priority, position
                        limit ${whole(NEAR)}) as near
                where near.kind = any ($2::text[])
                  and near.kind || '@' || near.schema_version = any ($5::text[])
                  and ${suspected('near', '$3', '$4')}
                order by near.priority, near.position
                limit 1)`,
          ),
          ' union all ',
        )}) as found
       order by priority, position
       limit 1`,

    /**
     * available → running, this one job. By ctid on its slot's own table; waits for the disk, so that nothing the job
     * may do to its process is forgotten. No row: it has gone its way meanwhile.
     */
    claim: SLOTS.map(
      (slot) => sql<[id: string, leaseId: string], string[]>`
      with spots as materialized (
        select ctid as spot from ${ready[slot] as Identifier} where id = $1::bigint for update skip locked
      ),
      picked as materialized (
        ${deleteSpots(ready[slot] as Identifier)}
        returning ${leading(['run_lease', 'id', 'position'], 'position')}
      ),
      ring as materialized (
        select r.head, c.quarantine_version
          from ${table('ring_state')} r, ${table('control')} c
         where r.ring = 'leases'
      ),
      leased as (
        insert into ${leases} (${columns('position', 'lease_id', 'slot')})
        select ${moved('p', { run_lease: 'p.run_lease + 1' }, 'p.position', '$2::bigint', 'ring.head')}
          from picked p, ring
      )
      select ${CLAIMED}, p.priority
        from picked p, ring`,
    ),

    /** Takes the turn to run suspects of a queue by itself, unless another living worker has it. No row: it has. */
    takeTurn: sql<[queue: string, registration: string], [queue: string]>`
      insert into ${turns} as t (queue, registration)
      values ($1, $2::bigint)
      on conflict (queue) do update
         set registration = excluded.registration, taken_at = now()
       where t.registration = excluded.registration
          or not exists (select from ${table('workers')} w where w.registration = t.registration)
      returning queue`,

    leaveTurn: sql<[queue: string, registration: string], []>`
      delete from ${turns} where queue = $1 and registration = $2::bigint`,

    /**
     * Jobs of these fingerprints have succeeded: their open crashes are held against them no more, and a canary among
     * the jobs lets the rest of its fingerprint follow. Answers what is to be let go.
     */
    cleared: sql<[fingerprints: string[], jobIds: string[], channel: string], [fingerprint: string]>`
      with closed as (
        update ${table('crashes')}
           set closed_at = now(), closed_by = 'success'
         where fingerprint = any ($1::text[]) and closed_at is null
        returning 1
      ),
      passed as (
        update ${table('quarantine')}
           set release_id = canary_release
         where canary_job = any ($2::bigint[]) and release_id is null
        returning fingerprint
      ),
      bumped as (
        update ${table('control')}
           set quarantine_version = quarantine_version + 1
         where exists (select from closed) or exists (select from passed)
        returning 1
      ),
      told as (
        select pg_notify($3, 'p') from bumped
      )
      select fingerprint from passed where (select count(*) from told) >= 0`,

    /**
     * A process that was declared lost lives: what was charged to its jobs is taken off, and what was convicted by them
     * is let go. Index: crashes_registration, those on id. Locks the jobs' rows; a settle that meets one under way looks
     * for its lease again. Answers the fingerprints that are let go.
     */
    survived: sql<[registration: string, channel: string], [fingerprint: string]>`
      with closed as (
        update ${table('crashes')}
           set closed_at = now(), closed_by = 'disconnected'
         where registration = $1::bigint and closed_at is null
        returning job_id, fingerprint, worker, lost_at, handbacks
      ),
      -- What it still has when it says so goes back uncharged too.
      excused as (
        update ${table('ended_workers')} set state = 'stopping' where registration = $1::bigint
      ),
      later as (
        update ${table('deferred_jobs')} j
           set crash_attempt = greatest(j.crash_attempt - 1, 0), handbacks = c.handbacks + 1,
               ${disconnected(schema)}
          from closed c
         where j.id = c.job_id
      ),
      ready as (
        update ${table('ready_entries')} j
           set crash_attempt = greatest(j.crash_attempt - 1, 0), handbacks = c.handbacks + 1,
               ${disconnected(schema)}
          from closed c
         where j.id = c.job_id
      ),
      running as (
        update ${leases} j
           set crash_attempt = greatest(j.crash_attempt - 1, 0), handbacks = c.handbacks + 1,
               ${disconnected(schema)}
          from closed c
         where j.id = c.job_id
      ),
      held as (
        update ${table('held_entries')} j
           set crash_attempt = greatest(j.crash_attempt - 1, 0), ${disconnected(schema)}
          from closed c
         where j.id = c.job_id and j.state = 'quarantined'
      ),
      freed as (
        insert into ${table('quarantine')} as q (fingerprint, kind, queue, job_id, release_id)
        select distinct on (h.fingerprint) h.fingerprint, h.kind, h.queue, h.id, nextval('${table('releases')}')
          from closed c
          join ${table('held_entries')} h on h.id = c.job_id and h.state = 'quarantined' and h.fingerprint = c.fingerprint
         where h.held_reason in ('crash_limit', 'crash_bound')
         order by h.fingerprint, h.id
        on conflict (fingerprint) do update set release_id = excluded.release_id
         where q.release_id is null and q.job_id = excluded.job_id
        returning fingerprint
      ),
      bumped as (
        update ${table('control')}
           set quarantine_version = quarantine_version + 1
         where exists (select from closed)
        returning 1
      ),
      told as (
        select pg_notify($2, 'p') from bumped
      )
      select fingerprint from freed where (select count(*) from told) >= 0`,
  }
}

function disconnected(schema: string) {
  return new Fragment(
    entryAdded(
      schema,
      'j',
      `json_build_object(
             'type', 'disconnected', 'at', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
             'started_at', null, 'generation', j.generation, 'attempt', j.attempt, 'lease_id', null, 'worker', c.worker,
             'last_heartbeat_at', to_char(c.lost_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text`,
    ),
  )
}
