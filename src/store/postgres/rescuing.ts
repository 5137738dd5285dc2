import type { Rescued, Upkeep } from '../store.js'
import type { Database } from './database.js'
import { channelOf } from './notices.js'
import { quarantining } from './quarantining.js'
import { rescueQueries } from './queries/rescue.js'

const BATCH = 1_000
/** One pass is bounded, so that a large loss does not keep a stopping process waiting. */
const BATCHES = 20

/** Finds registrations that are no more, and takes back what they held. */
export function rescuing(db: Database, schema: string): Pick<Upkeep, 'rescue' | 'endGone'> {
  const queries = rescueQueries(schema)
  const channel = channelOf(schema)
  const { finishReleases } = quarantining(db, schema)

  return {
    async rescue(staleMs, crashLimit): Promise<Rescued> {
      const counts = { retry: 0, back: 0, handed_back: 0, crash_bound: 0, crash_limit: 0 }
      const [lost] = await db.run(queries.lost, [staleMs])
      const registrations = lost![1]
      for (let batch = 0; registrations !== '{}' && batch < BATCHES; batch++) {
        let moved = 0
        for (const [verdict, n] of await db.run(queries.takeBack, [
          registrations,
          BATCH,
          crashLimit,
          channel,
          staleMs,
        ])) {
          counts[verdict] += Number(n)
          moved += Number(n)
        }
        if (moved < BATCH) break
      }
      await finishReleases()
      return {
        retried: counts.retry,
        quarantined: counts.handed_back + counts.crash_bound + counts.crash_limit,
        handedBack: counts.back,
      }
    },

    async endGone({ host, bootId, pidNamespace }, isAlive) {
      const gone = (await db.run(queries.neighbours, [host, bootId, pidNamespace]))
        .filter(([, pid, pidStarted]) => !isAlive(Number(pid), pidStarted))
        .map(([registration]) => registration)
      return gone.length === 0 ? 0 : (await db.run(queries.endGone, [gone])).length
    },
  }
}
