import type { OperationState, OperationStep } from '../store.js'
import { type Batch, type Batches, type Refusal } from './batches.js'
import type { Database, Transaction } from './database.js'
import { faultOf } from './errors.js'
import { operationOf, type StoredOperation, shown } from './operation-row.js'
import type { BatchScope, bulkQueries } from './queries/bulk.js'
import type { operationQueries } from './queries/operations.js'
import { WINDOW_IDS, WINDOW_ROWS } from './queries/selection.js'

/** How long a runner has the right to an operation after a step; another takes it over when that has lapsed. */
const RUNNER_MS = 10_000
const COUNT_ROWS = 50_000
const PENDING_MS = 250
const WAITING_MS = 100
const CANARY_MS = 250
const BATCH = 1_000
const START = { at: '-infinity', id: '0' } as const

/** What a step changes in its operation's row. */
interface Change {
  readonly phase?: string
  readonly cursor?: { readonly at: string; readonly id: string }
  readonly matched?: number
  readonly succeeded?: number
  readonly skipped?: number
  readonly failed?: number
  readonly newer?: number
  readonly paceMs?: number
  readonly state?: OperationState
  readonly stateReason?: string
  readonly preview?: string
  readonly waitMs?: number
}

/**
 * One step of an operation: a transaction that locks its row, does one bounded piece of its present phase, and accounts
 * for it.
 *
 * counting → (canary →) moving → revisiting → ended. Counting reads windows of rows without locking them; moving takes
 * windows and passes over what others have locked; revisiting waits for those; at the end it counts what died later.
 */
export class Stepping {
  constructor(
    private readonly db: Database,
    private readonly batches: Batches,
    private readonly bulk: ReturnType<typeof bulkQueries>,
    private readonly queries: ReturnType<typeof operationQueries>,
  ) {}

  async step(id: string, runner: string): Promise<OperationStep> {
    try {
      return await this.db.transaction((tx) => this.inside(tx, id, runner))
    } catch (error) {
      if (faultOf(error) !== 'conflict') throw error
      // Somebody holds rows for longer than we wait: they are still pending, and others go on meanwhile.
      const [row] = await this.db.run(this.queries.get, [id])
      const operation = operationOf(row ?? [])
      return { operation: shown(operation), waitMs: PENDING_MS }
    }
  }

  private async inside(tx: Transaction, id: string, runner: string): Promise<OperationStep> {
    const [taken] = await tx.run(this.queries.take, [id, runner, RUNNER_MS])
    if (!taken) {
      const [row] = await tx.run(this.queries.get, [id])
      const operation = operationOf(row ?? [])
      return { operation: shown(operation), waitMs: null }
    }
    const operation = operationOf(taken)
    const change = await this.advance(tx, operation)
    const [row] = await tx.run(this.queries.account, [
      id,
      change.phase ?? operation.phase,
      (change.cursor ?? operation.cursor).at,
      (change.cursor ?? operation.cursor).id,
      change.matched ?? 0,
      change.succeeded ?? 0,
      change.skipped ?? 0,
      change.failed ?? 0,
      change.newer ?? 0,
      change.paceMs ?? 0,
      change.state ?? 'running',
      change.stateReason ?? null,
      change.preview ?? null,
    ])
    const after = operationOf(row ?? [])
    return { operation: shown(after), waitMs: after.state === 'running' ? (change.waitMs ?? 0) : null }
  }

  private advance(tx: Transaction, operation: StoredOperation): Promise<Change> {
    if (operation.action === 'undo') return this.undo(tx, operation)
    switch (operation.phase) {
      case 'counting':
        return this.count(tx, operation)
      case 'canary':
        return this.judge(tx, operation)
      case 'moving':
        return this.move(tx, operation)
      case 'revisiting':
        return this.revisit(tx, operation)
      default:
        return Promise.resolve({ state: 'done' })
    }
  }

  private async count(tx: Transaction, operation: StoredOperation): Promise<Change> {
    const { selector, dryRun, canary } = operation
    const source = operation.action === 'move' ? 'failed' : 'dead'
    const next = dryRun ? 'ended' : canary === null ? 'moving' : 'canary'
    if (selector.ids !== undefined) {
      if (!dryRun) return { phase: next, cursor: START, matched: selector.ids.length }
    }
    const window = { selector, snapshot: operation.snapshot, cursor: operation.cursor, limit: COUNT_ROWS, scan: COUNT_ROWS }
    const [statement, values] = this.bulk.count(window, source)
    const [row] = await tx.run(statement, values)
    const [hits, at, id, ended] = row as [string, string | null, string | null, 't' | 'f']
    const matched = Number(hits)
    if (ended === 'f' && at !== null && id !== null) return { matched, cursor: { at, id } }
    if (!dryRun) return { matched, phase: next, cursor: START }

    const first = { ...window, cursor: START, limit: WINDOW_ROWS, scan: WINDOW_ROWS }
    const [preview, previewValues] = this.bulk.preview(first, source, operation.terms.force)
    const [document] = await tx.run(preview, previewValues)
    return { matched, phase: 'ended', state: 'done', preview: (document as [string])[0] }
  }

