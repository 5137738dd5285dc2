import { Columns, fragment, Identifier, type Statement, sql } from '../sql.js'
import { Conditions } from './conditions.js'

export type WebhookRow = [
  id: string,
  url: string,
  description: string | null,
  types: string | null,
  queues: string | null,
  kinds: string | null,
  reasons: string | null,
  digestMs: string | null,
  digestEvents: string,
  state: 'active' | 'paused',
  stateReason: string | null,
  position: string,
  failures: string,
  lastError: string | null,
  secrets: string,
  createdBy: string,
  createdAtMs: string,
  updatedAtMs: string,
  pending: string,
  dead: string,
]

export type DeliveryRow = [
  id: string,
  webhookId: string,
  messageId: string,
  type: 'event' | 'digest' | 'test',
  state: 'pending' | 'delivered' | 'dead',
  attempts: string,
  nextAtMs: string,
  lastStatus: string | null,
  lastError: string | null,
  createdAtMs: string,
  endedAtMs: string | null,
]

type Who = [actor: string, reason: string | null, requestId: string | null]

export interface DeliveryListing {
  readonly webhookId?: string | undefined
  readonly state?: string | undefined
  readonly beforeId: string
  readonly limit: number
}

/** Webhooks and what is sent to them, as operators see and change it. */
export function webhookQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const webhooks = table('webhooks')
  const deliveries = table('deliveries')
  const audit = fragment`insert into ${table('audit_log')} (actor, action, target, reason, result, request_id)`
  // Of many, more than a thousand is all anybody wants to know.
  const count = (state: string) =>
    `(select count(*) from (select 1 from ${deliveries.quoted} d where d.webhook_id = w.id and d.state = '${state}' limit 1001) as counted)`
  const shown = new Columns([
    ...['id', 'url', 'description'].map((column) => `w.${column}`),
    ...['types', 'queues', 'kinds', 'reasons'].map((column) => `array_to_json(w.${column})`),
    ...['digest_ms', 'digest_events', 'state', 'state_reason', 'cursor_position', 'failures', 'last_error'].map(
      (column) => `w.${column}`,
    ),
    ...[
      'w.secrets',
      'w.created_by',
      "date_part('epoch', w.created_at) * 1000",
      "date_part('epoch', w.updated_at) * 1000",
    ],
    ...[count('pending'), count('dead')],
  ])
  const delivery = (alias: string) =>
    new Columns([
      ...['id', 'webhook_id', 'message_id', 'type', 'state', 'attempts'].map((column) => `${alias}.${column}`),
      `date_part('epoch', ${alias}.next_at) * 1000`,
      `${alias}.last_status`,
      `${alias}.last_error`,
      `date_part('epoch', ${alias}.created_at) * 1000`,
      `date_part('epoch', ${alias}.ended_at) * 1000`,
    ])
  const texts = (key: string) =>
    `(select array_agg(value) from jsonb_array_elements_text(case jsonb_typeof($1::jsonb -> '${key}') when 'array' then $1::jsonb -> '${key}' else '[]' end))`
  const given = (column: string, expression: string) =>
    `${column} = case when $1::jsonb ? '${column}' then ${expression} else w.${column} end`

  return {
    /** – → a webhook that begins with the next event. $1: its settings, as JSON. */
    create: sql<[settings: string, secrets: string, ...Who], [id: string]>`
      with made as (
        insert into ${webhooks} (url, description, types, queues, kinds, reasons, digest_ms, digest_events, digest_at, secrets,
                                 cursor_position, created_by)
        select $1::jsonb ->> 'url', $1::jsonb ->> 'description',
               ${new Columns(['types', 'queues', 'kinds', 'reasons'].map(texts))},
               ($1::jsonb ->> 'digest_ms')::bigint, ($1::jsonb ->> 'digest_events')::integer,
               now() + coalesce(($1::jsonb ->> 'digest_ms')::bigint, 0) * interval '1 millisecond', $2::jsonb,
               (select last_position from ${table('event_head')}), $3
        returning id
      ),
      audited as (
        ${audit} select $3, 'webhook_create', json_build_object('webhook', id::text), $4::text, null, $5::text from made
      )
      select id from made`,

    /** Every webhook, oldest first. */
    list: sql<[], WebhookRow>`
      select ${shown} from ${webhooks} w order by w.id limit 1000`,

    get: sql<[id: string], WebhookRow>`
      select ${shown} from ${webhooks} w where w.id = $1`,

    /**
     * Changes what $1 names. Going on (`paused` false) forgets the failures. A new secret goes in front; the ones before
     * hold for so long, and what has lapsed goes. No row back: there is no such webhook.
     */
    update: sql<[patch: string, id: string, newSecret: string | null, keepMs: number, ...Who], [id: string]>`
      with changed as (
        update ${webhooks} w
           set ${new Columns([
             given('url', "$1::jsonb ->> 'url'"),
             given('description', "$1::jsonb ->> 'description'"),
             ...['types', 'queues', 'kinds', 'reasons'].map((column) => given(column, texts(column))),
             given('digest_ms', "($1::jsonb ->> 'digest_ms')::bigint"),
             given('digest_events', "($1::jsonb ->> 'digest_events')::integer"),
           ])},
               state = case $1::jsonb ->> 'paused' when 'true' then 'paused' when 'false' then 'active' else w.state end,
               state_reason = case $1::jsonb ->> 'paused' when 'true' then coalesce($6::text, 'by ' || $5::text)
                                                          when 'false' then null else w.state_reason end,
               failures = case when $1::jsonb ->> 'paused' = 'false' then 0 else w.failures end,
               held_until = case when $1::jsonb ->> 'paused' = 'false' then '-infinity' else w.held_until end,
               secrets = case when $3::text is null then w.secrets
                              else jsonb_build_array(jsonb_build_object('secret', $3::text, 'until', null)) ||
                                   coalesce((select jsonb_agg(jsonb_build_object('secret', s ->> 'secret', 'until',
                                                     least((s ->> 'until')::timestamptz, now() + $4 * interval '1 millisecond')))
                                               from jsonb_array_elements(w.secrets) as s
                                              where $4 > 0 and ((s ->> 'until') is null or (s ->> 'until')::timestamptz > now())),
                                            '[]') end,
               updated_at = now()
         where w.id = $2
        returning w.id, w.state
      ),
      audited as (
        ${audit}
        select $5, 'webhook_update', json_build_object('webhook', id::text), $6::text,
               json_build_object('changed', (select coalesce(json_agg(key order by key), '[]') from jsonb_object_keys($1::jsonb) as key),
                                 'rotated', $3::text is not null, 'state', state), $7::text
          from changed
      )
      select id from changed`,

    /** A webhook and its deliveries → gone. No row back: there was none. */
    delete: sql<[id: string, ...Who], [id: string]>`
      with gone as (
        delete from ${webhooks} where id = $1 returning id
      ),
      audited as (
        ${audit} select $2, 'webhook_delete', json_build_object('webhook', id::text), $3::text, null, $4::text from gone
      )
      select id from gone`,

    /** – → a delivery about nothing. No row back: there is no such webhook. */
    test: sql<[id: string, messageId: string, ...Who], DeliveryRow>`
      with made as (
        insert into ${deliveries} (webhook_id, message_id, type)
        select id, $2::text, 'test' from ${webhooks} where id = $1
        returning id, webhook_id, message_id, type, state, attempts, next_at, last_status, last_error, created_at, ended_at
      ),
      audited as (
        ${audit} select $3, 'webhook_test', json_build_object('webhook', webhook_id::text), $4::text, null, $5::text from made
      )
      select ${delivery('made')} from made`,

    /** pending, delivered, dead → pending, due now, its tries counted anew. No row back: there is none. */
    redeliver: sql<[id: string, ...Who], DeliveryRow>`
      with again as (
        update ${deliveries}
           set state = 'pending', attempts = 0, next_at = now(), ended_at = null
         where id = $1
        returning id, webhook_id, message_id, type, state, attempts, next_at, last_status, last_error, created_at, ended_at
      ),
      audited as (
        ${audit}
        select $2, 'webhook_redeliver', json_build_object('webhook', webhook_id::text, 'delivery', id::text), $3::text, null, $4::text
          from again
      )
      select ${delivery('again')} from again`,

    delivery: sql<[id: string], DeliveryRow>`
      select ${delivery('d')} from ${deliveries} d where d.id = $1`,

    /** Deliveries, newest first. Index: deliveries_recent, else the primary key backwards. */
    deliveries(listing: DeliveryListing): readonly [Statement<unknown[], DeliveryRow>, unknown[]] {
      const where = new Conditions([listing.beforeId, listing.limit])
      const of =
        listing.webhookId === undefined
          ? fragment``
          : fragment` and ${where.compare('d.webhook_id =', listing.webhookId, 'bigint')}`
      const state =
        listing.state === undefined ? fragment`` : fragment` and ${where.compare('d.state =', listing.state)}`
      const statement = sql<unknown[], DeliveryRow>`
        select ${delivery('d')}
          from ${deliveries} d
         where d.id < $1::bigint${of}${state}
         order by d.id desc
         limit $2::bigint`
      return [statement, where.values]
    },
  }
}
