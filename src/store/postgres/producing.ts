import { randomUUID } from 'node:crypto'
import { FingerprintQuarantinedError, SpillwayError, UniqueConflictError } from '../../job/errors.js'
import { fingerprintOf } from '../../job/fingerprint.js'
import type { Enqueued, Executor, NewJob, Notice, Producing } from '../store.js'
import { actParams, performing } from './acting.js'
import type { Database } from './database.js'
import { faultOf, translate } from './errors.js'
import { fullParams, needsMore, plainParams, SEPARATOR } from './new-job-params.js'
import { channelOf, encodeNotice } from './notices.js'
import type { Notifier } from './notifier.js'
import { type EnqueuedRow, enqueueQueries, type FullParams, type PlainParams } from './queries/enqueue.js'
import { inspectQueries } from './queries/inspect.js'
import { operateQueries } from './queries/operate.js'
import type { Statement } from './sql.js'

/** Rows of one statement, and bytes of their payloads. */
const MAX_ROWS = 2_000
const MAX_BYTES = 8 * 1024 * 1024
const DUE_SOON_MS = 60_000
/** How often a key is tried for whose holder has gone each time it was to be named. */
const MAX_TRIES = 20

type Placed = { readonly id: string; readonly place: 'r' | 'd' | 'k' | 'p' | 'q' }
/** Runs a statement of the transaction at hand. */
type RunOne = <Params extends readonly unknown[], Row>(
  statement: Statement<Params, Row>,
  params: Params,
) => Promise<Row[]>
type Run = (params: PlainParams | FullParams, full: boolean) => Promise<EnqueuedRow>

