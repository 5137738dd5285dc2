import { columns, moved } from '../../rows.js'
import { type Fragment, Identifier, sql } from '../../sql.js'
import { noticesOfHeld } from '../held.js'
import { withEntry } from '../history.js'
import type { Numbers, SettledRow, Texts } from './taking.js'

/** running → held, or back to where it stood: the handler was not entered, or gave way. Uses no attempt. */
export function backQueries(schema: string, taken: Fragment) {
  const table = (name: string) => new Identifier(schema, name)
  const head = `(select head from ${table('ring_state').quoted} where ring = 'ready')`

  return {
    /** running → available, at its old position, uncharged; the tenth time in a row → quarantined. */
    handback: sql<[ids: Numbers, leaseIds: Numbers], SettledRow>`
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
    quarantine: sql<[ids: Numbers, leaseIds: Numbers], SettledRow>`
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
    undecodable: sql<[ids: Numbers, leaseIds: Numbers, reasons: Texts, entries: Texts], SettledRow>`
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
  }
}
