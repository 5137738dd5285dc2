import { Columns, type Fragment, fragment, Identifier, join, sql } from '../sql.js'
import { PLACES } from './check.js'
import type { SweepParams, SweepRow } from './retain.js'

/** Deletions of what jobs have left behind that are nowhere any more. */
export function leftBehindQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)

  return {
    /**
     * What was said about dead letters that are nowhere any more, a day after it. Where one goes, it goes with it; this
     * is for those that were retried and ended otherwise. Index: triage_age, those on id.
     */
    triage: sql<SweepParams, SweepRow>`
      with looked as materialized (
        select job_id, updated_at as at
          from ${table('dlq_triage')}
         where updated_at > $1::timestamptz and updated_at < now() - interval '1 day'
         order by updated_at
         limit $2
      ),
      due as materialized (
        select l.job_id
          from looked l
         where ${nowhere(schema, 'l.job_id')}
         limit $3
      ),
      gone as (delete from ${table('dlq_triage')} t using due d where t.job_id = d.job_id returning 1)
      select (select count(*) from gone), (select count(*) from looked), (select max(at)::text from looked)`,

    /**
     * Versions of payloads whose job is nowhere any more, a day after the edit. Where a dead letter goes, by hand or by
     * retention, they go with it; this is for jobs that ended otherwise. Index: payload_versions_age, those on id.
     */
    payloadVersions: sql<SweepParams, SweepRow>`
      with looked as materialized (
        select job_id, version, edited_at as at
          from ${table('payload_versions')}
         where edited_at > $1::timestamptz and edited_at < now() - interval '1 day'
         order by edited_at
         limit $2
      ),
      due as materialized (
        select l.job_id, l.version
          from looked l
         where ${nowhere(schema, 'l.job_id')}
         limit $3
      ),
      gone as (
        delete from ${table('payload_versions')} v
         using due d
         where v.job_id = d.job_id and v.version = d.version
        returning 1
      )
      select (select count(*) from gone), (select count(*) from looked), (select max(at)::text from looked)`,

    /**
     * Callbacks whose job is nowhere any more, a day after they were made; their tokens go with them. Until then a token
     * is told that its job has left. Index: callbacks_age, those on id.
     */
    callbacks: sql<SweepParams, SweepRow>`
      with looked as materialized (
        select id, job_id, created_at as at
          from ${table('callbacks')}
         where created_at > $1::timestamptz and created_at < now() - interval '1 day'
         order by created_at
         limit $2
      ),
      due as materialized (
        select l.id
          from looked l
         where ${nowhere(schema, 'l.job_id')}
         limit $3
      ),
      gone as (
        delete from ${table('callbacks')} c using due d where c.id = d.id returning 1
      )
      select (select count(*) from gone), (select count(*) from looked), (select max(at)::text from looked)`,
  }
}

function nowhere(schema: string, id: string): Fragment {
  return join(
    PLACES.map(
      (place) =>
        fragment`not exists (select from ${new Identifier(schema, place)} j where j.id = ${new Columns([id])})`,
    ),
    ' and ',
  )
}
