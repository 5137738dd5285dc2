import { randomUUID } from 'node:crypto'
import { SpillwayError } from '../../job/errors.js'
import type { Delivery, Hooking, StoredWebhook, WebhookPatch, WebhookSettings } from '../store.js'
import { actParams } from './acting.js'
import { decodeCursor, encodeCursor, ID, isId } from './cursor.js'
import type { Database } from './database.js'
import { delivering } from './delivering.js'
import { type DeliveryRow, type WebhookRow, webhookQueries } from './queries/webhooks.js'

/** Reads may be repeated while the database is away; whoever looks does not want to wait for long. */
const READ = { repeatable: true, patienceMs: 5_000 } as const
const LARGEST_ID = '9223372036854775807'

/** Webhooks and their deliveries on PostgreSQL. */
export function hooking(db: Database, schema: string): Hooking {
  const queries = webhookQueries(schema)

  async function getWebhook(id: string): Promise<StoredWebhook | undefined> {
    if (!isId(id)) return undefined
    const [row] = await db.run(queries.get, [id], READ)
    return row && webhookOf(row)
  }

  async function found(id: string | undefined, asked: string): Promise<StoredWebhook> {
    const webhook = id === undefined ? undefined : await getWebhook(id)
    if (webhook) return webhook
    throw noWebhook(asked)
  }

  return {
    ...delivering(db, schema),
    getWebhook,

    async createWebhook(settings, secret, act) {
      const [actor, reason, requestId] = actParams(act, '')
      const secrets = JSON.stringify([{ secret, until: null }])
      const [row] = await db.run(queries.create, [settingsJson(settings), secrets, actor, reason, requestId])
      return found(row?.[0], 'new')
    },

    async listWebhooks() {
      return (await db.run(queries.list, [], READ)).map(webhookOf)
    },

    async updateWebhook(id, patch, act) {
      if (!isId(id)) throw noWebhook(id)
      const [actor, reason, requestId] = actParams(act, '')
      const { rotate, ...rest } = patch
      const [row] = await db.run(queries.update, [
        ...([settingsJson(rest), id, rotate?.secret ?? null, rotate?.keepMs ?? 0] as const),
        ...([actor, reason, requestId] as const),
      ])
      return found(row?.[0], id)
    },

    async deleteWebhook(id, act) {
      const [actor, reason, requestId] = actParams(act, '')
      const gone = isId(id) ? await db.run(queries.delete, [id, actor, reason, requestId]) : []
      if (gone.length === 0) throw noWebhook(id)
    },

    async testWebhook(id, act) {
      const [actor, reason, requestId] = actParams(act, '')
      const messageId = `test_${randomUUID()}`
      const [row] = isId(id) ? await db.run(queries.test, [id, messageId, actor, reason, requestId]) : []
      if (!row) throw noWebhook(id)
      return deliveryOf(row)
    },

    async redeliver(id, act) {
      const [actor, reason, requestId] = actParams(act, '')
      const [row] = isId(id) ? await db.run(queries.redeliver, [id, actor, reason, requestId]) : []
      if (row) return deliveryOf(row)
      throw new SpillwayError(
        'not_found',
        `cannot find delivery ${id.slice(0, 40)}; \`spillway webhooks deliveries ID\` lists those of a webhook`,
      )
    },

    async getDelivery(id) {
      if (!isId(id)) return undefined
      const [row] = await db.run(queries.delivery, [id], READ)
      return row && deliveryOf(row)
    },

    async listDeliveries({ webhookId, state }, { limit, cursor }) {
      if (webhookId !== undefined && !isId(webhookId)) return { items: [], cursor: null }
      const beforeId = cursor === undefined ? LARGEST_ID : (decodeCursor(cursor, [ID])[0] as string)
      const rows = await db.run(...queries.deliveries({ webhookId, state, beforeId, limit: limit + 1 }), READ)
      const items = rows.slice(0, limit).map(deliveryOf)
      return { items, cursor: rows.length > limit ? encodeCursor([items.at(-1)?.id ?? '']) : null }
    },
  }
}

function noWebhook(id: string): SpillwayError {
  return new SpillwayError(
    'not_found',
    `cannot find webhook ${id.slice(0, 40)}; \`spillway webhooks list\` shows which there are`,
  )
}

function settingsJson({ digestMs, digestEvents, ...settings }: Partial<WebhookSettings> & WebhookPatch): string {
  return JSON.stringify({ ...settings, digest_ms: digestMs, digest_events: digestEvents })
}

function webhookOf(row: WebhookRow): StoredWebhook {
  const [id, url, description, types, queues, kinds, reasons, digestMs, digestEvents, state, stateReason, position] =
    row
  const [failures, lastError, secrets, createdBy, createdAtMs, updatedAtMs, pending, dead] = row.slice(12) as string[]
  return {
    ...{ id, url, description, state, stateReason, position },
    types: listOf(types),
    queues: listOf(queues),
    kinds: listOf(kinds),
    reasons: listOf(reasons),
    digestMs: digestMs === null ? null : Number(digestMs),
    digestEvents: Number(digestEvents),
    failures: Number(failures),
    lastError: lastError ?? null,
    pending: Number(pending),
    dead: Number(dead),
    secrets: (JSON.parse(secrets ?? '[]') as { secret: string; until: string | null }[]).map((it) => ({
      secret: it.secret,
      until: it.until === null ? null : new Date(it.until),
    })),
    createdBy: createdBy ?? '',
    createdAt: new Date(Number(createdAtMs)),
    updatedAt: new Date(Number(updatedAtMs)),
  }
}

function listOf(json: string | null): readonly string[] | null {
  return json === null ? null : (JSON.parse(json) as string[])
}

function deliveryOf(row: DeliveryRow): Delivery {
  const [id, webhookId, messageId, type, state, attempts, nextAtMs, lastStatus, lastError, createdAtMs, endedAtMs] = row
  return {
    ...{ id, webhookId, messageId, type, state, lastError },
    attempts: Number(attempts),
    nextAt: state === 'pending' ? new Date(Number(nextAtMs)) : null,
    lastStatus: lastStatus === null ? null : Number(lastStatus),
    createdAt: new Date(Number(createdAtMs)),
    endedAt: endedAtMs === null ? null : new Date(Number(endedAtMs)),
  }
}
