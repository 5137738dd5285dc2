import { SpillwayError } from '../../job/errors.js'
import type { JobState } from '../../job/states.js'
import type { Page, Quarantined, QuarantinedDetail, Quarantining } from '../store.js'
import { actParams, performing } from './acting.js'
import { decodeCursor, EXACT_TIME, encodeCursor, isId } from './cursor.js'
import type { Database } from './database.js'
import { dateOf } from './job-row.js'
import { channelOf } from './notices.js'
import { type QuarantineDocument, type QuarantineRow, quarantineQueries } from './queries/quarantine.js'
import { releaseQueries } from './queries/release.js'

const READ = { repeatable: true, patienceMs: 5_000 } as const
/** Jobs of one statement of a release. */
const BATCH = 500
const FINGERPRINT = /^[0-9a-f]{32}$/
/** Behind every fingerprint in their order. */
const LAST = 'g'

/** Held fingerprints on PostgreSQL. */
export function quarantining(db: Database, schema: string): Quarantining {
  const queries = quarantineQueries(schema)
  const releases = releaseQueries(schema)
  const channel = channelOf(schema)
  const perform = performing(db, schema)

  /** Until nothing of what is being let go is left; the last, empty pass forgets the convictions. */
  async function moveAll(by: string, why: string | null): Promise<number> {
    for (let moved = 0; ; ) {
      const [row] = await perform(() => db.run(releases.move, [BATCH, by, why, channel]))
      const n = Number(row?.[0] ?? 0)
      if (n === 0) return moved
      moved += n
    }
  }

  return {
    async listQuarantine({ limit, cursor }): Promise<Page<Quarantined>> {
      const [at, fingerprint] =
        cursor === undefined ? ['infinity', LAST] : decodeCursor(`${cursor}`, [EXACT_TIME, FINGERPRINT, /^0$/])
      const rows = await db.run(queries.list, [at as string, fingerprint as string, limit + 1], READ)
      const last = rows.length > limit ? rows[limit - 1] : undefined
      return {
        items: rows.slice(0, limit).map(quarantinedOf),
        cursor: last ? encodeCursor([last[4], last[0], '0']) : null,
      }
    },

    async getQuarantined(fingerprint, { payload = false } = {}): Promise<QuarantinedDetail | undefined> {
      const [row] = await db.run(queries.get, [fingerprint], READ)
      if (!row) return undefined
      const [detail] = await db.run(queries.detail, [fingerprint, row[1]], READ)
      const [sample] = payload ? await db.run(queries.sample, [fingerprint], READ) : []
      return {
        ...quarantinedOf(row),
        ...detailOf(JSON.parse((detail as [string])[0]) as QuarantineDocument),
        ...(sample ? { payloadText: sample[0] } : {}),
      }
    },

    async releaseFingerprint(fingerprint, act) {
      const [row] = await perform(() => db.run(releases.release, [fingerprint, ...actParams(act, channel)]))
      if (!row) throw notHeld(fingerprint)
      const released = await moveAll(act.actor, act.reason ?? null)
      return { releaseId: row[0], released }
    },

    async releaseCanary(fingerprint, act) {
      const [found] = await db.run(releases.canary, [fingerprint], READ)
      if (!found) throw notHeld(fingerprint, 'convicted and ')
      const [id, out] = found
      if (out === null && id === null) throw notHeld(fingerprint)
      const rows =
        out === null
          ? await perform(() => db.run(releases.releaseSome, [`{${id}}`, ...actParams(act, channel), true]))
          : []
      const [row] = rows
      if (row) return { releaseId: row[1], released: 1, ids: [row[0]] }
      throw new SpillwayError(
        'invalid_state',
        `cannot send a canary of fingerprint ${fingerprint} ahead: job ${out ?? id} is out already; wait for its end, or release all`,
      )
    },

    async releaseJobs(ids, act) {
      const wanted = `{${[...new Set(ids.filter(isId))].join(',')}}`
      const rows = await perform(() => db.run(releases.releaseSome, [wanted, ...actParams(act, channel), false]))
      return { releaseId: rows[0]?.[1] ?? '0', released: rows.length, ids: rows.map(([id]) => id) }
    },

    async finishReleases() {
      const [row] = await perform(() => db.run(releases.judge, [channel]))
      return row?.[0] === 't' ? moveAll('spillway', null) : 0
    },
  }
}

function notHeld(fingerprint: string, how = ''): SpillwayError {
  return new SpillwayError(
    'not_found',
    `nothing of fingerprint ${fingerprint.slice(0, 40)} is ${how}held: \`spillway quarantine list\` shows what is`,
  )
}

function quarantinedOf(row: QuarantineRow): Quarantined {
  const [fingerprint, kind, queue, heldAt, , convicted, releasing, canaryId, held, crashes, lastCrashAt] = row
  return {
    fingerprint,
    kind,
    queue,
    heldAt: dateOf(heldAt) as Date,
    convicted: convicted === 't',
    releasing: releasing === 't',
    canaryId,
    held: Number(held),
    crashes: Number(crashes),
    lastCrashAt: dateOf(lastCrashAt),
  }
}

function detailOf(document: QuarantineDocument): Omit<QuarantinedDetail, keyof Quarantined> {
  const { crashes, jobs, blocked, blocked_partial: blockedIsPartial } = document
  return {
    crashLog: crashes.map(({ at, worker, host, alone, counted, ...crash }) => ({
      at: new Date(at),
      worker,
      host,
      jobId: crash.job_id,
      alone,
      counted,
      closedBy: crash.closed_by,
    })),
    workers: [...new Set(crashes.flatMap(({ worker }) => worker ?? []))],
    jobs: jobs.map(({ id, queue, state, reason, at }) => ({
      id,
      queue,
      state: state as JobState,
      reason,
      at: new Date(at),
    })),
    blocked,
    blockedIsPartial,
  }
}