/** Enqueueing on PostgreSQL. */
export function producing(db: Database, schema: string, notifier: Pick<Notifier, 'tell'>): Producing {
  const queries = enqueueQueries(schema)
  const { cancel } = operateQueries(schema)
  const { locate } = inspectQueries(schema)
  const channel = channelOf(schema)
  const perform = performing(db, schema)

  async function enqueue(jobs: readonly NewJob[], tries = 0): Promise<readonly Enqueued[]> {
    if (jobs.length === 0) return []
    if (tries > MAX_TRIES) {
      throw new SpillwayError('job_moving', 'the holder of a unique key keeps changing; try again')
    }
    const placed = await store(jobs)
    if (placed === 'taken') {
      const holder = await refusingHolder(jobs)
      if (holder) throw conflict(holder.key, holder.id)
      return enqueue(jobs, tries + 1)
    }
    for (const notice of noticesOf(jobs, placed)) notifier.tell(notice)
    const answers = await nameHolders(jobs, placed)
    // Their holders went away between the two looks, so their keys may be free now; the others are stored.
    const unnamed = jobs.filter((_, n) => answers[n] === undefined)
    if (unnamed.length === 0) return answers as Enqueued[]
    const again = [...(await enqueue(unnamed, tries + 1))]
    return answers.map((answer) => answer ?? (again.shift() as Enqueued))
  }

  /** One statement where it fits, else one transaction of several. `taken`: a key that must be free is not. */
  async function store(jobs: readonly NewJob[]): Promise<Placed[] | 'taken'> {
    const chunks = chunked(jobs)
    const mustBeFree = jobs.some((job) => job.uniqueKey !== null && job.onConflict !== 'skip')
    if (chunks.length === 1 && !mustBeFree) return storeAlone(jobs)

    const requestId = randomUUID()
    const attempt = () =>
      perform(() =>
        db.transaction(async (tx) => {
          const all: Placed[] = []
          await cancelHolders(jobs, async (statement, params) => tx.run(statement, params))
          for (const chunk of chunks) {
            const run: Run = async (params, full) =>
              (full
                ? await tx.run(queries.full, params as FullParams)
                : await tx.run(queries.plain, params as PlainParams))[0] as EnqueuedRow
            const placed = await storeChunk(chunk, null, run)
            if (chunk.some((job, n) => placed[n]?.place === 'k' && job.onConflict !== 'skip')) throw TAKEN
            all.push(...placed)
          }
          const ids = `{${all.map(({ id }) => id).join(',')}}`
          await tx.run(queries.note, [requestId, ids, all.map(({ place }) => place).join('')])
          return all
        }),
      )
    try {
      return await repeatUnknown(attempt, () => earlier(requestId))
    } catch (error) {
      if (error === TAKEN) return 'taken'
      throw error
    }
  }

  async function storeAlone(jobs: readonly NewJob[]): Promise<Placed[]> {
    const requestId = randomUUID()
    const run: Run = async (params, full) =>
      (full
        ? await db.run(queries.full, params as FullParams)
        : await db.run(queries.plain, params as PlainParams))[0] as EnqueuedRow
    return repeatUnknown(
      () => storeChunk(jobs, requestId, run),
      () => earlier(requestId),
    )
  }

  async function earlier(requestId: string): Promise<Placed[] | undefined> {
    const [row] = await db.run(queries.requested, [requestId], { repeatable: true })
    return row && placesOf(row)
  }

  /** The answers, with the holders' ids where a key was taken; undefined for one whose holder has gone meanwhile. */
  async function nameHolders(
    jobs: readonly NewJob[],
    placed: readonly Placed[],
  ): Promise<readonly (Enqueued | undefined)[]> {
    if (!placed.some(({ place }) => place === 'k')) return placed.map(insertedOf)
    const taken = jobs.filter((_, n) => placed[n]?.place === 'k').map((job) => job.uniqueKey as string)
    const holders = new Map(await db.run(queries.holders, [taken.join(SEPARATOR)]))
    return placed.map((it, n) => {
      if (it.place !== 'k') return insertedOf(it)
      const holder = holders.get(jobs[n]?.uniqueKey as string)
      return holder === undefined ? undefined : { id: holder, inserted: false }
    })
  }

  /**
   * The holder of a key that must be free and is not. A holder that may be replaced is none, unless it runs: it went its
   * way between the two looks, and the next try cancels whoever has the key then.
   */
  async function refusingHolder(jobs: readonly NewJob[]): Promise<{ key: string; id: string } | undefined> {
    const keyed = jobs.filter((job) => job.uniqueKey !== null && job.onConflict !== 'skip')
    const keys = keyed.map((job) => job.uniqueKey as string)
    const twice = keys.find((key, n) => keys.indexOf(key) !== n)
    if (twice !== undefined)
      throw new SpillwayError('unique_conflict', `two jobs of one call have the unique key "${twice}"`)
    const holders = new Map(await db.run(queries.holders, [keys.join(SEPARATOR)]))
    for (const { uniqueKey, onConflict } of keyed) {
      const id = holders.get(uniqueKey as string)
      if (id === undefined) continue
      const isReplaced = onConflict === 'replace' && (await db.run(locate, [id]))[0]?.[0] !== 'running'
      if (!isReplaced) return { key: uniqueKey as string, id }
    }
    return undefined
  }

  /** Cancels who holds the keys that are to be taken over, in the order of the keys; a running one is not touched. */
  async function cancelHolders(jobs: readonly NewJob[], run: RunOne): Promise<void> {
    const keys = jobs.flatMap((job) => (job.uniqueKey !== null && job.onConflict === 'replace' ? [job.uniqueKey] : []))
    if (keys.length === 0) return
    const holders = new Map(await run(queries.holders, [keys.join(SEPARATOR)]))
    for (const key of [...new Set(keys)].sort()) {
      const holder = holders.get(key)
      if (holder === undefined) continue
      const act = { actor: 'enqueue', reason: `replaced by another job with the unique key ${JSON.stringify(key)}` }
      await run(cancel, [holder, ...actParams(act, channel), false])
    }
  }

  async function enqueueIn(tx: Executor, jobs: readonly NewJob[]): Promise<readonly Enqueued[]> {
    const answers: Enqueued[] = []
    const notices: Notice[] = []
    try {
      await cancelHolders(jobs, async (statement, params) => {
        const rows = await tx.execute(statement.text, params)
        return rows.map((row) => Object.values(row)) as never
      })
      for (const chunk of chunked(jobs)) {
        const run: Run = async (params, full) => {
          const rows = await tx.execute((full ? queries.full : queries.plain).text, params)
          return Object.values(rows[0] ?? {}) as EnqueuedRow
        }
        const placed = await storeChunk(chunk, null, run)
        for (const [n, job] of chunk.entries()) {
          let holder: string | undefined
          // Like above: where the holder has gone before he could be named, the key may be free now.
          for (let tries = 0; placed[n]?.place === 'k' && holder === undefined; tries++) {
            const key = job.uniqueKey as string
            const [row] = await tx.execute(queries.holders.text, [key])
            holder = row && String(Object.values(row)[1])
            if (holder === undefined && tries < MAX_TRIES) placed.splice(n, 1, ...(await storeChunk([job], null, run)))
            else if (holder === undefined || job.onConflict !== 'skip') throw conflict(key, holder ?? '')
          }
          answers.push(holder === undefined ? insertedOf(placed[n] as Placed) : { id: holder, inserted: false })
        }
        notices.push(...noticesOf(chunk, placed))
      }
      if (notices.length > 0)
        await tx.execute(queries.notify.text, [channel, notices.map(encodeNotice).join(SEPARATOR)])
    } catch (error) {
      throw translate(error)
    }
    return answers
  }

  return { enqueue: (jobs) => enqueue(jobs), enqueueIn }

  /** Runs `attempt`; after a lost connection asks whether it had committed, and only then runs it again. */
  async function repeatUnknown(
    attempt: () => Promise<Placed[]>,
    asked: () => Promise<Placed[] | undefined>,
  ): Promise<Placed[]> {
    const until = performance.now() + 30_000
    for (let unknown = false; ; ) {
      try {
        if (unknown) {
          const found = await asked()
          if (found) return found
        }
        return await attempt()
      } catch (error) {
        const fault = faultOf((error as Error).cause ?? error)
        // The first try committed after all, between our look and our repetition.
        if (fault === 'unique' && unknown) continue
        if (fault !== 'unavailable' || performance.now() > until) throw translate(error)
        unknown = true
      }
    }
  }
}

