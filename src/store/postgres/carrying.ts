import type { Carrying, IncomingDeath, Inspecting, Landed } from '../store.js'
import { performing } from './acting.js'
import type { Database } from './database.js'
import { CARRIED, carryQueries, type ExportedRow } from './queries/carry.js'

/** Dead letters out of and into PostgreSQL. */
export function carrying(db: Database, schema: string, { listDlq }: Pick<Inspecting, 'listDlq'>): Carrying {
  const queries = carryQueries(schema)
  const perform = performing(db, schema)

  return {
    async exportDlq(filter, page) {
      const { items, ...rest } = await listDlq(filter, page)
      const ids = items.map(({ id }) => id)
      const rows = await db.run(queries.exported, [ids], { repeatable: true, patienceMs: 5_000 })
      const lines = new Map(rows.map((row) => [row[0], lineOf(row)]))
      // One that left between the two is no dead letter any more.
      return { ...rest, items: ids.flatMap((id) => lines.get(id) ?? []) }
    },

    async importDlq(deaths, { actor, reason = null, requestId = null }) {
      if (deaths.length === 0) return []
      const highest = deaths.reduce((max, { id }) => (id !== null && BigInt(id) > max ? BigInt(id) : max), 0n)
      return perform(async () => {
        if (highest > 0n) await db.run(queries.passIds, [String(highest)])
        const rows = await db.run(queries.imported, [rowsText(deaths), actor, reason, requestId])
        return rows.map(([n, id, taken]) => landedOf(deaths[Number(n) - 1] as IncomingDeath, id, taken))
      })
    },
  }
}

function landedOf({ id: given }: IncomingDeath, id: string | null, taken: string | null): Landed {
  if (id !== null) return { imported: true, id }
  const where = taken === null ? 'an earlier line has that id' : 'a job has that id already'
  return {
    imported: false,
    code: 'invalid_state',
    message: `cannot import job ${given}: ${where}; it was left as it is`,
  }
}

/** One document on one line. What is stored as JSON stands in it as it is; a line break in it makes no difference there. */
function lineOf(row: ExportedRow): string {
  const parts = ['"state":"archived"']
  let at = 0
  for (const column of CARRIED.TEXT) add(column, JSON.stringify(row[at++]))
  for (const column of CARRIED.NUMBER) add(column, String(row[at++]))
  for (const column of CARRIED.TIME) add(column, JSON.stringify(row[at++]))
  for (const column of CARRIED.JSON) {
    const text = row[at++] ?? 'null'
    add(column, text.replace(/[\r\n]+/g, ' '))
    // Where that changed something, the text itself comes along.
    if (EXACT.has(column) && /[\r\n]/.test(text)) add(`${column}_text`, JSON.stringify(text))
  }
  return `{${parts.join(',')}}`

  function add(column: string, text: string): void {
    parts.push(`"${column}":${text}`)
  }
}

const EXACT: ReadonlySet<string> = new Set(['metadata', 'payload'])

/** The rows as one JSON list, in which JSON texts stand as they are. */
function rowsText(deaths: readonly IncomingDeath[]): string {
  const rows = deaths.map(({ id, columns, tags, payload, metadata, retention, progress, history, title }) => {
    const plain = JSON.stringify({ ...columns, id, tags, title }).slice(0, -1)
    const texts = Object.entries({ payload, metadata, retention, progress, history })
    return `${plain}${texts.map(([column, text]) => (text === null ? '' : `,"${column}":${text}`)).join('')}}`
  })
  return `[${rows.join(',')}]`
}
