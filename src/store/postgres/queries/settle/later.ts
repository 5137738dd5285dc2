import { columns, moved } from '../../rows.js'
import { type Fragment, Identifier, sql } from '../../sql.js'
import { withEntry } from '../history.js'
import type { Numbers, SettledRow, Texts } from './taking.js'

/** running → retryable, scheduled or waiting: it goes on later. */
export function laterQueries(schema: string, taken: Fragment) {
  const table = (name: string) => new Identifier(schema, name)
  const head = `(select head from ${table('ring_state').quoted} where ring = 'ready')`
  const nextPosition = `nextval('${table('job_ids').quoted}')`

  return {
    /** running → retryable: the attempt is charged and recorded. */
    retry: sql<[ids: Numbers, leaseIds: Numbers, delays: Numbers, charges: Numbers, entries: Texts], SettledRow>`
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

    /** running → scheduled: not a failure, so nothing is charged. */
    snooze: sql<[ids: Numbers, leaseIds: Numbers, delays: Numbers], SettledRow>`
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

    /**
     * running → waiting, for a callback; → available, at the end of its priority, where that has an answer by now.
     *
     * Locks and writes the callback, so that an answer under way is waited for and seen, and one that comes after finds
     * the job waiting (queries/callbacks.ts). Where the callback is no more the handler is entered again and makes another.
     */
    wait: sql<
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
    >`
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