const TAKEN = new SpillwayError('unique_conflict', 'a unique key is taken')

function conflict(key: string, holderId: string): SpillwayError {
  return new UniqueConflictError(key, holderId)
}

async function storeChunk(jobs: readonly NewJob[], requestId: string | null, run: Run): Promise<Placed[]> {
  const full = jobs.some(needsMore)
  const placed = placesOf(await run(full ? fullParams(jobs, requestId) : plainParams(jobs, requestId), full))
  const refused = jobs[placed.findIndex(({ place }) => place === 'q')]
  if (refused) throw new FingerprintQuarantinedError(fingerprintOf(refused.kind, refused.payload), refused.kind)
  return placed
}

function insertedOf({ id, place }: Placed): Enqueued {
  return place === 'p' ? { id, inserted: true, parked: true } : { id, inserted: true }
}

function placesOf([ids, places]: EnqueuedRow): Placed[] {
  return ids
    .slice(1, -1)
    .split(',')
    .map((id, n) => ({ id, place: places ? (places[n] as Placed['place']) : 'r' }))
}

/** One notice per queue and priority with the lowest position, one for the earliest due time that is near. */
function noticesOf(jobs: readonly NewJob[], placed: readonly Placed[]): Notice[] {
  const ready = new Map<string, Notice>()
  let due: number | undefined
  for (let n = 0; n < jobs.length; n++) {
    const job = jobs[n] as NewJob
    const { id, place } = placed[n] as Placed
    if (place === 'r') {
      const key = `${job.priority}|${job.queue}`
      // Ids of one statement ascend, so the first is the lowest position.
      if (!ready.has(key)) ready.set(key, { type: 'ready', queue: job.queue, priority: job.priority, position: id })
    } else if (place === 'd' && job.runAt) {
      due = Math.min(due ?? Number.POSITIVE_INFINITY, job.runAt.getTime())
    }
  }
  const notices = [...ready.values()]
  if (due !== undefined && due - Date.now() < DUE_SOON_MS) notices.push({ type: 'due', at: due })
  return notices
}

function chunked(jobs: readonly NewJob[]): (readonly NewJob[])[] {
  let bytes = 0
  let from = 0
  const chunks: (readonly NewJob[])[] = []
  for (let n = 0; n < jobs.length; n++) {
    bytes += (jobs[n] as NewJob).payload.length
    if (n - from >= MAX_ROWS || (bytes > MAX_BYTES && n > from)) {
      chunks.push(jobs.slice(from, n))
      from = n
      bytes = (jobs[n] as NewJob).payload.length
    }
  }
  chunks.push(from === 0 ? jobs : jobs.slice(from))
  return chunks
}
