import type { Act, BulkAction } from '../store.js'
import { MAX_TRIES } from './acting.js'
import type { Database, Transaction } from './database.js'
import type { StoredOperation } from './operation-row.js'
import type { BatchAct, BatchRow, BatchScope, bulkQueries } from './queries/bulk.js'
import { inspectQueries } from './queries/inspect.js'
import type { operationQueries } from './queries/operations.js'
import { textArray } from './text-array.js'

/** A row that was not done, and why. */
export interface Refusal {
  readonly id: string
  readonly code: string
  readonly message: string
}

/** What one batch did. */
export interface Batch {
  readonly done: readonly string[]
  readonly refused: readonly Refusal[]
  /** Locked by another transaction; to be looked at again. */
  readonly locked: readonly string[]
  readonly at: string | null
  readonly id: string | null
  readonly ended: boolean
}

/** Runs the statements of queries/bulk.ts and says in words what they refused. */
export class Batches {
  private readonly locate

  constructor(
    schema: string,
    private readonly queries: ReturnType<typeof bulkQueries>,
    private readonly operations: ReturnType<typeof operationQueries>,
    private readonly channel: string,
  ) {
    this.locate = inspectQueries(schema).locate
  }

  /** One batch inside the caller's transaction. */
  async run(tx: Transaction, operation: StoredOperation, scope: BatchScope): Promise<Batch> {
    const act: BatchAct = {
      operation: operation.id,
      actor: operation.createdBy,
      reason: operation.reason,
      channel: this.channel,
    }
    const [statement, values] = this.statement(operation, scope, act)
    const [row] = await tx.run(statement, values)
    const [done, refused, locked, at, id, , ended] = row as BatchRow
    return {
      done: textArray(done),
      refused: (JSON.parse(refused ?? '[]') as [string, string, string | null][]).map(([jobId, code, key]) => ({
        id: jobId,
        code,
        message: sayRefused(jobId, code, key),
      })),
      locked: textArray(locked),
      at,
      id,
      ended: ended === 't',
    }
  }

  /**
   * All of them now, in one transaction: what is locked is waited for, what moves is looked for again, and what is
   * somewhere else says where.
   */
  async actAtOnce(
    db: Database,
    operation: StoredOperation,
    ids: readonly string[],
    _act: Act,
  ): Promise<{ succeeded: string[]; failed: Refusal[] }> {
    return db.transaction(async (tx) => {
      const succeeded: string[] = []
      const refused = new Map<string, Refusal>()
      let open = ids
      for (let tries = 0; open.length > 0 && tries < MAX_TRIES; tries++) {
        const batch = await this.run(tx, operation, { type: 'ids', ids: open, selector: {}, wait: true })
        succeeded.push(...batch.done)
        for (const refusal of batch.refused) refused.set(refusal.id, refusal)
        const done = new Set(batch.done)
        const missing = open.filter((id) => !done.has(id) && !refused.has(id))
        open = []
        for (const id of missing) {
          const refusal = await this.sayMissing(tx, id, operation.action as BulkAction)
          if (refusal) refused.set(id, refusal)
          else open = [...open, id]
        }
      }
      for (const id of open) refused.set(id, { id, code: 'job_moving', message: `job ${id} kept moving; try again` })
      const failed = [...refused.values()]
      await this.note(tx, operation.id, failed, 'failed')
      await tx.run(this.operations.account, [
        operation.id, 'ended', '-infinity', '0', ids.length, succeeded.length, 0, failed.length, 0, 0, 'done', null, null,
      ])
      return { succeeded, failed }
    })
  }

  /** Why a named row was not where the action looks; undefined where it can be tried again. */
  async sayMissing(tx: Transaction, id: string, action: BulkAction): Promise<Refusal | undefined> {
    const [found] = await tx.run(this.locate, [id])
    if (!found) return { id, code: 'not_found', message: `cannot find job ${id}: it is in no state any more, or never was` }
    const [state] = found
    const wanted = action === 'move' ? 'failed' : 'archived'
    if (state === wanted) return undefined
    return { id, code: 'invalid_state', message: `cannot ${action} job ${id}: it is ${state}, and only ${wanted} jobs can` }
  }

  async note(tx: Transaction, operation: string, refusals: readonly Refusal[], outcome: 'failed' | 'skipped' | 'pending'): Promise<void> {
    if (refusals.length === 0) return
    await tx.run(this.operations.note, [
      operation,
      refusals.map(({ id }) => id),
      refusals.map(() => outcome),
      refusals.map(({ code }) => code),
      refusals.map(({ message }) => message),
    ])
  }

  private statement(operation: StoredOperation, scope: BatchScope, act: BatchAct) {
    switch (operation.action) {
      case 'retry':
        return this.queries.retry(scope, act, operation.terms)
      case 'discard':
        return this.queries.discard(scope, act)
      case 'purge':
        return this.queries.purge(scope)
      case 'move':
        return this.queries.move(scope, act)
      case 'undo':
        throw new Error('an undo has no batches of this kind')
    }
  }
}

function sayRefused(id: string, code: string, key: string | null): string {
  switch (code) {
    case 'unique_conflict':
      return `another live or held job has the unique key ${JSON.stringify(key)} of job ${id}`
    case 'generation_cap':
      return `job ${id} was retried as often as its queue allows; \`force\` goes past it`
    case 'deadline_passed':
      return `the deadline of job ${id} has passed; give a new one, or the budget fresh`
    default:
      return `job ${id} was refused: ${code}`
  }
}