  /** Sends the canaries ahead, or looks what became of them. Silence never lets the rest follow. */
  private async judge(tx: Transaction, operation: StoredOperation): Promise<Change> {
    const { id, canary, canaryInMs, canaryPassed, abortAbove, holdMs } = operation
    if (canaryPassed) return { phase: 'moving' }
    if (canaryInMs === null) {
      const { batch, change } = await this.take(tx, operation, canary ?? 1)
      if (batch.done.length > 0) await tx.run(this.queries.sendAhead, [id, [...batch.done], holdMs])
      else if (change.phase === 'revisiting') return change
      return { ...change, phase: 'canary', waitMs: CANARY_MS }
    }
    const rows = await tx.run(this.queries.canaries, [id])
    const failed = rows.filter(([, outcome]) => outcome === 'failed').length
    const open = rows.filter(([, outcome]) => outcome === 'open').length
    if (failed / Math.max(1, rows.length) > abortAbove) {
      return {
        state: 'paused',
        stateReason: `${failed} of ${rows.length} canary jobs failed again: the cause is not fixed; resume lets the rest follow all the same, cancel leaves them`,
      }
    }
    if (open === 0) {
      await tx.run(this.queries.passCanary, [id])
      return { phase: 'moving' }
    }
    if (canaryInMs <= 0) {
      return {
        state: 'paused',
        stateReason: `${open} of ${rows.length} canary jobs have not ended an attempt within ${Math.round(holdMs / 1000)} s: is a worker running?`,
      }
    }
    return { waitMs: CANARY_MS }
  }

  private async move(tx: Transaction, operation: StoredOperation): Promise<Change> {
    const { rate, maxWaiting, nextInMs, action, id } = operation
    let limit = BATCH
    if (rate !== null) {
      if (nextInMs > 0) return { waitMs: Math.ceil(nextInMs) }
      // Small batches, so that no second sees more than the rate and one of them.
      limit = Math.min(BATCH, Math.max(1, Math.floor(rate / 10)))
    } else if (action === 'retry' && maxWaiting > 0) {
      const [row] = await tx.run(this.bulk.waiting, [id, maxWaiting])
      const room = maxWaiting - Number((row as [string])[0])
      if (room <= 0) return { waitMs: WAITING_MS }
      limit = Math.min(limit, room)
    }
    const { batch, change } = await this.take(tx, operation, limit)
    const moved = batch.done.length
    return {
      ...change,
      ...(rate === null ? {} : { paceMs: (moved / rate) * 1000, waitMs: Math.ceil((moved / rate) * 1000) }),
    }
  }

  /** One window: what matches moves, what is refused is noted, what is locked is noted to be looked at again. */
  private async take(tx: Transaction, operation: StoredOperation, limit: number): Promise<{ batch: Batch; change: Change }> {
    const { selector, snapshot, cursor, id, onConflict } = operation
    const { ids } = selector
    const from = Number(cursor.id)
    const some = ids?.slice(from, from + Math.min(limit, WINDOW_IDS)) ?? []
    const numeric = some.filter((each) => /^\d{1,18}$/.test(each))
    const scope: BatchScope =
      ids === undefined
        ? { type: 'window', window: { selector, snapshot, cursor, limit, scan: WINDOW_ROWS } }
        : { type: 'ids', ids: numeric, selector: { ...selector }, wait: false }
    const batch = await this.batches.run(tx, operation, scope)
    const missing = ids === undefined ? [] : await this.missing(tx, operation, some, batch)
    const conflicts = batch.refused.filter(({ code }) => code === 'unique_conflict')
    const failed = batch.refused.filter(({ code }) => code !== 'unique_conflict' || onConflict !== 'skip')
    await this.batches.note(tx, id, [...failed, ...missing], 'failed')
    if (onConflict === 'skip') await this.batches.note(tx, id, conflicts, 'skipped')
    await this.batches.note(tx, id, batch.locked.map(lockedRow), 'pending')
    const ended = ids === undefined ? batch.ended : from + some.length >= ids.length
    const next =
      ids === undefined
        ? { at: batch.at ?? cursor.at, id: batch.id ?? cursor.id }
        : { at: cursor.at, id: String(from + some.length) }
    return {
      batch,
      change: {
        succeeded: batch.done.length,
        failed: failed.length + missing.length,
        skipped: onConflict === 'skip' ? conflicts.length : 0,
        cursor: ended ? START : next,
        ...(ended ? { phase: 'revisiting' } : {}),
      },
    }
  }

