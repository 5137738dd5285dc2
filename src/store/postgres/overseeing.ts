import { DUTIES, type DutyName } from '../../job/duties.js'
import { SpillwayError } from '../../job/errors.js'
import type { Overseeing, StoredDuty, StoredRing } from '../store.js'
import { actParams, performing } from './acting.js'
import type { Database } from './database.js'
import { dateOf } from './job-row.js'
import { channelOf } from './notices.js'
import { type DutyRow, overseeQueries, type RingRow } from './queries/oversee.js'

/** Reads may be repeated while the database is away; whoever looks does not want to wait for long. */
const READ = { repeatable: true, patienceMs: 5_000 } as const

/** Background work on PostgreSQL: how it fares, its brakes and its limits. */
export function overseeing(db: Database, schema: string): Overseeing {
  const queries = overseeQueries(schema)
  const channel = channelOf(schema)
  const perform = performing(db, schema)

  return {
    async duties() {
      const stored = new Map((await db.run(queries.duties, [], READ)).map((row) => [row[0], dutyOf(row)]))
      return (Object.keys(DUTIES) as DutyName[]).map((duty) => stored.get(duty) ?? untold(duty))
    },

    async pauseDuty(duty, act) {
      return dutyOf(only(await perform(() => db.run(queries.pause, [duty, ...actParams(act, channel)]))))
    },

    async resumeDuty(duty, act) {
      return dutyOf(only(await perform(() => db.run(queries.resume, [duty, ...actParams(act, channel)]))))
    },

    async rings() {
      return (await db.run(queries.rings, [], READ)).map(ringOf)
    },

    async setRing(ring, { rotateRows = null, rotateMs = null }, act) {
      const params = [ring, ...actParams(act, channel), rotateRows, rotateMs] as const
      return ringOf(only(await perform(() => db.run(queries.setRing, [...params]))))
    },
  }
}

function only<Row>([row]: readonly Row[]): Row {
  if (row) return row
  throw new SpillwayError('internal', 'PostgreSQL answered nothing for a row that was just written')
}

function untold(duty: DutyName): StoredDuty {
  const never = { lastSuccessAt: null, lastError: null, lastErrorAt: null, failures: 0 }
  return { duty, ...never, pausedAt: null, pausedBy: null, pausedReason: null }
}

function dutyOf(row: readonly [...DutyRow, ...unknown[]]): StoredDuty {
  const [duty, lastSuccessAt, lastError, lastErrorAt, failures, pausedAt, pausedBy, pausedReason] = row
  return {
    duty: duty as DutyName,
    lastSuccessAt: dateOf(lastSuccessAt),
    lastError,
    lastErrorAt: dateOf(lastErrorAt),
    failures: Number(failures),
    pausedAt: dateOf(pausedAt),
    pausedBy,
    pausedReason,
  }
}

function ringOf([ring, head, rotatedAt, rotateRows, rotateMs]: readonly [...RingRow, ...unknown[]]): StoredRing {
  return {
    ring,
    head: Number(head),
    rotatedAt: new Date(Number(rotatedAt)),
    rotateRows: Number(rotateRows),
    rotateMs: Number(rotateMs),
  }
}
