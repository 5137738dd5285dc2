import type { JobState } from '../../job/states.js'
import type { NotReleased, Undecodables } from '../store.js'
import { actParams, notFound, performing } from './acting.js'
import { decodeCursor, encodeCursor, ID, isId } from './cursor.js'
import type { Database } from './database.js'
import { channelOf } from './notices.js'
import { inspectQueries } from './queries/inspect.js'
import { undecodableQueries } from './queries/undecodable.js'

const READ = { repeatable: true, patienceMs: 5_000 } as const
const LARGEST_ID = '9223372036854775807'

/** Jobs whose payload no code could read, on PostgreSQL. */
export function undecodables(db: Database, schema: string): Undecodables {
  const queries = undecodableQueries(schema)
  const { locate } = inspectQueries(schema)
  const channel = channelOf(schema)
  const perform = performing(db, schema)

  return {
    async undecodablePayloads({ queue, kind, ids }, { limit, cursor }) {
      const beforeId = cursor === undefined ? LARGEST_ID : (decodeCursor(cursor, [ID])[0] as string)
      const listing = { queue, kind, ids: ids?.filter(isId), beforeId, limit: limit + 1 }
      const rows = await db.run(...queries.payloads(listing), READ)
      const shown = rows.slice(0, limit)
      const last = shown.at(-1)
      return {
        items: shown.map(([id, kind, version, payload]) => ({ id, kind, version: Number(version), payload })),
        cursor: rows.length > limit && last !== undefined ? encodeCursor([last[0]]) : null,
      }
    },

    async releaseUndecodable(jobs, forced, act) {
      // Locked in this order by everybody.
      const asked = jobs.filter(({ id }) => isId(id)).sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1))
      const ids = `{${asked.map(({ id }) => id).join(',')}}`
      const fingerprints = asked.map(({ fingerprint }) => fingerprint)
      const rows = await perform(() => db.run(queries.release, [...actParams(act, channel), ids, fingerprints, forced]))
      const released = new Set(rows.map(([id]) => id))
      const refused: NotReleased[] = []
      for (const { id } of jobs) {
        if (!released.has(id)) refused.push(await whyNot(id))
      }
      return { released: [...released], refused }
    },
  }

  /** Asked in a new statement, because the first one may have waited for whoever moved the job. */
  async function whyNot(id: string): Promise<NotReleased> {
    const [found] = isId(id) ? await db.run(locate, [id], READ) : []
    if (!found) return { id, code: 'not_found', message: notFound(id).message }
    const state: JobState = found[0]
    if (state !== 'undecodable') {
      return {
        id,
        code: 'invalid_state',
        message: `cannot release job ${id}: it is ${state}, and only undecodable jobs can`,
      }
    }
    return {
      id,
      code: 'job_moving',
      message: `cannot release job ${id}: its payload was edited while it was checked; release it again`,
    }
  }
}
