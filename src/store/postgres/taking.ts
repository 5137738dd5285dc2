import type { Batch, Batches, Refusal } from './batches.js'
import { type Change, START } from './change.js'
import { isId } from './cursor.js'
import type { Transaction } from './database.js'
import { LANES, type Lane, type Lanes } from './lanes.js'
import type { StoredOperation } from './operation-row.js'
import type { BatchScope } from './queries/batch.js'
import { type ScanCursor, WINDOW_IDS, WINDOW_ROWS } from './queries/selection.js'

/** Behind every row. */
const END = { at: '9999-12-31T00:00:00.000000Z', id: '0' } as const

/** Takes an operation's rows as they come: moves a window of them, and notes what was refused and what is locked. */
export class Taking {
  constructor(
    private readonly batches: Batches,
    private readonly lanes: Lanes,
  ) {}

  /**
   * One window: what matches moves, what is refused is noted, what is locked is noted to be looked at again. Of a lane, it
   * is the lane that goes on and comes to its end.
   */
  async take(
    tx: Transaction,
    operation: StoredOperation,
    limit: number,
    lane?: Lane,
  ): Promise<{ batch: Batch & { cursor: ScanCursor; past: ScanCursor }; change: Change }> {
    const { selector, snapshot, id } = operation
    const cursor = lane?.cursor ?? operation.cursor
    const { ids } = selector
    const from = Number(cursor.id)
    const some = ids?.slice(from, from + Math.min(limit, WINDOW_IDS)) ?? []
    const share = lane && { of: LANES, number: lane.number }
    const scope: BatchScope =
      ids === undefined
        ? { type: 'window', window: { selector, snapshot, cursor, limit, scan: WINDOW_ROWS, lane: share } }
        : { type: 'ids', ids: some.filter(isId), selector, snapshot, wait: false }
    const batch = await this.batches.run(tx, operation, scope)
    const missing = ids === undefined ? [] : await this.missing(tx, operation, some, batch)
    const refused = await this.refuse(tx, operation, batch.refused)
    await this.batches.note(
      tx,
      id,
      missing.filter((refusal) => isId(refusal.id)),
      'failed',
    )
    await this.batches.note(tx, id, batch.locked.map(lockedRow), 'pending')
    const ended = ids === undefined ? batch.ended : from + some.length >= ids.length
    const next =
      ids === undefined
        ? { at: batch.at ?? cursor.at, id: batch.id ?? cursor.id }
        : { at: cursor.at, id: String(from + some.length) }
    if (lane) await this.lanes.advance(tx, id, lane, next, ended)
    const onward = lane ? {} : { cursor: ended ? START : next, ...(ended ? { phase: 'revisiting' } : {}) }
    return {
      batch: { ...batch, cursor: next, past: ids === undefined ? END : next },
      change: {
        succeeded: batch.done.length,
        failed: refused.failed + missing.length,
        skipped: refused.skipped,
        ...onward,
      },
    }
  }

  /** Notes what was refused, as its policy says: with `replace` a conflict is settled in a pass of its own. */
  async refuse(
    tx: Transaction,
    { id, onConflict }: StoredOperation,
    refused: readonly Refusal[],
  ): Promise<{ failed: number; skipped: number }> {
    const conflicts = onConflict === 'fail' ? [] : refused.filter(({ code }) => code === 'unique_conflict')
    const failed = onConflict === 'fail' ? refused : refused.filter(({ code }) => code !== 'unique_conflict')
    await this.batches.note(tx, id, failed, 'failed')
    if (onConflict === 'skip') await this.batches.note(tx, id, conflicts, 'skipped')
    else
      await this.batches.note(
        tx,
        id,
        conflicts.map((it) => ({ ...it, code: 'replace' })),
        'pending',
      )
    return { failed: failed.length, skipped: onConflict === 'skip' ? conflicts.length : 0 }
  }

  /** Why named rows were not where the action looks. One named twice is done once, and counted as it went. */
  private async missing(
    tx: Transaction,
    operation: StoredOperation,
    ids: readonly string[],
    batch: Batch,
  ): Promise<Refusal[]> {
    const known = new Set([...batch.done, ...batch.locked, ...batch.refused.map(({ id }) => id)])
    const lost = ids.filter((id) => !known.has(id))
    return this.batches.sayAllMissing(tx, lost, operation)
  }
}

function lockedRow(id: string): Refusal {
  return { id, code: 'locked', message: `another transaction has job ${id}; it is looked at again before this ends` }
}
