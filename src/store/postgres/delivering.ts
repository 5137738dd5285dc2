import type { DueDelivery, Hooking } from '../store.js'
import type { Database } from './database.js'
import { type ClaimedDeliveryRow, deliverQueries } from './queries/deliver.js'

type Delivering = Pick<Hooking, 'planDeliveries' | 'claimDeliveries' | 'recordSend' | 'releaseDelivery'>

/** What a sender of webhooks asks of PostgreSQL. No transaction is open while something is sent. */
export function delivering(db: Database, schema: string): Delivering {
  const queries = deliverQueries(schema)

  async function bodyOf(row: ClaimedDeliveryRow): Promise<string | null> {
    const [, webhookId, , type, , , , , createdAt, event, first, last] = row
    if (type === 'test') return envelope('test', createdAt, '{}')
    if (type === 'event') {
      if (event === null) return null
      const { type: happened, at } = JSON.parse(event) as { type: string; at: string }
      return envelope(happened, at, event)
    }
    const [digest] = await db.run(queries.digest, [webhookId, first ?? '0', last ?? '0'])
    const document = digest?.[0] ?? null
    return document === null ? null : envelope('digest', createdAt, document)
  }

  return {
    planDeliveries() {
      return db.transaction(async (tx) => {
        const [behind] = await tx.run(queries.behind, [])
        if (!behind) return false
        const [id, cursor, isDigest] = behind
        const [row] = await tx.run(isDigest === 't' ? queries.planDigest : queries.planEvents, [id, cursor])
        await tx.run(queries.advance, [id, row![0]])
        return true
      })
    },

    async claimDeliveries(limit, perWebhook, except) {
      const rows = await db.run(queries.claim, [except, perWebhook, limit])
      return Promise.all(rows.map(async (row) => dueOf(row, await bodyOf(row))))
    },

    async recordSend({ id, attempt, failures }, outcome, { maxAttempts, retryInMs, pauseAfter }) {
      // The fence is the try, so a repetition after a lost answer changes nothing.
      const repeatable = { repeatable: true }
      if (outcome.ok) {
        await db.run(queries.sent, [id, attempt, outcome.status], repeatable)
        return
      }
      const { status, error, isGone, isLost } = outcome
      await db.run(
        queries.failed,
        [id, attempt, status, error, maxAttempts, retryInMs, pauseAfter, failures, isGone, isLost],
        repeatable,
      )
    },

    async releaseDelivery({ id, attempt }) {
      await db.run(queries.released, [id, attempt])
    },
  }
}

function dueOf(row: ClaimedDeliveryRow, body: string | null): DueDelivery {
  const [id, webhookId, messageId, type, attempt, failures, url, secrets] = row
  return {
    ...{ id, webhookId, messageId, type, url, body },
    attempt: Number(attempt),
    failures: Number(failures),
    secrets: JSON.parse(secrets ?? '[]') as string[],
  }
}

function envelope(type: string, timestamp: string, data: string): string {
  return `{"type":${JSON.stringify(type)},"timestamp":${JSON.stringify(timestamp)},"data":${data}}`
}
