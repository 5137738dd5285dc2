import { SpillwayError } from '../../job/errors.js'
import { JOB_STATES, type JobState } from '../../job/states.js'
import type { DlqFilter, Inspecting, Page, PageRequest } from '../store.js'
import { decodeCursor, EXACT_TIME, encodeCursor, ID, isId } from './cursor.js'
import type { Database } from './database.js'
import { blockedOf, dateOf, detailedJobOf, type JobDetail, type JobRow, jobOf } from './job-row.js'
import { activityQueries } from './queries/activity.js'
import { type DlqHitRow, type DlqKey, type DlqListing, type DlqRow, dlqQueries, SEARCH_CAUSES } from './queries/dlq.js'
import { inspectQueries } from './queries/inspect.js'
import { quarantineQueries } from './queries/quarantine.js'
import { queueQueries } from './queries/queues.js'
import { activityByQueue, countsByQueue, IDLE, queueOf, unsetQueue, workerOf } from './queue-row.js'
import type { Reader } from './replica.js'

/** Reads may be repeated while the database is away; whoever looks does not want to wait for long. */
const READ = { repeatable: true, patienceMs: 5_000 } as const
/** States in which a job may be kept from running by its fingerprint, or be held for it. */
const MAY_BE_BLOCKED: ReadonlySet<JobState> = new Set(['available', 'scheduled', 'retryable', 'quarantined'])
const NEWEST: DlqKey = { at: 'infinity', id: '0' }
const LARGEST_ID = '9223372036854775807'
const SUMMARY_COLUMNS = 30
const MAX_PAGE = 1_000

/**
 * Looking at jobs, dead letters, queues and workers on PostgreSQL. Changes nothing and locks nothing.
 *
 * @param lists - Where lists of what is at rest are read, if not where everything else is: a replica.
 */
