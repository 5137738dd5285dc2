import type { Database } from './database.js'
import { faultOf } from './errors.js'
import { partitionQueries } from './queries/partitions.js'
import { retainQueries, type Sweep } from './queries/retain.js'

const FROM_THE_START = '-infinity'
/** How often a sweep looks on in one pass, past rows that are kept longer than others of their age. */
const LOOKS = 10
/** Partitions come of age once a day, so they are looked at now and then; at first at once. */
const PARTITIONS_MS = 600_000

export interface RetainOptions {
  /** How often it looks for partitions to drop. Default: 10 min. */
  readonly partitionsMs?: number
}

/** Deletes what outlived its retention. Where the last sweep ended is remembered; forgotten, it begins anew. */
export function retaining(db: Database, schema: string, { partitionsMs = PARTITIONS_MS }: RetainOptions) {
  const queries = retainQueries(schema)
  const partitions = partitionQueries(schema)
  const reached = new Map<Sweep, string>()
  let partitionsAt = 0

  async function sweep(statement: Sweep, limit: number): Promise<number> {
    let deleted = 0
    for (let look = 0; look < LOOKS; look++) {
      const [row] = await db.run(statement, [reached.get(statement) ?? FROM_THE_START, limit, limit])
      const [gone, looked, last] = row!
      deleted += Number(gone)
      // Everything looked at went: what follows may be due as well, and is the next pass's.
      if (Number(gone) === limit) break
      if (last === null || Number(looked) < limit) {
        reached.delete(statement)
        break
      }
      reached.set(statement, last)
    }
    return deleted
  }

  async function sweepAll(statements: readonly Sweep[], limit: number): Promise<number> {
    let deleted = 0
    for (const statement of statements) deleted += await sweep(statement, limit)
    return deleted
  }

  async function dropPartitions(): Promise<number> {
    if (performance.now() < partitionsAt) return 0
    let dropped = 0
    partitionsAt = performance.now() + partitionsMs
    const old = await db.run(partitions.old, [])
    if (old.length === 0) return 0
    const [owner] = await db.run(partitions.isOwner, [])
    // A pooler gives no session to detach in, and another role may not.
    if (owner![0] !== 't' || (await db.way()).isPooled) return dropByOwner(old.map(([name]) => name))
    for (const [name, state] of old) {
      const statements = partitions.dropping(name)
      if (state === 'attached' && (await db.run(statements.isOutlived, []))[0]![0] !== 't') continue
      // Only one at a time may be detaching, so what is stuck keeps the others waiting too.
      if (state !== 'detached' && !(await detached(state === 'attached' ? statements.detach : statements.finalize)))
        break
      await db.transaction(async (tx) => {
        await tx.run(statements.count, [])
        await tx.run(statements.drop, [])
      })
      dropped++
    }
    return dropped
  }

  async function dropByOwner(names: readonly string[]): Promise<number> {
    let dropped = 0
    for (const name of names) {
      const [row] = await db.run(partitions.dropByOwner, [name])
      if (row![0] === 't') dropped++
    }
    return dropped
  }

  /** False where a long reader is in the way: what was begun is ended in a later pass. */
  async function detached(statement: { readonly text: string }): Promise<boolean> {
    const client = await db.client()
    client.on('error', () => undefined)
    try {
      await client.connect()
      await client.query(partitions.limitLockWait.text)
      await client.query(statement.text)
      return true
    } catch (error) {
      if (faultOf(error) === 'conflict') return false
      throw error
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  return async function retain(limit: number): Promise<Readonly<Record<string, number>>> {
    const [look] = await db.run(queries.look, [])
    const [
      terminal,
      terminalOwn,
      dlq,
      dlqOwn,
      bin,
      held,
      requests,
      counters,
      aborts,
      crashes,
      endedWorkers,
      causes,
      idempotencyKeys,
      payloadVersions,
      callbacks,
      events,
      deliveries,
    ] = look!.map((answer) => answer === 't')
    const { bookkeeping } = queries
    const forget = async (name: keyof typeof bookkeeping) => Number((await db.run(bookkeeping[name], [limit]))[0]![0])

    return {
      terminal:
        (terminal ? await sweepAll(queries.terminal, limit) : 0) +
        (terminalOwn ? await sweepAll(queries.terminalOwn, limit) : 0),
      dlq: (dlq ? await sweep(queries.dlq, limit) : 0) + (dlqOwn ? await sweep(queries.dlqOwn, limit) : 0),
      bin: bin ? await sweep(queries.bin, limit) : 0,
      held: held ? await sweep(queries.held, limit) : 0,
      requests: requests ? await forget('requests') : 0,
      counters: counters ? await forget('counters') : 0,
      aborts: aborts ? await forget('aborts') : 0,
      crashes: crashes ? await forget('crashes') : 0,
      endedWorkers: endedWorkers ? await forget('endedWorkers') : 0,
      causes: causes ? await forget('causes') : 0,
      idempotencyKeys: idempotencyKeys ? await forget('idempotencyKeys') : 0,
      payloadVersions: payloadVersions ? await sweep(queries.payloadVersions, limit) : 0,
      callbacks: callbacks ? await sweep(queries.callbacks, limit) : 0,
      events: events ? await forget('events') : 0,
      deliveries: deliveries ? await forget('deliveries') : 0,
      partitions: await dropPartitions(),
    }
  }
}
