import type { Lead, Passes, Upkeep } from '../store.js'
import { answering } from './answering.js'
import type { Database } from './database.js'
import { sweptDeath } from './dead-row.js'
import { judging } from './judging.js'
import { channelOf } from './notices.js'
import { archiveQueries } from './queries/archive.js'
import { deadlineQueries } from './queries/deadlines.js'
import { foldQueries } from './queries/fold.js'
import { leaderQueries } from './queries/leaders.js'
import { partitionQueries } from './queries/partitions.js'
import { promoteQueries } from './queries/promote.js'
import { rescuing } from './rescuing.js'
import { type RetainOptions, retaining } from './retaining.js'
import { type RingOptions, turningRings } from './turning-rings.js'

/** Most rows one statement of maintenance moves: it holds their locks for milliseconds. */
const MAX_BATCH = 1_000

const NO_PASSES: Passes = { succeeded: {}, underWay: {} }

export type UpkeepOptions = RingOptions & RetainOptions

/** Maintenance on PostgreSQL. What it remembers between passes only saves work; any process may take over at any time. */
export function upkeep(db: Database, schema: string, options: UpkeepOptions = {}): Upkeep {
  const channel = channelOf(schema)
  const leaders = leaderQueries(schema)
  const { promote } = promoteQueries(schema)
  const deadlines = deadlineQueries(schema)
  const { fold, foldCounters } = foldQueries(schema)
  const { prepare } = partitionQueries(schema)
  const { timeOutCallbacks } = answering(db, schema)
  const { prepare: prepareCold } = archiveQueries(schema)

  return {
    async lead(name, holder, ttlMs, { succeeded, underWay } = NO_PASSES): Promise<Lead> {
      const params = [name, holder, ttlMs, JSON.stringify(succeeded), JSON.stringify(underWay)] as const
      const [row] = await db.run(leaders.lead, [...params], { repeatable: true, patienceMs: 0 })
      const [leading, expiresInMs, nextDueInMs, hasExpired, hasDeltas, hasOrphans, ...rest] = row!
      const [hasEvents, hasDeliveries, activity, nextTimeoutInMs, paused, version] = rest
      return {
        leading: leading === 't',
        expiresInMs: Number(expiresInMs),
        nextDueInMs: nextDueInMs === null ? null : Number(nextDueInMs),
        nextTimeoutInMs: nextTimeoutInMs === null ? null : Number(nextTimeoutInMs),
        hasExpired: hasExpired === 't',
        hasDeltas: hasDeltas === 't',
        hasOrphans: hasOrphans === 't',
        hasEvents: hasEvents === 't',
        hasDeliveries: hasDeliveries === 't',
        activity: activity ?? '',
        pausedDuties: paused === null ? [] : (JSON.parse(paused) as string[]),
        policyVersion: version,
      }
    },

    async resign(name, holder) {
      await db.run(leaders.resign, [name, holder])
    },

    async promote(limit) {
      const [row] = await db.run(promote, [Math.min(limit, MAX_BATCH), channel])
      const [moved, nextInMs] = row!
      return { moved: Number(moved), nextInMs: nextInMs === null ? null : Math.max(0, Number(nextInMs)) }
    },

    async expireDeadlines(limit, onDeaths) {
      const atMost = Math.min(limit, MAX_BATCH)
      const [early] = await db.run(deadlines.hurry, [atMost, channel])
      const moved = Number(early![0])
      if (!onDeaths) return moved + Number((await db.run(deadlines.expire, [atMost]))[0]![0])
      const deaths = (await db.run(deadlines.expireTelling, [atMost])).map(sweptDeath)
      if (deaths.length > 0) onDeaths(deaths)
      return moved + deaths.length
    },

    async preparePartitions() {
      const [row] = await db.run(prepare, [])
      const [cold] = await db.run(prepareCold, [])
      return Number(row![0]) + Number(cold![0])
    },

    async fold(limit) {
      const [deltas] = await db.run(fold, [limit])
      const [counters] = await db.run(foldCounters, [limit])
      return Math.max(Number(deltas![0]), Number(counters![0]))
    },

    async reportDuty(duty, error, failures = error === null ? 0 : 1) {
      await db.run(leaders.report, [duty, error, failures])
    },

    timeOutCallbacks,
    ...rescuing(db, schema),
    judgeUnserved: judging(db, schema),
    turnRings: turningRings(db, schema, options),
    retain: retaining(db, schema, options),
  }
}
