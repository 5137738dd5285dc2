import { Identifier, sql } from '../sql.js'

/** Where the look ended and where the log ends, with an event; without one where none of them is asked for. */
export type EventRow = [
  upTo: string,
  head: string,
  position: string | null,
  id: string | null,
  atMs: string | null,
  type: string | null,
  jobId: string | null,
  queue: string | null,
  kind: string | null,
  generation: string | null,
  reason: string | null,
  cause: string | null,
  message: string | null,
]

export type ReadParams = [
  after: string,
  limit: number,
  types: readonly string[] | null,
  queue: string | null,
  kind: string | null,
]

export function eventQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const log = table('event_log')
  const head = table('event_head')

  return {
    /** outbox → log, at most $1 events. Locks the head while there are any. Always answers one row. */
    sequence: sql<[batch: number], [moved: string]>`
      select ${table('sequence_events')}($1)`,

    /**
     * Events behind position $1 that fit, of the next 10,000 positions at most. Index: primary key. Always answers a row.
     */
    read: sql<ReadParams, EventRow>`
      with bounds as materialized (
        select b.low, greatest(b.low, least(b.low + 10000, b.head)) as up_to, b.head
          from (select greatest($1::bigint, coalesce((select min(position) from ${log}), last_position + 1) - 1) as low,
                       last_position as head
                  from ${head}) as b
      )
      select b.up_to, b.head, e.position, e.id, date_part('epoch', e.at) * 1000, e.type, e.job_id, e.queue, e.kind,
             e.generation, e.reason, e.cause, e.message
        from bounds b
        left join lateral (
          select l.position, l.id, l.at, l.type, l.job_id, l.queue, l.kind, l.generation, l.reason, l.cause, l.message
            from ${log} l
           where l.position > b.low and l.position <= b.up_to
             and ($3::text[] is null or l.type = any ($3::text[]))
             and ($4::text is null or l.queue = $4::text)
             and ($5::text is null or l.kind = $5::text)
           order by l.position
           limit $2) as e on true
       order by e.position`,

    /** The newest position there is. Always answers one row. */
    head: sql<[], [position: string, retentionMs: string]>`
      select last_position, retention_ms from ${head}`,

    /** How long events stay in the log. */
    setRetention: sql<[ms: number, actor: string, reason: string | null, requestId: string | null], [ms: string]>`
      with changed as (
        update ${head} set retention_ms = $1 returning retention_ms
      ),
      audited as (
        insert into ${table('audit_log')} (actor, action, target, reason, result, request_id)
        select $2::text, 'set_event_retention', '{}'::json, $3::text, json_build_object('retention_ms', retention_ms), $4::text
          from changed
      )
      select retention_ms from changed`,
  }
}