export function inspecting(db: Database, schema: string, lists: Reader = db): Inspecting {
  const jobs = inspectQueries(schema)
  const dlq = dlqQueries(schema)
  const queues = queueQueries(schema)
  const { activity } = activityQueries(schema)
  const { blockedBy } = quarantineQueries(schema)

  return {
    async getJob(id, { payload = false } = {}) {
      if (!isId(id)) return undefined
      const [row] = await db.run(jobs.job, [id, payload], READ)
      if (!row) return undefined
      const job = detailedJobOf(row.slice(0, SUMMARY_COLUMNS) as JobRow, row.slice(SUMMARY_COLUMNS) as JobDetail)
      const blocked = MAY_BE_BLOCKED.has(job.state) ? (await db.run(blockedBy, [id], READ))[0] : undefined
      return blocked ? { ...job, blocked: blockedOf(blocked) } : job
    },

    async listJobs({ state, queue, queues, kind }, page) {
      const limit = checkLimit(page.limit)
      const beforeId = page.cursor === undefined ? LARGEST_ID : (decodeCursor(page.cursor, [ID])[0] as string)
      const rows = await readerOf(state).run(
        ...jobs.list({ state, queue, queues, kind, beforeId, limit: limit + 1 }),
        READ,
      )
      return pageOf(rows, limit, ([id]) => [id])
    },

    async countJobs() {
      const counted = new Map(await db.run(jobs.counts, [], READ))
      return Object.fromEntries(JOB_STATES.map((state) => [state, Number(counted.get(state) ?? 0)])) as Record<
        JobState,
        number
      >
    },

    async listDlq(filter, page) {
      const limit = checkLimit(page.limit)
      if (filter.state !== undefined && filter.state !== 'archived') return { items: [], cursor: null }
      const listing = listingOf(filter, await startOf(filter, page), limit + 1)
      if (filter.error !== undefined) return searchDlq(listing, filter.error, limit)
      return pageOf(await lists.run(...dlq.list(listing), READ), limit, keyOfRow)
    },

    async dlqDepth(queue) {
      const rows = await lists.run(dlq.depth, [queue ?? null], READ)
      const found = rows.map(([name, depth, oldestAt]) => ({
        queue: name,
        depth: Number(depth),
        oldestAt: dateOf(oldestAt),
      }))
      return { total: found.reduce((sum, { depth }) => sum + depth, 0), queues: found }
    },

    async countDlq({ queue, queues = null, kind = null, cause = null }) {
      const [row] = await db.run(dlq.count, [queue === undefined ? queues : [queue], kind, cause], READ)
      return Number(row?.[0])
    },

    async getQueue(queue) {
      const [row] = await db.run(queues.get, [queue], READ)
      const counts = countsByQueue(await db.run(queues.counts, [queue], READ))
      const active = activityByQueue(await db.run(activity, [], READ))
      const stands = { counts: counts.get(queue) ?? {}, activity: active.get(queue) ?? IDLE }
      return { ...(row ? queueOf(row) : unsetQueue(queue)), ...stands }
    },

    async listQueues() {
      const rows = await db.run(queues.list, [], READ)
      const counts = countsByQueue(await db.run(queues.counts, [null], READ))
      const active = activityByQueue(await db.run(activity, [], READ))
      return rows.map((row) => ({
        ...queueOf(row),
        counts: counts.get(row[0]) ?? {},
        activity: active.get(row[0]) ?? IDLE,
      }))
    },

    async listWorkers() {
      return (await db.run(queues.workers, [], READ)).map(workerOf)
    },
  }

  /** Jobs that move are read where they move. */
  function readerOf(state: JobState | undefined): Reader {
    return state !== undefined && AT_REST.has(state) ? lists : db
  }

  /** The key that the page begins after. A row named by the caller is looked up, because Dates lose microseconds. */
  async function startOf({ beforeId, beforeDlqAt }: DlqFilter, { cursor }: PageRequest): Promise<DlqKey> {
    if (cursor !== undefined) {
      const [at = '', id = ''] = decodeCursor(cursor, [EXACT_TIME, ID])
      return { at, id }
    }
    if (beforeId === undefined) return beforeDlqAt ? { at: beforeDlqAt.toISOString(), id: '0' } : NEWEST
    if (isId(beforeId)) {
      const [row] = await lists.run(dlq.keyOf, [beforeId, beforeDlqAt?.getTime() ?? null], READ)
      if (row?.[0] != null) return { at: row[0], id: beforeId }
    }
    throw new SpillwayError(
      'not_found',
      `cannot list what comes after job ${beforeId}: it is not in the dead-letter queue; go on by the cursor, or give its time of death too`,
    )
  }

  /**
   * A text is looked for in the causes, which are few, and their rows are listed exactly. A text in no cause, or in very
   * many, is looked for in the messages of the next rows: such a page may be short, says so, and its cursor goes on.
   */
  async function searchDlq(listing: DlqListing, text: string, limit: number): Promise<Page<ReturnType<typeof jobOf>>> {
    const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`
    const causes = (await lists.run(...dlq.causesWith(pattern, listing), READ)).map(([cause]) => cause)
    if (causes.length > 0 && causes.length <= SEARCH_CAUSES) {
      return pageOf(await lists.run(...dlq.listCauses(listing, causes), READ), limit, keyOfRow)
    }

    const rows = await lists.run(...dlq.search(listing, pattern), READ)
    const hits = rows.filter((row) => row[0] !== null).map((row) => row.slice(0, SUMMARY_COLUMNS + 1) as DlqRow)
    const page = pageOf(hits, limit, keyOfRow)
    const [endAt, endId, full] = (rows[0]?.slice(SUMMARY_COLUMNS + 1) ?? []) as [string | null, string | null, string]
    if (page.cursor !== null || full !== 't' || endAt === null || endId === null) return page
    return { ...page, cursor: encodeCursor([endAt, endId]), partial: true }
  }
}

function listingOf(filter: DlqFilter, start: DlqKey, limit: number): DlqListing {
  const { queue, queues, kind, tag, reason, cause, ids, since, until } = filter
  return {
    queue,
    queues,
    kind,
    tag,
    cause,
    limit,
    reason: reason === undefined ? undefined : (REASONS.get(reason) ?? reason),
    ids: ids?.filter(isId),
    since: since?.toISOString() ?? '-infinity',
    before: until && isBefore(until, start) ? { at: until.toISOString(), id: '0' } : start,
  }
}

/** States a job leaves by itself only when its retention lapses. */
const AT_REST: ReadonlySet<JobState> = new Set([
  ...(['completed', 'failed', 'cancelled', 'archived', 'discarded', 'quarantined', 'undecodable'] as const),
])

/** Other names for what the runtime writes. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['max_attempts', 'attempts_exhausted'],
  ['deadline_expired', 'deadline_exceeded'],
])

/** Whether `until` is the stricter end: rows at it are left out, and rows at the key's time may belong. */
function isBefore(until: Date, { at }: DlqKey): boolean {
  return at === 'infinity' || until.getTime() <= Date.parse(at)
}

function keyOfRow(row: DlqRow | DlqHitRow): readonly string[] {
  return [row[SUMMARY_COLUMNS] as string, row[0]]
}

/** The first `limit` rows as jobs; the row behind them only tells that there is a next page. */
function pageOf<Row extends readonly unknown[]>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => readonly string[],
): Page<ReturnType<typeof jobOf>> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map((row) => jobOf(row.slice(0, SUMMARY_COLUMNS) as JobRow)),
    cursor: rows.length > limit && last !== undefined ? encodeCursor(keyOf(last)) : null,
  }
}

function checkLimit(limit: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE) return limit
  throw new SpillwayError('invalid_option', `cannot list ${limit} rows at once: 1 to ${MAX_PAGE} are accepted`)
}
