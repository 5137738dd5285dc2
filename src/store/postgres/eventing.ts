import type { Eventing, LoggedEvent } from '../store.js'
import { actParams, performing } from './acting.js'
import type { Database } from './database.js'
import { type EventRow, eventQueries } from './queries/events.js'

/** Reads may be repeated while the database is away; whoever looks does not want to wait for long. */
const READ = { repeatable: true, patienceMs: 5_000 } as const

/** The event log on PostgreSQL. */
export function eventing(db: Database, schema: string): Eventing {
  const queries = eventQueries(schema)
  const perform = performing(db, schema)

  return {
    async sequenceEvents(limit) {
      const [row] = await db.run(queries.sequence, [limit], READ)
      return Number(row![0])
    },

    async readEvents({ types = null, queue = null, kind = null }, after, limit) {
      const rows = await db.run(queries.read, [after, limit, types, queue, kind], READ)
      const [upTo, head] = rows[0]!
      const events = rows.flatMap(eventOf)
      // Full, there may be more before the place where the look ended.
      const position = events.length === limit ? (events.at(-1)?.position ?? upTo) : upTo
      return { events, position, isEnd: BigInt(position) >= BigInt(head) }
    },

    async eventHead() {
      const [row] = await db.run(queries.head, [], READ)
      const [position, retentionMs] = row!
      return { position, retentionMs: Number(retentionMs) }
    },

    async setEventRetention(ms, act) {
      const [actor, reason, requestId] = actParams(act, '')
      const [row] = await perform(() => db.run(queries.setRetention, [ms, actor, reason, requestId]))
      return Number(row![0])
    },
  }
}

function eventOf(row: EventRow): LoggedEvent[] {
  const [, , position, id, atMs, type, jobId, queue, kind, generation, reason, cause, message] = row
  if (position === null || id === null || type === null || jobId === null || queue === null || kind === null) return []
  return [
    {
      ...{ id, position, at: new Date(Number(atMs)), type, jobId, queue, kind },
      ...{ generation: Number(generation), reason, cause, message },
    },
  ]
}
