import type { Upkeep } from '../store.js'
import type { Database } from './database.js'
import { sweptDeath } from './dead-row.js'
import { channelOf } from './notices.js'
import { noHandlerQueries } from './queries/no-handler.js'
import { setAsideQueries } from './queries/set-aside.js'
import { unservedQueries } from './queries/unserved.js'

/** A look that came later than this after the last one knows nothing of the time between. */
const GAP_MS = 90_000

/** What becomes of jobs that nobody serves, on PostgreSQL. */
export function judging(db: Database, schema: string): Upkeep['judgeUnserved'] {
  const { bringBack } = setAsideQueries(schema)
  const { watched, track } = unservedQueries(schema)
  const { expire, expireTelling } = noHandlerQueries(schema)
  const channel = channelOf(schema)

  return async (staleMs, limit, onDeaths) => {
    const [back] = await db.run(bringBack, [limit, channel])
    const returned = Number(back?.[0] ?? 0)
    const queues = (await db.run(watched, [staleMs])).map(([queue]) => queue)
    const [next] = await db.run(track, [queues, staleMs, GAP_MS])
    const nextInMs = next?.[0] == null ? null : Number(next[0])
    if (nextInMs === null || nextInMs > 0) return { returned, died: 0, nextInMs }
    if (!onDeaths) {
      const [dead] = await db.run(expire, [queues, staleMs, limit])
      return { returned, died: Number(dead?.[0] ?? 0), nextInMs }
    }
    const deaths = (await db.run(expireTelling, [queues, staleMs, limit])).map(sweptDeath)
    if (deaths.length > 0) onDeaths(deaths)
    return { returned, died: deaths.length, nextInMs }
  }
}
