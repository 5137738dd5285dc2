import type { Serving, Verdict } from '../store.js'
import { performing } from './acting.js'
import type { Database } from './database.js'
import { channelOf } from './notices.js'
import { servedQueries } from './queries/served.js'
import { unservedQueries } from './queries/unserved.js'

const READ = { repeatable: true, patienceMs: 5_000 } as const

/** What the registered workers serve, and questions to them, on PostgreSQL. */
export function serving(db: Database, schema: string): Serving {
  const queries = servedQueries(schema)
  const { list } = unservedQueries(schema)
  const channel = channelOf(schema)
  const perform = performing(db, schema)

  return {
    async publishedSchema(kind) {
      const [row] = await db.run(queries.schemaOf, [kind], READ)
      return row && { version: Number(row[0]), schema: row[1] }
    },

    async unservedKinds() {
      const rows = await db.run(list, [], READ)
      return rows.map(([queue, kind, version, waitedMs, limitMs]) => ({
        queue,
        kind,
        version: Number(version),
        waitedMs: Number(waitedMs),
        limitMs: Number(limitMs),
      }))
    },

    async askWorkers(kind, version, ids) {
      const [row] = await perform(() => db.run(queries.ask, [kind, version, `{${ids.join(',')}}`, channel]))
      return (row as [string, string])[0]
    },

    async workersAnswer(question) {
      const [row] = await db.run(queries.answered, [question], READ)
      const answer = row?.[0] ?? null
      return answer === null ? undefined : (JSON.parse(answer) as Verdict[])
    },

    async withdrawQuestion(question) {
      await db.run(queries.withdraw, [question], READ)
    },
  }
}
