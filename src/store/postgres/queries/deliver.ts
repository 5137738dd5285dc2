import { fragment, Identifier, sql } from '../sql.js'

/** A webhook that is behind the log: up to where its deliveries were made. */
export type BehindRow = [webhookId: string, cursor: string, isDigest: 't' | 'f']

export type ClaimedDeliveryRow = [
  id: string,
  webhookId: string,
  messageId: string,
  type: 'event' | 'digest' | 'test',
  attempt: string,
  failures: string,
  url: string,
  secrets: string,
  createdAt: string,
  /** Of an event: as the log has it, JSON. Null: it is not there any more. */
  event: string | null,
  firstPosition: string | null,
  lastPosition: string | null,
]

/** How many events one delivery of a digest speaks of at most. */
const DIGEST_SPAN = fragment`10000`

/** Making and sending deliveries. The log's positions have no gaps, so a range of them is a range of events. */
export function deliverQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const webhooks = table('webhooks')
  const deliveries = table('deliveries')
  const log = table('event_log')
  const head = fragment`(select last_position from ${table('event_head')})`
  /** Whether event `e` is one that webhook `w` is told of. */
  const matches = fragment`(w.types is null or e.type = any (w.types)) and (w.queues is null or e.queue = any (w.queues))
             and (w.kinds is null or e.kind = any (w.kinds)) and (w.reasons is null or e.reason = any (w.reasons))`
  const event = fragment`json_build_object('id', e.id::text, 'position', e.position::text, 'type', e.type,
               'at', to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'job_id', e.job_id::text, 'queue', e.queue,
               'kind', e.kind, 'generation', e.generation, 'reason', e.reason, 'cause', e.cause, 'message', e.message)`

  return {
    /** The webhook that is farthest behind the log, locked; no row: none is, or others are at it. */
    behind: sql<[], BehindRow>`
      select w.id, w.cursor_position, w.digest_ms is not null
        from ${webhooks} w
       where w.state = 'active' and w.cursor_position < ${head} and (w.digest_ms is null or w.digest_at <= now())
       order by w.cursor_position, w.id
       limit 1
         for update skip locked`,

    /**
     * Makes a delivery of each event it is told of, among the next 1,000 behind position $2. Answers up to where.
     * Index: primary key of the log. Always answers one row.
     */
    planEvents: sql<[webhookId: string, cursor: string], [upTo: string]>`
      with seen as materialized (
        select e.position, e.id, ${matches} as matches
          from ${webhooks} w join ${log} e on e.position > $2::bigint
         where w.id = $1
         order by e.position
         limit 1000
      ),
      made as (
        insert into ${deliveries} (webhook_id, message_id, type, first_position, last_position)
        select $1::bigint, 'evt_' || id, 'event', position, position from seen where matches
      )
      select coalesce((select max(position) from seen), ${head})`,

    /** The same for a digest: one delivery for all of them. */
    planDigest: sql<[webhookId: string, cursor: string], [upTo: string]>`
      with bounds as materialized (
        select least(${head}, greatest($2::bigint, (select min(position) - 1 from ${log})) + ${DIGEST_SPAN}) as up_to
      ),
      seen as materialized (
        select count(*) as n
          from ${webhooks} w join ${log} e on e.position > $2::bigint and e.position <= (select up_to from bounds)
         where w.id = $1 and ${matches}
      ),
      made as (
        insert into ${deliveries} (webhook_id, message_id, type, first_position, last_position)
        select $1::bigint, 'dig_' || $1::bigint || '_' || up_to, 'digest', $2::bigint + 1, up_to
          from bounds, seen where seen.n > 0
      )
      select up_to from bounds`,

    /** Deliveries up to $2 are made. A digest that is not at the end of the log yet goes on at once. */
    advance: sql<[webhookId: string, upTo: string], []>`
      update ${webhooks}
         set cursor_position = $2,
             digest_at = case when $2 < ${head} then digest_at else now() + coalesce(digest_ms, 0) * interval '1 millisecond' end
       where id = $1`,

    /**
     * Takes deliveries that are due, for a minute each, at most $3, and of one webhook $2; of one that fails a single
     * one, to see whether it is over. Not of the webhooks in $1. Tests go even where it is paused.
     *
     * Index: deliveries_due. Locks: skips what another sender takes.
     */
    claim: sql<[except: readonly string[], perWebhook: number, limit: number], ClaimedDeliveryRow>`
      with picked as materialized (
        select d.id, w.failures
          from ${webhooks} w
         cross join lateral (
                 select d.id
                   from ${deliveries} d
                  where d.webhook_id = w.id and d.state = 'pending' and d.next_at <= now()
                    and (d.type = 'test' or (w.state = 'active' and w.held_until <= now()))
                  order by d.next_at, d.id
                  limit case when w.failures > 0 then 1 else $2::integer end
                    for update skip locked) as d
         where w.id <> all ($1::bigint[])
         limit $3
      ),
      taken as (
        update ${deliveries} d
           set attempts = d.attempts + 1, next_at = now() + interval '1 minute'
          from picked p
         where d.id = p.id
        returning d.id, d.webhook_id, d.message_id, d.type, d.attempts, p.failures, d.created_at, d.first_position, d.last_position
      ),
      probing as (
        update ${webhooks} w
           set held_until = greatest(w.held_until, now() + interval '30 seconds')
         where w.id in (select webhook_id from taken where failures > 0 and type <> 'test')
      )
      select t.id, t.webhook_id, t.message_id, t.type, t.attempts, t.failures, w.url,
             (select json_agg(s ->> 'secret') from jsonb_array_elements(w.secrets) as s
               where (s ->> 'until') is null or (s ->> 'until')::timestamptz > now()),
             to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
             (select ${event} from ${log} e where t.type = 'event' and e.position = t.first_position),
             t.first_position, t.last_position
        from taken t
        join ${webhooks} w on w.id = t.webhook_id
       order by t.id`,

    /** What a digest says: counts by type, queue, reason and cause, and the first events. Null: nothing is left of it. */
    digest: sql<[webhookId: string, first: string, last: string], [document: string | null]>`
      with told as materialized (
        select e.position, e.type, e.queue, e.kind, e.reason, e.cause, e.at, ${event} as event, w.digest_events
          from ${webhooks} w join ${log} e on e.position between $2::bigint and $3::bigint
         where w.id = $1 and ${matches}
      ),
      groups as (
        select type, queue, kind, reason, cause, count(*) as n from told group by 1, 2, 3, 4, 5 order by n desc, 2, 3, 5 limit 100
      )
      select case when count(*) > 0 then json_build_object(
               'count', count(*),
               'from', to_char(min(at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
               'to', to_char(max(at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
               'groups', (select json_agg(json_build_object('type', type, 'queue', queue, 'kind', kind, 'reason', reason,
                                                            'cause', cause, 'count', n) order by n desc, queue, kind, cause) from groups),
               'events', coalesce((select json_agg(event order by position) from (select event, position from told
                                     order by position limit (select max(digest_events) from told)) as first_ones), '[]')) end
        from told`,

    /** pending → delivered, and the webhook is well again. Another took it meanwhile: nothing happens. */
    sent: sql<[id: string, attempt: number, status: number], []>`
      with ended as (
        update ${deliveries}
           set state = 'delivered', last_status = $3, last_error = null, ended_at = now()
         where id = $1 and attempts = $2 and state = 'pending'
        returning webhook_id, type
      )
      update ${webhooks} w
         set failures = 0, held_until = '-infinity', last_error = null
        from ended e
       where w.id = e.webhook_id and e.type <> 'test' and (w.failures > 0 or w.last_error is not null)`,

    /**
     * pending → pending, later; dead after $5 tries, a test after the first, what the log has forgotten ($10) at once. The
     * webhook is held until then too, and paused after $7 failures in a row, or when it is gone ($9); several that were on
     * their way together count once. What fails because the webhook does is not given up.
     */
    failed: sql<
      [
        id: string,
        attempt: number,
        status: number | null,
        error: string,
        maxAttempts: number,
        retryInMs: number,
        pauseAfter: number,
        failures: number,
        isGone: boolean,
        isLost: boolean,
      ],
      []
    >`
      with tried as (
        select d.id, $10::boolean or d.type = 'test'
                     or (d.attempts >= $5::integer and $8::integer + 1 < $7::integer and not $9::boolean) as is_over
          from ${deliveries} d
         where d.id = $1
      ),
      ended as (
        update ${deliveries} d
           set last_status = $3, last_error = $4, next_at = now() + $6 * interval '1 millisecond',
               state = case when t.is_over then 'dead' else 'pending' end, ended_at = case when t.is_over then now() end
          from tried t
         where d.id = t.id and d.attempts = $2 and d.state = 'pending'
        returning d.webhook_id, d.type
      )
      update ${webhooks} w
         set failures = greatest(w.failures, $8::integer + 1), last_error = $4,
             held_until = greatest(w.held_until, now() + $6 * interval '1 millisecond'),
             state = case when $9::boolean or $8::integer + 1 >= $7::integer then 'paused' else w.state end,
             state_reason = case when w.state = 'paused' then w.state_reason
                                 when $9::boolean then 'the receiver answered that it is gone for good (410)'
                                 when $8::integer + 1 >= $7::integer then $8::integer + 1 || ' tries in a row failed; the last: ' || $4::text
                            end
        from ended e
       where w.id = e.webhook_id and e.type <> 'test' and not $10::boolean`,

    /** The try did not take place. */
    released: sql<[id: string, attempt: number], []>`
      update ${deliveries} set attempts = attempts - 1, next_at = now()
       where id = $1 and attempts = $2 and state = 'pending'`,
  }
}
