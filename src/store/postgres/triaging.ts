import { InvalidStateError, SpillwayError } from '../../job/errors.js'
import type { Act, Triage, TriageChange, Triaging } from '../store.js'
import { notFound, performing } from './acting.js'
import { isId } from './cursor.js'
import type { Database } from './database.js'
import { inspectQueries } from './queries/inspect.js'
import { retainDeadQueries } from './queries/retain-dead.js'
import { type MarkedRow, triageQueries } from './queries/triage.js'
import { triageOf } from './triage-row.js'

/** Reads may be repeated while the database is away; whoever looks does not want to wait for long. */
const READ = { repeatable: true, patienceMs: 5_000 } as const

/** What people say about dead letters and their causes, on PostgreSQL. */
export function triaging(db: Database, schema: string): Triaging {
  const queries = triageQueries(schema)
  const dead = retainDeadQueries(schema)
  const { locate } = inspectQueries(schema)
  const perform = performing(db, schema)

  async function ofRow(id: string, change: TriageChange, act: Act): Promise<Triage> {
    if (!isId(id)) throw notFound(id)
    const [row] = await perform(() => db.run(queries.markRow[change.action], [id, ...saidParams(change, act)]))
    if (row) return triageOf(row[0])
    const [found] = await db.run(locate, [id], READ)
    throw found ? new InvalidStateError(id, found[0], VERBS[change.action], ['archived']) : notFound(id)
  }

  async function ofCause(queue: string, cause: string, change: TriageChange, act: Act): Promise<Triage> {
    const [row] = await perform<MarkedRow[]>(() =>
      db.run(queries.markCause[change.action], [queue, cause, ...saidParams(change, act)]),
    )
    if (row) return triageOf(row[0])
    throw new SpillwayError(
      'not_found',
      `cannot ${VERBS[change.action]} cause ${JSON.stringify(cause.slice(0, 60))}: no job has died of it in queue ${JSON.stringify(queue)}; \`spillway dlq groups\` lists causes`,
    )
  }

  return {
    triage: (target, change, act) =>
      'id' in target ? ofRow(target.id, change, act) : ofCause(target.queue, target.cause, change, act),

    async triageOf(id) {
      const [row] = isId(id) ? await db.run(queries.ofRow, [id], READ) : []
      return row && triageOf(row[0])
    },

    async unreviewed(queue) {
      const rows = await db.run(queries.unreviewed, [queue ?? null], READ)
      return rows.map(([name, n]) => ({ queue: name, unreviewed: Number(n) }))
    },

    async expiring(withinMs, queue) {
      const rows = await db.run(dead.expiring, [withinMs, queue ?? null], READ)
      return rows.map(([name, count, firstAtMs]) => ({
        queue: name,
        count: Number(count),
        firstAt: new Date(Number(firstAtMs)),
      }))
    },

    async cappedQueues() {
      const rows = await db.run(dead.capped, [null], READ)
      return rows.map(([queue, depth, maxRows, isNearlyFull]) => ({
        queue,
        depth: Number(depth),
        maxRows: Number(maxRows),
        isNearlyFull: isNearlyFull === 't',
      }))
    },
  }
}

const VERBS = { ack: 'acknowledge', note: 'note', mute: 'mute', resolve: 'resolve' } as const

function saidParams(
  change: TriageChange,
  { actor, reason, requestId }: Act,
): [actor: string, reason: string | null, requestId: string | null, value: string | null, clear: boolean] {
  return [actor, reason ?? null, requestId ?? null, ...wordsOf(change)]
}

/** What is said, as text, and whether it is taken back. */
function wordsOf(change: TriageChange): [value: string | null, clear: boolean] {
  switch (change.action) {
    case 'ack':
      return [null, change.clear]
    case 'note':
      return [change.text, change.text === null]
    case 'mute':
      return [change.until === null ? null : String(change.until.getTime()), change.until === null]
    case 'resolve':
      return [change.link, change.clear]
  }
}
