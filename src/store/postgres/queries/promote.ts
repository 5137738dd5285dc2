import { columns, moved } from '../rows.js'
import { Identifier, sql } from '../sql.js'
import { noticesOfHeld } from './held.js'
import { somethingQuarantined } from './quarantine.js'

export function promoteQueries(schema: string) {
  const quarantine = new Identifier(schema, 'quarantine')
  const deferred = new Identifier(schema, 'deferred_jobs')
  const head = `(select head from ${new Identifier(schema, 'ring_state').quoted} where ring = 'ready')`
  const nextPosition = `nextval('${new Identifier(schema, 'job_ids').quoted}')`

  return {
    /**
     * scheduled, retryable → available, what is due, oldest first, at most $1 rows, each at the end of its priority. Jobs
     * that were only set aside come back where they stood, which nobody is told: nobody serves them. → quarantined, whose fingerprint is: hashed only while one is, and
     * locked, so that a release that begins meanwhile finds them. Listeners are told once for each queue and priority.
     *
     * Index: deferred_due. Locks: skips rows somebody else is moving. Always answers one row: how many moved, and the
     * ms until the next is due, null when none waits.
     */
    promote: sql<[limit: number, channel: string], [moved: string, nextInMs: string | null]>`
      with gone as materialized (
        delete from ${deferred} d
         where d.ctid = any (array(
                 select ctid
                   from ${deferred}
                  where due_at <= now()
                  order by due_at
                  limit $1
                    for update skip locked))
        returning ${moved('d', {}, 'd.position', 'd.due_at')}
      ),
      hits as materialized (
        select g.id, q.fingerprint
          from gone g
          join ${quarantine} q
            on q.release_id is null and q.fingerprint = md5(g.kind || E'\n' || g.payload::text)
         where ${somethingQuarantined(schema)} and g.release_id is null
      ),
      standing as materialized (
        select q.fingerprint
          from ${quarantine} q
         where q.release_id is null and q.fingerprint in (select fingerprint from hits)
         order by q.fingerprint
           for share of q
      ),
      barred as materialized (
        select id, fingerprint from hits where fingerprint in (select fingerprint from standing)
      ),
      held as (
        insert into ${new Identifier(schema, 'held_entries')} (${columns('state', 'held_at', 'held_reason', 'fingerprint')})
        select ${moved('g', {}, "'quarantined'", 'now()', "'fingerprint'", 'b.fingerprint')}
          from gone g join barred b on b.id = g.id
        returning id, queue, kind, generation, held_reason, fingerprint
      ),
      ${noticesOfHeld(schema, 'held')},
      entered as (
        insert into ${new Identifier(schema, 'ready_entries')} (${columns('position', 'slot')})
        select ${moved('g', {}, `coalesce(g.position, ${nextPosition})`, head)}
          from (select * from gone where id not in (select id from barred) order by due_at, id) as g
        returning id, queue, priority, position
      ),
      told as (
        select pg_notify($2, 'r|' || priority || '|' || min(position) || '|' || queue)
          from entered
         where id not in (select id from gone where position is not null)
         group by queue, priority
      )
      select (select count(*) from gone),
             case when (select count(*) from gone) = $1 then 0
                  else (select date_part('epoch', min(due_at) - now()) * 1000 from ${deferred} where due_at > now()) end
       where (select count(*) from told) >= 0`,
  }
}
