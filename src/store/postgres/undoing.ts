import type { Batches } from './batches.js'
import { BATCH, type Change, START } from './change.js'
import type { Transaction } from './database.js'
import { operationOf, type StoredOperation } from './operation-row.js'
import type { operationQueries } from './queries/operations.js'
import type { undoQueries } from './queries/undo.js'
import { textArray } from './text-array.js'

/**
 * Takes an operation back, batch by batch: of a retry what nobody has claimed since, of a discard what still lies in the
 * bin. What cannot be taken back is noted.
 */
export class Undoing {
  constructor(
    private readonly batches: Batches,
    private readonly back: ReturnType<typeof undoQueries>,
    private readonly queries: ReturnType<typeof operationQueries>,
  ) {}

  async undo(tx: Transaction, operation: StoredOperation): Promise<Change> {
    const { undoOf, createdBy, cursor, id } = operation
    const [origin] = await tx.run(this.queries.get, [undoOf as string])
    const { action } = operationOf(origin ?? [])
    if (action === 'discard' && operation.phase === 'revisiting') return this.restoreHeld(tx, operation)
    if (action === 'discard') {
      const [row] = await tx.run(this.back.restore, [undoOf as string, BATCH])
      const back = textArrayLength(row?.[0] ?? null)
      return back === 0 ? { phase: 'revisiting', cursor: START } : { matched: back, succeeded: back }
    }
    if (operation.phase === 'moving') {
      const [row] = await tx.run(this.back.takeBack, [undoOf as string, cursor.id, BATCH, createdBy])
      const [read, last, ids] = row as [string, string | null, string | null]
      const back = textArrayLength(ids)
      if (Number(read) > 0 && last !== null)
        return { matched: back, succeeded: back, cursor: { at: cursor.at, id: last } }
      return { phase: 'revisiting', cursor: START }
    }
    const rest = await tx.run(this.back.elsewhere, [undoOf as string, cursor.id, BATCH])
    const started = rest.map(([jobId, state]) => ({
      id: jobId,
      code: 'already_started',
      message: `job ${jobId} has been claimed since: it is ${state}`,
    }))
    await this.batches.note(tx, id, started, 'skipped')
    const last = rest.at(-1)?.[0]
    if (last === undefined || rest.length < BATCH) {
      return { matched: rest.length, skipped: rest.length, phase: 'ended', state: 'done' }
    }
    return { matched: rest.length, skipped: rest.length, cursor: { at: cursor.at, id: last } }
  }

  /** Of a discard: what was held goes back to where it was, unless its unique key was given to another job meanwhile. */
  private async restoreHeld(tx: Transaction, { id, undoOf, cursor }: StoredOperation): Promise<Change> {
    const [row] = await tx.run(this.back.restoreHeld, [undoOf as string, cursor.id, BATCH])
    const [read, last, ids, taken] = row ?? ['0', null, null, null]
    if (Number(read) === 0 || last === null) return { phase: 'ended', state: 'done' }
    const back = textArrayLength(ids)
    const kept = textArray(taken).map((jobId) => ({
      id: jobId,
      code: 'unique_conflict',
      message: `another live or held job has the unique key of job ${jobId}, so it stays in the bin`,
    }))
    await this.batches.note(tx, id, kept, 'skipped')
    const matched = back + kept.length
    return { matched, succeeded: back, skipped: kept.length, cursor: { at: cursor.at, id: last } }
  }
}

function textArrayLength(literal: string | null): number {
  return literal === null || literal === '{}' ? 0 : literal.split(',').length
}
