import type { Database } from './database.js'
import { faultOf } from './errors.js'
import { type DropStatements, partitionQueries } from './queries/partitions.js'

/** Drops partitions of finished jobs that are outlived whole. What long readers are in the way of is ended later. */
export function droppingPartitions(db: Database, schema: string): () => Promise<number> {
  const partitions = partitionQueries(schema)

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

  /** One that is too large to be looked through in the time a statement has is emptied by the sweeps. */
  async function isOutlived(statement: DropStatements['isOutlived']): Promise<boolean> {
    try {
      return (await db.run(statement, []))[0]?.[0] === 't'
    } catch (error) {
      if (isTimeout(error)) return false
      throw error
    }
  }

  /** By the owner's function, which looks for itself. */
  async function dropByOwner(names: readonly string[]): Promise<number> {
    let dropped = 0
    for (const name of names) {
      const [row] = await db.run(partitions.dropByOwner, [name])
      if (row?.[0] === 't') dropped++
    }
    return dropped
  }

  return async () => {
    let dropped = 0
    const old = await db.run(partitions.old, [])
    if (old.length === 0) return 0
    const [owner] = await db.run(partitions.isOwner, [])
    // A pooler gives no session to detach in, and another role may not.
    if (owner?.[0] !== 't' || (await db.way()).isPooled) return dropByOwner(old.map(([name]) => name))
    for (const [name, state] of old) {
      const statements = partitions.dropping(name)
      if (state === 'attached' && !(await isOutlived(statements.isOutlived))) continue
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
}

/** Whether the server ended the statement because it took too long. */
function isTimeout(error: unknown): boolean {
  const { code, cause } = error as { code?: string; cause?: unknown }
  return code === '57014' || (cause instanceof Error && isTimeout(cause))
}
