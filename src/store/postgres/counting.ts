import { type Change, START } from './change.js'
import { isId } from './cursor.js'
import type { Transaction } from './database.js'
import type { StoredOperation } from './operation-row.js'
import { placesOf } from './places.js'
import { joinedPreviews } from './preview.js'
import type { BatchScope } from './queries/batch.js'
import type { lookQueries } from './queries/look.js'
import { WINDOW_ROWS } from './queries/selection.js'
import type { SourceName } from './queries/sources.js'

const COUNT_ROWS = 20_000

/** Counts what an operation is about, before it moves anything and at its end; a dry run shows some of it. */
export class Counting {
  constructor(private readonly looks: ReturnType<typeof lookQueries>) {}

  async count(tx: Transaction, operation: StoredOperation): Promise<Change> {
    const { selector, dryRun, canary, snapshot, cursor } = operation
    const next = canary === null ? 'moving' : 'canary'
    if (selector.ids !== undefined)
      return dryRun ? this.previewIds(tx, operation) : { phase: next, matched: selector.ids.length }

    const [source] = placesOf(operation)
    const window = { selector, snapshot, cursor, limit: COUNT_ROWS, scan: COUNT_ROWS }
    const [statement, values] = this.looks.count(window, source)
    const [row] = await tx.run(statement, values)
    const [hits, at, id] = row as [string, string | null, string | null]
    const matched = Number(hits)
    if (at !== null && id !== null) return { matched, cursor: { at, id } }
    if (!dryRun) return { matched, phase: next, cursor: START }

    const first = { ...window, cursor: START, limit: WINDOW_ROWS, scan: WINDOW_ROWS }
    const preview = await this.preview(tx, operation, source, { type: 'window', window: first })
    return { matched, phase: 'ended', state: 'done', preview }
  }

  private async previewIds(tx: Transaction, operation: StoredOperation): Promise<Change> {
    const { selector, snapshot } = operation
    const ids = (selector.ids ?? []).filter(isId)
    const scope = { type: 'ids', ids, selector, snapshot, wait: false } as const
    const found: string[] = []
    for (const place of placesOf(operation)) found.push(await this.preview(tx, operation, place, scope))
    const preview = joinedPreviews(found)
    return { matched: preview.looked_at, phase: 'ended', state: 'done', preview: JSON.stringify(preview) }
  }

  private async preview(
    tx: Transaction,
    { action, terms }: StoredOperation,
    place: SourceName,
    scope: BatchScope,
  ): Promise<string> {
    const [statement, values] = this.looks.preview(scope, place, action === 'retry', terms.force)
    const [row] = await tx.run(statement, values)
    return (row as [string])[0]
  }

  /** Counts what died after the operation was bound, and ends. */
  async countNewer(tx: Transaction, operation: StoredOperation): Promise<Change> {
    const { selector, snapshot, cursor } = operation
    const [source] = placesOf(operation)
    if (source === 'dead') {
      const [statement, values] = this.looks.newer({ selector, snapshot, scan: COUNT_ROWS }, cursor.id)
      const [counted] = await tx.run(statement, values)
      const [hits, xid] = counted as [string, string | null]
      if (xid !== null) return { newer: Number(hits), cursor: { at: START.at, id: xid } }
      return { newer: Number(hits), phase: 'ended', state: 'done' }
    }
    const window = { selector, snapshot, cursor, limit: COUNT_ROWS, scan: COUNT_ROWS, newer: true }
    const [statement, values] = this.looks.count(window, source)
    const [row] = await tx.run(statement, values)
    const [hits, at, lastId] = row as [string, string | null, string | null]
    const newer = Number(hits)
    if (at !== null && lastId !== null) return { newer, cursor: { at, id: lastId } }
    return { newer, phase: 'ended', state: 'done' }
  }
}
