import { type Fragment, fragment, Identifier, join, sql } from '../sql.js'
import { SLOTS } from './claim.js'

export type LeadRow = [
  leading: string,
  expiresInMs: string,
  nextDueInMs: string | null,
  hasExpired: string | null,
  hasDeltas: string | null,
  hasOrphans: string | null,
  hasEvents: string | null,
  hasDeliveries: string | null,
  activity: string | null,
  nextTimeoutInMs: string | null,
  pausedDuties: string | null,
  policyVersion: string,
]

export function leaderQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const leaders = table('leaders')
  const ringBytes = join(
    SLOTS.map(
      (slot) =>
        fragment`pg_relation_size('${table(`ready_${slot}`)}'::regclass) + pg_relation_size('${table(`leases_${slot}`)}'::regclass)`,
    ),
    ' + ',
  )

  return {
    /**
     * Takes the lease when it is free, lapsed or one's own. Who gets it also learns what there is to do, by one index
     * probe for each question, so that idle duties need no statements of their own.
     *
     * How its duties fare goes along, in ms ago, so that it costs no row of its own. Locks the one row. Always answers one
     * row.
     */
    lead: sql<[name: string, holder: string, ttlMs: number, succeeded: string, underWay: string], LeadRow>`
      with led as (
        insert into ${leaders} as l (name, holder, expires_at, written_at, succeeded, under_way)
        values ($1, $2, now() + $3 * interval '1 millisecond', now(), ${timesOf('$4')}, ${timesOf('$5')})
        on conflict (name) do update
           set holder = excluded.holder, expires_at = excluded.expires_at, written_at = excluded.written_at,
               succeeded = coalesce(l.succeeded, '{}') || excluded.succeeded, under_way = excluded.under_way
         where l.holder = excluded.holder or l.expires_at <= now()
        returning $3::float8 as ms
      )
      select exists (select from led),
             coalesce((select ms from led),
                      (select date_part('epoch', expires_at - now()) * 1000 from ${leaders} where name = $1), 0),
             case when exists (select from led) then
               (select date_part('epoch', min(due_at) - now()) * 1000 from ${table('deferred_jobs')}) end,
             case when exists (select from led) then
               exists (select from ${table('ready_entries')} where deadline <= now())
               or exists (select from ${table('deferred_jobs')} where deadline <= now())
               or exists (select from ${table('waiting_jobs')} where deadline <= now()) end,
             case when exists (select from led) then
               exists (select from ${table('cause_deltas')})
               or exists (select from ${table('counters')} where not folded and minute < date_trunc('minute', now())) end,
             case when exists (select from led) then
               exists (select from ${table('operations')}
                        where state = 'running' and (runner is null or runner_until < now())) end,
             case when exists (select from led) then exists (select from ${table('event_outbox')}) end,
             case when exists (select from led) then
               exists (select from ${table('webhooks')} w
                        where (w.state = 'active' and w.cursor_position < (select last_position from ${table('event_head')})
                               and (w.digest_ms is null or w.digest_at <= now()))
                           or exists (select from ${table('deliveries')} d
                                       where d.webhook_id = w.id and d.state = 'pending' and d.next_at <= now()
                                         and (d.type = 'test' or (w.state = 'active' and w.held_until <= now())))) end,
             case when exists (select from led) then
               (select last_value::text from ${table('job_ids')}) || '/' || (${ringBytes}) end,
             case when exists (select from led) then
               (select date_part('epoch', min(waits_until) - now()) * 1000 from ${table('waiting_jobs')}) end,
             (select json_agg(duty)::text from ${table('duties')} where paused_at is not null),
             (select policy_version::text from ${table('control')})`,

    /**
     * Gives the lease up, so that another process need not wait for its end. Not the holder's: nothing happens. The row
     * stays, for what it knows of the duties.
     */
    resign: sql<[name: string, holder: string], []>`
      update ${leaders} set expires_at = now(), under_way = null where name = $1 and holder = $2`,

    /** Remembers when a duty last succeeded and how it last failed. */
    report: sql<[duty: string, error: string | null, failures: number], []>`
      insert into ${table('duties')} as d (duty, last_success_at, last_error, last_error_at, failures)
      values ($1, case when $2::text is null then now() end, $2, case when $2::text is not null then now() end, $3)
      on conflict (duty) do update
         set last_success_at = coalesce(excluded.last_success_at, d.last_success_at),
             last_error = coalesce(excluded.last_error, d.last_error),
             last_error_at = coalesce(excluded.last_error_at, d.last_error_at),
             failures = d.failures + excluded.failures`,
  }
}

/** Ages in ms, by duty, as times of this server; none is no row, and an empty object. */
function timesOf(param: '$4' | '$5'): Fragment {
  const ages = param === '$4' ? fragment`$4::json` : fragment`$5::json`
  return fragment`(select coalesce(jsonb_object_agg(key, round(date_part('epoch', now()) * 1000 - value::float8)), '{}')
                    from json_each_text(${ages}))`
}

/** Of each duty when it last succeeded, as whoever leads or led last told: `duty`, `at`. */
export function toldSuccesses(schema: string): Fragment {
  return fragment`(select key as duty, to_timestamp(value::float8 / 1000) as at
                     from ${new Identifier(schema, 'leaders')}, jsonb_each_text(succeeded)
                    where name = 'maintenance')`
}
