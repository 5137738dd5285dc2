import type { RetainPart } from '../store.js'
import type { Database } from './database.js'
import { droppingPartitions } from './dropping-partitions.js'
import { faultOf } from './errors.js'
import { archiveQueries } from './queries/archive.js'
import { type RetainLookRow, retainQueries, type Sweep } from './queries/retain.js'
import { retainDeadQueries } from './queries/retain-dead.js'
import type { Statement } from './sql.js'

const FROM_THE_START = '-infinity'
/** How often a sweep looks on in one pass, past rows that are kept longer than others of their age. */
const LOOKS = 10
/** Partitions come of age once a day, so they are looked at now and then; at first at once. */
const PARTITIONS_MS = 600_000
/** Queues one pass sweeps for dead letters; those whose oldest is the oldest come first. */
const QUEUES = 200

export interface RetainOptions {
  /** How often it looks for partitions to drop. Default: 10 min. */
  readonly partitionsMs?: number
}

/** Deletes what outlived its retention. Where the last sweep ended is remembered; forgotten, it begins anew. */
export function retaining(db: Database, schema: string, { partitionsMs = PARTITIONS_MS }: RetainOptions) {
  const plain = { ...retainQueries(schema), dead: retainDeadQueries(schema) }
  const archiving = { ...retainQueries(schema, true), dead: retainDeadQueries(schema, true) }
  const { prepare } = archiveQueries(schema)
  const dropPartitions = droppingPartitions(db, schema)
  const reached = new Map<string, readonly string[]>()
  let partitionsAt = 0

  /** Makes the month of the archive where a statement found it missing. */
  async function run<Params extends readonly unknown[], Row>(
    statement: Statement<Params, Row>,
    params: Params,
  ): Promise<Row[]> {
    try {
      return await db.run(statement, params)
    } catch (error) {
      if (faultOf((error as Error).cause ?? error) !== 'partition') throw error
      await db.run(prepare, [])
      return db.run(statement, params)
    }
  }

  /**
   * Sweeps on from where the last pass ended until `limit` rows went, the end is reached, or {@link LOOKS} looks in a row
   * found nothing to delete.
   */
  async function sweepOn(
    name: string,
    limit: number,
    look: (after: readonly string[]) => Promise<Look>,
  ): Promise<number> {
    let deleted = 0
    for (let fruitless = 0; fruitless < LOOKS; ) {
      const { gone, looked, last } = await look(reached.get(name) ?? [FROM_THE_START, '0'])
      deleted += gone
      // Everything looked at went: what follows may be due as well, and is the next pass's.
      if (gone === limit || deleted >= limit * LOOKS) break
      if (last === null || looked < limit) {
        reached.delete(name)
        break
      }
      reached.set(name, last)
      fruitless = gone === 0 ? fruitless + 1 : 0
    }
    return deleted
  }

  const sweep = (name: string, statement: Sweep, limit: number) =>
    sweepOn(name, limit, async ([after]) => {
      const [row] = await run(statement, [after as string, limit, limit])
      const [gone, looked, last] = row!
      return { gone: Number(gone), looked: Number(looked), last: last === null ? null : [last] }
    })

  const both = async (name: string, all: Sweep, own: Sweep, limit: number) =>
    (await sweep(name, all, limit)) + (await sweep(`${name} own`, own, limit))

  async function sweepDead({ dead }: typeof plain, limit: number): Promise<number> {
    let deleted = 0
    const own = await sweepOn('own', limit, async ([at, id]) => {
      const [row] = await run(dead.own, [at as string, id as string, limit, limit])
      return lookOf(row!)
    })
    deleted += own
    for (const [queue] of (await db.run(dead.due, [])).slice(0, QUEUES)) {
      deleted += await sweepOn(`queue ${queue}`, limit, async ([at, id]) => {
        const [row] = await run(dead.ofQueue, [queue, at as string, id as string, limit, limit])
        return lookOf(row!)
      })
    }
    return deleted
  }

  async function evict(limit: number): Promise<number> {
    const capped = await db.run(plain.dead.capped, [null])
    if (capped.length === 0) return 0
    await db.run(plain.dead.warn, [])
    let deleted = 0
    for (const [queue, depth, maxRows, , isKept] of capped) {
      if (Number(depth) <= Number(maxRows)) continue
      const { dead } = isKept === 't' ? archiving : plain
      const [row] = await run(dead.evict, [queue, limit])
      deleted += Number(row![0])
    }
    return deleted
  }

  async function finished(queries: typeof plain, [terminal, terminalOwn]: RetainLookRow, limit: number) {
    let deleted = 0
    for (const [n, statement] of queries.terminal.entries())
      if (terminal === 't') deleted += await sweep(`terminal ${n}`, statement, limit)
    for (const [n, statement] of queries.terminalOwn.entries())
      if (terminalOwn === 't') deleted += await sweep(`terminal own ${n}`, statement, limit)
    let partitions = 0
    if (performance.now() >= partitionsAt) {
      partitionsAt = performance.now() + partitionsMs
      partitions = await dropPartitions()
    }
    return { terminal: deleted, partitions }
  }

  async function bookkeeping(queries: typeof plain, look: RetainLookRow, limit: number) {
    const there = look.slice(4).map((answer) => answer === 't')
    const [requests, counters, aborts, crashes, endedWorkers, causes, idempotencyKeys, versions, ...others] = there
    const [callbacks, events, deliveries, triage, causeTriage] = others
    const forget = async (name: keyof typeof queries.bookkeeping, isThere: boolean | undefined) =>
      isThere ? Number((await db.run(queries.bookkeeping[name], [limit]))[0]![0]) : 0
    return {
      requests: await forget('requests', requests),
      counters: await forget('counters', counters),
      aborts: await forget('aborts', aborts),
      crashes: await forget('crashes', crashes),
      endedWorkers: await forget('endedWorkers', endedWorkers),
      causes: await forget('causes', causes),
      idempotencyKeys: await forget('idempotencyKeys', idempotencyKeys),
      causeTriage: await forget('causeTriage', causeTriage),
      payloadVersions: versions ? await sweep('versions', queries.payloadVersions, limit) : 0,
      callbacks: callbacks ? await sweep('callbacks', queries.callbacks, limit) : 0,
      events: await forget('events', events),
      deliveries: await forget('deliveries', deliveries),
      triage: triage ? await sweep('triage', queries.triage, limit) : 0,
    }
  }

  return async function retain(limit: number, part?: RetainPart): Promise<Readonly<Record<string, number>>> {
    // Often, and mostly there is nothing capped.
    if (part === 'evict') return { evicted: await evict(limit) }
    const [look] = await db.run(plain.look, [])
    const [, , bin, held] = look!
    const queries = look!.at(-1) === 't' ? archiving : plain
    const isDue = (name: RetainPart) => part === undefined || part === name

    return {
      ...(isDue('finished') && (await finished(queries, look!, limit))),
      ...(isDue('dead') && { dlq: await sweepDead(queries, limit) }),
      ...(isDue('evict') && { evicted: await evict(limit) }),
      ...(isDue('parked') && {
        bin: bin === 't' ? await both('bin', queries.bin, queries.binOwn, limit) : 0,
        held: held === 't' ? await both('held', queries.held, queries.heldOwn, limit) : 0,
      }),
      ...(isDue('bookkeeping') && (await bookkeeping(queries, look!, limit))),
    }
  }
}

/** One bounded look of a sweep: how many rows went, how many were looked at, and the key of the last of them. */
interface Look {
  readonly gone: number
  readonly looked: number
  readonly last: readonly string[] | null
}

function lookOf([gone, looked, at, id]: readonly [string, string, string | null, string | null]): Look {
  return { gone: Number(gone), looked: Number(looked), last: at === null || id === null ? null : [at, id] }
}
