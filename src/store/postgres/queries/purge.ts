import type { JobState } from '../../../job/states.js'
import { Fragment, fragment, Identifier, join, sql } from '../sql.js'
import type { ActParams } from './operate.js'

/** Where jobs lie that have ended or are held, but for dead letters, which operations purge. */
const FROM = [
  { place: 'terminal_entries', state: 'j.state' },
  { place: 'held_entries', state: 'j.state' },
  { place: 'dlq_bin', state: "'discarded'::text" },
] as const

export function purgeQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const erased = (name: string) => fragment`delete from ${table(name)} t using gone g where t.job_id = g.id`

  return {
    /**
     * completed, failed, cancelled, quarantined, undecodable, discarded → gone for good, with everything kept about it;
     * counted. Frees the unique key of a held one.
     *
     * Index: the one on id of each place. Locks the job's row. No row back: it was in none of these places when the
     * statement began.
     */
    purge: sql<[id: string, ...ActParams], [state: JobState, notified: string | null]>`
      with ${join(
        FROM.map(
          ({ place, state }) => fragment`
      ${new Identifier(`from_${place}`)} as (
        delete from ${table(place)} j
         where j.id = $1::bigint
        returning j.id, j.queue, j.kind, j.unique_key, ${new Fragment(state)} as state
      )`,
        ),
        ',',
      )},
      gone as materialized (
        ${join(
          FROM.map(
            ({ place }) => fragment`select id, queue, kind, unique_key, state from ${new Identifier(`from_${place}`)}`,
          ),
          ' union all ',
        )}
      ),
      freed as (
        delete from ${table('unique_keys')} k
         using gone g
         where g.unique_key is not null and k.key = g.unique_key and k.job_id = g.id
      ),
      no_versions as (${erased('payload_versions')}),
      no_rows as (${erased('operation_rows')}),
      no_canaries as (${erased('operation_canaries')}),
      no_crashes as (${erased('crashes')}),
      no_events as (${erased('event_outbox')}),
      accounted as (
        insert into ${table('counters')} (queue, kind, reason, what, n)
        select queue, kind, 'purged', 'gone', 1 from gone
      ),
      audited as (
        insert into ${table('audit_log')} (actor, action, target, reason, result, request_id)
        select $2::text, 'purge', json_build_object('id', id::text), $3::text,
               json_build_object('from', state, 'state', 'gone'), $4::text
          from gone
      )
      select state, case when $5::text is null then null end from gone`,
  }
}
