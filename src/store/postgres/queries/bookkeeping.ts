import { type Fragment, fragment, Identifier, type Statement, sql } from '../sql.js'

/** Bookkeeping that has served its time; no jobs. Each skips rows that are locked. */
export function bookkeepingQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)

  return {
    requests: forget(table('requests'), fragment`at < now() - interval '1 hour'`),
    counters: forget(table('counters'), fragment`minute < now() - interval '90 days'`),
    idempotencyKeys: forget(table('idempotency_keys'), fragment`created_at < now() - interval '24 hours'`),
    // Along the positions, oldest first, so that none is missing between two that are there.
    events: sql<[limit: number], [deleted: string]>`
      with gone as (
        delete from ${table('event_log')}
         where position <= (select max(position)
                              from (select position, logged_at from ${table('event_log')} order by position limit $1) as oldest
                             where logged_at < ${eventsKept(schema)})
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
                    and not exists (select from ${table('dlq_entries')} d
                                     where d.queue = dlq_causes.queue and d.cause = dlq_causes.cause)`,
    ),
    // A cause that is known to have been resolved is worth more than its count.
    causeTriage: forget(
      table('cause_triage'),
      fragment`updated_at < now() - interval '1 year'
                    and not exists (select from ${table('dlq_causes')} c
                                     where c.queue = cause_triage.queue and c.cause = cause_triage.cause)`,
    ),
  }
}

/** From when on events are kept. */
export function eventsKept(schema: string): Fragment {
  return fragment`now() - (select retention_ms from ${new Identifier(schema, 'event_head')}) * interval '1 millisecond'`
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
