import type { Diagnosis, Inspecting, Measures, SchemaStatus, TableDiagnosis } from '../store.js'
import type { Database } from './database.js'
import { diagnoseQueries } from './queries/diagnose.js'

const READ = { repeatable: true, patienceMs: 0 } as const

interface Parts {
  readonly measure: () => Promise<Measures>
  readonly schemaStatus: () => Promise<SchemaStatus>
  readonly inspection: Pick<Inspecting, 'listQueues'>
  /** Whether a notice of our own was heard. */
  readonly hears: () => Promise<boolean>
}

/** Looks at the server, at the way to it, and at the store. Judges nothing. */
export function diagnosing(db: Database, schema: string, parts: Parts): () => Promise<Diagnosis> {
  const queries = diagnoseQueries(schema)

  async function clock(): Promise<Diagnosis['clock']> {
    // The first answer may have had to wait for a connection.
    await db.run(queries.clock, [], READ)
    const sentAt = Date.now()
    const [row] = await db.run(queries.clock, [], READ)
    const answeredAt = Date.now()
    return { skewMs: Number(row![0]) - (sentAt + answeredAt) / 2, roundTripMs: answeredAt - sentAt }
  }

  async function server(): Promise<Diagnosis['server']> {
    const [row] = await db.run(queries.server, [], READ)
    const [versionNumber, version, database, role, isReplica, connections, maxConnections, settings] = row!
    return {
      version,
      versionNumber: Number(versionNumber),
      database,
      role,
      isReplica: isReplica === 't',
      connections: Number(connections),
      maxConnections: Number(maxConnections),
      settings: JSON.parse(settings) as Record<string, string>,
    }
  }

  async function tables(): Promise<TableDiagnosis> {
    const lacking = (await db.run(queries.lacking, [schema], READ)).map(([it]) => it)
    const measures = await parts.measure()
    const waiting = await db.run(queries.waiting, [], READ)
    const flows = await db.run(queries.flows, [], READ)
    const held = await db.run(queries.held, [], READ)
    const bloat = await db.run(queries.bloat, [schema], READ)
    return {
      lacking,
      measures,
      queues: await parts.inspection.listQueues(),
      waiting: waiting.map(([queue, kind, version, n, oldest, hasWorker, isServed]) => ({
        ...{ queue, kind, version: Number(version), n: Number(n), oldestSeconds: Math.max(0, Number(oldest)) },
        ...{ hasWorker: hasWorker === 't', isServed: isServed === 't' },
      })),
      flows: flows.map(([queue, arrived, departed, arrivedBefore]) => ({
        ...{ queue, arrived: Number(arrived), departed: Number(departed), arrivedBefore: Number(arrivedBefore) },
      })),
      held: held.map(([queue, state, n, firstMs]) => ({
        ...{ queue, state: state as 'quarantined' | 'undecodable', n: Number(n), firstAt: new Date(Number(firstMs)) },
      })),
      bloat: bloat.map(([table, deadRows, liveRows, vacuumedMs]) => ({
        ...{ table, deadRows: Number(deadRows), liveRows: Number(liveRows) },
        vacuumedAt: vacuumedMs === null ? null : new Date(Number(vacuumedMs)),
      })),
    }
  }

  return async function diagnose(): Promise<Diagnosis> {
    const found = await server()
    const status = await parts.schemaStatus()
    const fits = status.pending.length === 0 && status.version <= status.latest
    return {
      server: found,
      clock: await clock(),
      connection: { ...(await db.way()), hearsNotices: found.isReplica ? false : await parts.hears() },
      schema: status,
      tables: fits ? await tables() : null,
    }
  }
}
