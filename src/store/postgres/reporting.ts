import { SpillwayError } from '../../job/errors.js'
import { isStorable } from '../../job/text.js'
import type { AuditEntry, DlqFlow, DlqGroup, RemovedJobs, Reporting } from '../store.js'
import { decodeCursor, encodeCursor, ID } from './cursor.js'
import { type AuditRow, type FlowRow, type GroupRow, reportQueries } from './queries/reports.js'
import type { Reader } from './replica.js'
import { triageOf } from './triage-row.js'

/** Reads may be repeated while the database is away; whoever looks does not want to wait for long. */
const READ = { repeatable: true, patienceMs: 5_000 } as const
const LARGEST_ID = '9223372036854775807'
const ANY_TEXT = { test: isStorable }
const MAX_PAGE = 1_000
const HOURS = 24

/** What is told about many jobs at once on PostgreSQL. Changes nothing and locks nothing. */
export function reporting(db: Reader, schema: string): Reporting {
  const queries = reportQueries(schema)

  return {
    async dlqGroups({ queue = null, kind = null, triage = null }, { limit, cursor }) {
      checkLimit(limit)
      const [afterQueue = null, afterCause = null, beforeCount = null] =
        cursor === undefined ? [] : decodeCursor(cursor, [ANY_TEXT, ANY_TEXT, ID])
      const rows = await db.run(
        queries.groups,
        [queue, kind, limit + 1, beforeCount, afterQueue, afterCause, triage],
        READ,
      )
      const items = rows.slice(0, limit).map(groupOf)
      const last = items.at(-1)
      const isMore = rows.length > limit && last !== undefined
      return { items, cursor: isMore ? encodeCursor([last.queue, last.cause, String(last.count)]) : null }
    },

    async dlqHistory({ queue = null, since, by }) {
      return flowOf(await db.run(queries.flow, [queue, since.getTime(), by], READ))
    },

    async removedJobs({ queue = null, since }) {
      const rows = await db.run(queries.removed, [queue, since.getTime()], READ)
      return rows.map(([of, why, reason, n]) => ({ queue: of, why: why as Why, reason, count: Number(n) }))
    },

    async listAudit({ action, actor, since }, { limit, cursor }) {
      checkLimit(limit)
      const beforeId = cursor === undefined ? LARGEST_ID : (decodeCursor(cursor, [ID])[0] as string)
      const rows = await db.run(
        ...queries.audit({ action, actor, sinceMs: since?.getTime(), beforeId, limit: limit + 1 }),
        READ,
      )
      const items = rows.slice(0, limit).map(auditOf)
      return { items, cursor: rows.length > limit ? encodeCursor([items.at(-1)?.id ?? '']) : null }
    },
  }
}

function groupOf(row: GroupRow): DlqGroup {
  const [queue, cause, kind, reason, errorClass, title, count, firstAtMs, lastAtMs, sampleId, trend, ...said] = row
  const [status, marks, unreviewed] = said
  const triage = marks === null ? null : triageOf(marks)
  return {
    queue,
    cause,
    kind,
    reason,
    errorClass,
    title,
    count: Number(count),
    firstAt: new Date(Number(firstAtMs)),
    lastAt: new Date(Number(lastAtMs)),
    sampleId,
    trend: trendOf(trend),
    status,
    triage,
    regressedAt: triage?.regressedAt ?? null,
    unreviewed: Number(unreviewed),
  }
}

function trendOf(text: string | null): number[] {
  const trend = new Array<number>(HOURS).fill(0)
  for (const [ago, n] of text === null ? [] : (JSON.parse(text) as [number, number][])) {
    if (ago >= 0 && ago < HOURS) trend[HOURS - 1 - ago] = n
  }
  return trend
}

function flowOf(rows: readonly FlowRow[]): DlqFlow[] {
  const flows: { at: Date; arrived: number; departed: number; arrivedBy: Counts; departedBy: Counts }[] = []
  for (const [atMs, what, reason, n] of rows) {
    const at = new Date(Number(atMs))
    let flow = flows.at(-1)
    if (flow?.at.getTime() !== at.getTime()) {
      flow = { at, arrived: 0, departed: 0, arrivedBy: {}, departedBy: {} }
      flows.push(flow)
    }
    flow[what] += Number(n)
    flow[`${what}By`][reason] = Number(n)
  }
  return flows
}

type Counts = Record<string, number>
type Why = RemovedJobs['why']

function auditOf([id, atMs, actor, action, target, reason, result, requestId]: AuditRow): AuditEntry {
  return {
    id,
    at: new Date(Number(atMs)),
    actor,
    action,
    target: JSON.parse(target) as unknown,
    reason,
    result: result === null ? null : (JSON.parse(result) as unknown),
    requestId,
  }
}

function checkLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE) return
  throw new SpillwayError('invalid_option', `cannot list ${limit} rows at once: 1 to ${MAX_PAGE} are accepted`)
}
