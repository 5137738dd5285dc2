import { InvalidStateError, SpillwayError } from '../../job/errors.js'
import type { JobState } from '../../job/states.js'
import type { Act, Acted, Archiving, ColdFilter, ColdJob, ColdMonth, Page, PageRequest, Pruned } from '../store.js'
import { MAX_TRIES, moving, performing } from './acting.js'
import { decodeCursor, EXACT_TIME, encodeCursor, ID, isId } from './cursor.js'
import type { Database } from './database.js'
import { faultOf } from './errors.js'
import { dateOf, detailedJobOf, type JobDetail, type JobRow, jobOf } from './job-row.js'
import { archiveQueries, type ColdRow, type MonthRow } from './queries/archive.js'
import { inspectQueries } from './queries/inspect.js'

/** Reads may be repeated while the database is away; whoever looks does not want to wait for long. */
const READ = { repeatable: true, patienceMs: 5_000 } as const
/** Where the parts of a row begin. */
const DETAIL = 7
const JOB = DETAIL + 5
const MAX_PAGE = 1_000
const RESTORABLE: readonly JobState[] = ['archived', 'failed', 'discarded']

/** The cold archive on PostgreSQL. */
export function archiving(db: Database, schema: string): Archiving {
  const queries = archiveQueries(schema)
  const { locate } = inspectQueries(schema)
  const perform = performing(db, schema)

  async function page(filter: ColdFilter, { limit, cursor }: PageRequest, isWhole: boolean): Promise<Page<ColdJob>> {
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
      throw new SpillwayError('invalid_option', `cannot list ${limit} rows at once: 1 to ${MAX_PAGE} are accepted`)
    }
    const { error, since, until, ...equal } = filter
    const [at, id] =
      cursor === undefined ? [until?.toISOString() ?? 'infinity', '0'] : decodeCursor(cursor, [EXACT_TIME, ID])
    const rows = await db.run(
      ...queries.list({
        ...equal,
        ...(error === undefined ? {} : { pattern: `%${error.replace(/[\\%_]/g, '\\$&')}%` }),
        before: { at: at as string, id: id as string },
        since: since?.toISOString() ?? '-infinity',
        limit: limit + 1,
        isWhole,
      }),
      READ,
    )
    return pageOf(rows, limit, isWhole)
  }

  async function restore(id: string, act: Act): Promise<Acted> {
    if (!isId(id)) throw notArchived(id)
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      try {
        const [row] = await perform(() => db.run(queries.restore, [id, ...who(act)]))
        if (!row) {
          const [found] = await db.run(locate, [id], READ)
          throw found ? taken(id, found[0]) : notArchived(id)
        }
        const [state, fromState, place, restored] = row
        if (restored === 't') return { id, state: 'archived', changed: true }
        if (place !== null) throw taken(id, (await db.run(locate, [id], READ))[0]?.[0] ?? 'archived')
        const isDead = state === 'discarded' ? fromState === 'archived' : RESTORABLE.includes(state as JobState)
        if (!isDead) throw new InvalidStateError(id, (fromState ?? state) as JobState, 'restore', RESTORABLE)
        // Somebody else restored it between the look and the move.
      } catch (error) {
        // An import came between the look and the move; the next look sees its job.
        if (!(error instanceof SpillwayError) || faultOf(error.cause) !== 'unique') throw error
      }
    }
    throw moving(id, 'restore')
  }

  return {
    listCold: (filter, request) => page(filter, request, false),
    exportCold: (filter, request) => page(filter, request, true),

    async getCold(id) {
      const [row] = isId(id) ? await db.run(queries.job, [id], READ) : []
      return row && coldJobOf(row, true)
    },

    async coldMonths() {
      return (await db.run(queries.months, [], READ)).map(monthOf)
    },

    restoreCold: restore,

    async pruneCold(month, act): Promise<Pruned> {
      const [row] = await perform(() => db.run(queries.prune, [`${month}-01`, ...who(act)]))
      const { outcome, rows = 0, until } = JSON.parse(row?.[0] ?? '{}') as Outcome
      if (outcome === 'pruned') return { month, rows }
      if (outcome === 'missing') {
        throw new SpillwayError(
          'not_found',
          `cannot prune ${month}: the archive has no such month; \`spillway archive months\` lists them`,
        )
      }
      const why =
        outcome === 'open'
          ? 'the month is not over'
          : `${rows} of its rows are kept ${until == null ? 'for good' : `until ${new Date(until).toISOString()}`}`
      throw new SpillwayError('archive_kept', `cannot prune ${month}: ${why}; nothing was removed`)
    },
  }
}

function who({ actor, reason, requestId }: Act): [actor: string, reason: string | null, requestId: string | null] {
  return [actor, reason ?? null, requestId ?? null]
}

interface Outcome {
  readonly outcome: 'pruned' | 'missing' | 'open' | 'kept'
  readonly rows?: number
  readonly until?: number | null
}

function pageOf(rows: readonly ColdRow[], limit: number, isWhole: boolean): Page<ColdJob> {
  const hits = rows.filter((row) => row[JOB] !== null)
  const items = hits.slice(0, limit).map((row) => coldJobOf(row, isWhole))
  const last = hits[limit - 1]
  if (hits.length > limit && last) return { items, cursor: encodeCursor([last[3], last[JOB] as string]) }
  const [, , , , endAt, endId, full] = rows[0] ?? []
  if (full !== 't' || endAt == null || endId == null) return { items, cursor: null }
  return { items, cursor: encodeCursor([endAt, endId]), partial: true }
}

function coldJobOf(row: ColdRow, isWhole: boolean): ColdJob {
  const [why, archivedAtMs, keepUntilMs] = row
  const summary = row.slice(JOB) as JobRow
  const job = isWhole ? detailedJobOf(summary, row.slice(DETAIL, JOB) as JobDetail) : jobOf(summary)
  return { ...job, why, archivedAt: dateOf(archivedAtMs) as Date, keepUntil: dateOf(keepUntilMs) }
}

function monthOf([month, rows, keepUntilMs, isPrunable]: MonthRow): ColdMonth {
  return { month, rows: Number(rows), keepUntil: dateOf(keepUntilMs), isPrunable: isPrunable === 't' }
}

function notArchived(id: string): SpillwayError {
  return new SpillwayError(
    'not_found',
    `cannot find job ${id.slice(0, 40)} in the archive; \`spillway jobs get\` finds a job that is not archived`,
  )
}

function taken(id: string, state: JobState): SpillwayError {
  return new SpillwayError(
    'invalid_state',
    `cannot restore job ${id}: a job with this id is ${state}; it was left as it is`,
  )
}