  private async missing(tx: Transaction, { action }: StoredOperation, ids: readonly string[], batch: Batch): Promise<Refusal[]> {
    const known = new Set([...batch.done, ...batch.locked, ...batch.refused.map(({ id }) => id)])
    const refusals: Refusal[] = []
    for (const id of ids) {
      if (known.has(id)) continue
      const refusal = /^\d{1,18}$/.test(id)
        ? await this.batches.sayMissing(tx, id, action as 'retry')
        : { id, code: 'not_found', message: `cannot find job ${id.slice(0, 40)}: ids are decimal numbers` }
      // Not numeric ids cannot stand in a row of numbers; they are counted only.
      if (refusal && /^\d{1,18}$/.test(id)) refusals.push(refusal)
    }
    return refusals
  }

  /** Waits for the rows that were locked, then counts what died later, and ends. */
  private async revisit(tx: Transaction, operation: StoredOperation): Promise<Change> {
    const { id, action, selector, snapshot, cursor } = operation
    const pending = await tx.run(this.queries.pending, [id, BATCH])
    if (pending.length > 0) {
      await tx.run(this.queries.patience, [])
      const ids = pending.map(([jobId]) => jobId)
      const { ids: _, ...rest } = selector
      const batch = await this.batches.run(tx, operation, { type: 'ids', ids, selector: rest, wait: true })
      const gone = ids.filter((each) => !batch.done.includes(each) && !batch.refused.some((refusal) => refusal.id === each))
      await tx.run(this.queries.settlePending, [id, ids])
      const vanished = gone.map((jobId) => ({
        id: jobId,
        code: 'vanished',
        message: `somebody else moved job ${jobId} while this ${action} was under way`,
      }))
      await this.batches.note(tx, id, [...batch.refused, ...vanished], 'failed')
      return { succeeded: batch.done.length, failed: batch.refused.length + vanished.length }
    }
    if (selector.ids !== undefined) return { phase: 'ended', state: 'done' }
    const window = { selector, snapshot, cursor, limit: COUNT_ROWS, scan: COUNT_ROWS, newer: true }
    const [statement, values] = this.bulk.count(window, action === 'move' ? 'failed' : 'dead')
    const [row] = await tx.run(statement, values)
    const [hits, at, lastId, ended] = row as [string, string | null, string | null, 't' | 'f']
    const newer = Number(hits)
    if (ended === 'f' && at !== null && lastId !== null) return { newer, cursor: { at, id: lastId } }
    return { newer, phase: 'ended', state: 'done' }
  }

  private async undo(tx: Transaction, operation: StoredOperation): Promise<Change> {
    const { undoOf, createdBy, cursor, id } = operation
    const [origin] = await tx.run(this.queries.get, [undoOf as string])
    const { action } = operationOf(origin ?? [])
    if (action === 'discard') {
      const [row] = await tx.run(this.bulk.restore, [undoOf as string, BATCH])
      const back = textArrayLength(row?.[0] ?? null)
      return back === 0 ? { phase: 'ended', state: 'done' } : { matched: back, succeeded: back }
    }
    if (operation.phase === 'moving') {
      const [row] = await tx.run(this.bulk.takeBack, [undoOf as string, cursor.id, BATCH, createdBy])
      const [read, last, ids] = row as [string, string | null, string | null]
      const back = textArrayLength(ids)
      if (Number(read) > 0 && last !== null) return { matched: back, succeeded: back, cursor: { at: cursor.at, id: last } }
      return { phase: 'revisiting', cursor: START }
    }
    const rest = await tx.run(this.bulk.elsewhere, [undoOf as string, cursor.id, BATCH])
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
}

function lockedRow(id: string): Refusal {
  return { id, code: 'locked', message: `another transaction has job ${id}; it is looked at again before this ends` }
}

function textArrayLength(literal: string | null): number {
  return literal === null || literal === '{}' ? 0 : literal.split(',').length
}
