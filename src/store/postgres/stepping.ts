import { SpillwayError } from '../../job/errors.js'
import type { Operation, OperationStep } from '../store.js'
import type { Batches, Refusal } from './batches.js'
import { BATCH, type Change, START } from './change.js'
import { Counting } from './counting.js'
import type { Database, Transaction } from './database.js'
import { faultOf } from './errors.js'
import { LANE_MS, LANES, type Lane, type Lanes, Superseded } from './lanes.js'
import { operationOf, type StoredOperation, shown } from './operation-row.js'
import { NO_ROOM_MS, Pace } from './pace.js'
import { lookQueries } from './queries/look.js'
import type { operationQueries } from './queries/operations.js'
import { undoQueries } from './queries/undo.js'
import { Taking } from './taking.js'
import { Undoing } from './undoing.js'

/** How long a runner has the right to an operation after a step; another takes it over when that has lapsed. */
const RUNNER_MS = 10_000
const PENDING_MS = 250
const WAITING_MS = 100
const CANARY_MS = 250
/** Batches that a connection does in a lane before the operation is looked at as a whole. */
const IN_A_ROW = 4
const REPLACED_AT_ONCE = 50

/**
 * One step of an operation: a transaction that locks its row, does one bounded piece of its present phase, and accounts
 * for it.
 *
 * counting → (canary →) moving → revisiting → newer → ended. Counting reads windows of rows without locking them; moving takes
 * windows and passes over what others have locked; revisiting goes back to those; at the end it counts what died later.
 *
 * A large move that nothing limits goes in lanes: a step then does batches of each, every one in a transaction of its own.
 */
export class Stepping {
  /** Of the operations that this process runs. */
  private readonly paces = new Map<string, Pace>()
  private readonly looks
  private readonly counting
  private readonly taking
  private readonly undoing

  constructor(
    schema: string,
    private readonly db: Database,
    private readonly batches: Batches,
    private readonly queries: ReturnType<typeof operationQueries>,
    private readonly lanes: Lanes,
  ) {
    this.looks = lookQueries(schema)
    this.counting = new Counting(this.looks)
    this.taking = new Taking(batches, lanes)
    this.undoing = new Undoing(batches, undoQueries(schema), queries)
  }

  async step(id: string, runner: string): Promise<OperationStep> {
    try {
      const together = this.lanes.has(id) ? await this.inLanes(id, runner) : undefined
      return together ?? (await this.db.transaction((tx) => this.inside(tx, id, runner)))
    } catch (error) {
      const fault = faultOf(error instanceof SpillwayError ? error.cause : error)
      // Too many at the same rows: somebody else's turn first.
      if (fault === 'conflict') return { operation: await this.look(id), waitMs: PENDING_MS }
      if (fault !== 'final' && fault !== 'unique') throw error
      // Repeating it cannot help: it ends and says why, rather than seem to run for ever.
      const why = (error as Error).message.slice(0, 1_000)
      await this.db.run(this.queries.fail, [id, runner, why])
      return { operation: await this.look(id), waitMs: null }
    }
  }

  /** Batches of each lane, at the same time. Undefined: the whole operation is to be looked at. */
  private async inLanes(id: string, runner: string): Promise<OperationStep | undefined> {
    const ends = await Promise.allSettled(Array.from({ length: LANES }, () => this.inLane(id, runner)))
    const failed = ends.find((end) => end.status === 'rejected')
    if (failed) throw failed.reason
    const steps = ends.flatMap((end) => (end.status === 'fulfilled' && end.value ? [end.value] : []))
    const [last] = steps.sort((a, b) => doneBy(b) - doneBy(a))
    return last && { ...last, waitMs: Math.min(...steps.map(({ waitMs }) => waitMs ?? 0)) }
  }

  /** Some batches in lanes that are free, so that a slow one of the other connection is not waited for after each. */
  private async inLane(id: string, runner: string): Promise<OperationStep | undefined> {
    let last: OperationStep | undefined
    for (let n = 0; n < IN_A_ROW; n++) {
      const step = await this.laneBatch(id, runner)
      if (!step) break
      last = step
      if (step.waitMs !== 0) break
    }
    return last
  }

  private async laneBatch(id: string, runner: string): Promise<OperationStep | undefined> {
    try {
      const step = await this.db.transaction(async (tx): Promise<OperationStep | undefined> => {
        const taken = await this.lanes.takeFree(tx, id, runner)
        if (!taken) return undefined
        const { operation, lane } = taken
        if (lane === 'busy') return { operation: shown(operation), waitMs: LANE_MS }
        const { change } = await this.taking.take(tx, operation, BATCH, lane)
        const { succeeded = 0, skipped = 0, failed = 0 } = change
        const after = await this.lanes.account(tx, id, runner, RUNNER_MS, { succeeded, skipped, failed })
        return { operation: shown(after), waitMs: 0 }
      })
      if (!step) this.lanes.forget(id)
      return step
    } catch (error) {
      if (!(error instanceof Superseded)) throw error
      this.lanes.forget(id)
      return undefined
    }
  }

  private async look(id: string): Promise<Operation> {
    const [row] = await this.db.run(this.queries.get, [id])
    if (row) return shown(operationOf(row))
    throw new SpillwayError(
      'operation_not_found',
      `cannot find operation ${id}: list them with \`spillway operations list\``,
    )
  }

  private async inside(tx: Transaction, id: string, runner: string): Promise<OperationStep> {
    const [taken] = await tx.run(this.queries.take, [id, runner, RUNNER_MS])
    if (!taken) return { operation: await this.look(id), waitMs: null }
    const operation = operationOf(taken)
    const change = await this.advance(tx, operation)
    const matched = operation.matched + (change.matched ?? 0)
    if (change.phase === 'moving' && this.lanes.suits(operation, matched)) {
      await this.lanes.open(tx, operation, change.cursor ?? operation.cursor)
    }
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
    if (after.state !== 'running') this.paces.delete(id)
    const paced = change.paceMs === undefined ? 0 : Math.max(0, Math.ceil(after.nextInMs))
    const waitMs = after.state === 'running' ? Math.max(change.waitMs ?? 0, paced) : null
    return { operation: shown(after), waitMs }
  }

  private advance(tx: Transaction, operation: StoredOperation): Promise<Change> {
    if (operation.action === 'undo') return this.undoing.undo(tx, operation)
    switch (operation.phase) {
      case 'counting':
        return this.counting.count(tx, operation)
      case 'canary':
        return this.judge(tx, operation)
      case 'moving':
        return this.move(tx, operation)
      case 'revisiting':
        return this.revisit(tx, operation)
      case 'newer':
        return this.counting.countNewer(tx, operation)
      default:
        return Promise.resolve({ state: 'done' })
    }
  }

  /** Sends the canaries ahead, or looks what became of them. Silence never lets the rest follow. */
  private async judge(tx: Transaction, operation: StoredOperation): Promise<Change> {
    const { id, canary, canaryInMs, canaryPassed, abortAbove, holdMs } = operation
    if (canaryPassed) return { phase: 'moving' }
    if (canaryInMs === null) {
      const room = Math.max(1, (canary ?? 1) - operation.succeeded)
      const { batch, change } = await this.taking.take(tx, operation, room)
      const sent = operation.succeeded + batch.done.length
      const ended = change.phase === 'revisiting'
      if (ended && sent === 0) return change
      const complete = ended || batch.done.length >= room
      await tx.run(this.queries.sendAhead, [id, [...batch.done], complete ? holdMs : null])
      // What was refused on the way stays behind the cursor.
      return { ...change, phase: 'canary', cursor: ended ? batch.past : batch.cursor, waitMs: complete ? CANARY_MS : 0 }
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
    const lane = await this.lanes.next(tx, operation)
    if (lane === 'ended') return { phase: 'revisiting', cursor: START }
    if (lane === 'busy') return { waitMs: LANE_MS }
    if (lane === 'free') return {}
    const part = lane === 'whole' ? undefined : lane
    let limit = BATCH
    if (rate !== null) {
      if (nextInMs > 0) return { waitMs: Math.ceil(nextInMs) }
      // Small batches, so that no second sees more than the rate and one of them.
      limit = Math.min(BATCH, Math.max(1, Math.floor(rate / 10)))
    } else if (action === 'retry' && maxWaiting > 0) {
      const [row] = await tx.run(this.looks.waiting, [id, maxWaiting])
      return this.beside(tx, operation, Number((row as [string])[0]), part)
    }
    const { batch, change } = await this.taking.take(tx, operation, limit, part)
    const moved = batch.done.length
    return rate === null ? change : { ...change, paceMs: (moved / rate) * 1000 }
  }

  /** A batch as large as the workers take at once, when they have taken the last one. */
  private async beside(tx: Transaction, operation: StoredOperation, waiting: number, lane?: Lane): Promise<Change> {
    const begin = performance.now()
    const pace = this.paces.get(operation.id) ?? new Pace(begin)
    this.paces.set(operation.id, pace)
    const limit = pace.room(waiting, operation.maxWaiting, begin)
    if (limit === 0) return { waitMs: waiting >= operation.maxWaiting ? WAITING_MS : NO_ROOM_MS }
    const { batch, change } = await this.taking.take(tx, operation, limit, lane)
    return { ...change, waitMs: pace.added(batch.done.length, performance.now() - begin) }
  }

  /** Goes back to what is pending until nothing is; what is still locked is looked at in the next pass. */
  private async revisit(tx: Transaction, operation: StoredOperation): Promise<Change> {
    const { id, cursor, selector } = operation
    const pending = await tx.run(this.queries.pending, [id, cursor.id, BATCH])
    if (pending.length > 0) return this.again(tx, operation, pending)
    const [left] = await tx.run(this.queries.pending, [id, '0', 1])
    if (left) return { cursor: START, waitMs: PENDING_MS }
    if (selector.ids !== undefined) return { phase: 'ended', state: 'done' }
    return { phase: 'newer', cursor: START }
  }

  private async again(
    tx: Transaction,
    operation: StoredOperation,
    pending: readonly [jobId: string, code: string][],
  ): Promise<Change> {
    const { id, action, selector, snapshot, cursor } = operation
    const replacing = pending.filter(([, code]) => code === 'replace').map(([jobId]) => jobId)
    const last = pending.at(-1)?.[0] ?? cursor.id
    if (replacing.length === pending.length) return this.replace(tx, operation, replacing.slice(0, REPLACED_AT_ONCE))

    const ids = pending.filter(([, code]) => code !== 'replace').map(([jobId]) => jobId)
    const { ids: _, ...rest } = selector
    const batch = await this.batches.run(tx, operation, { type: 'ids', ids, selector: rest, snapshot, wait: false })
    const seen = new Set([...batch.done, ...batch.locked, ...batch.refused.map((refusal) => refusal.id)])
    const vanished = ids.filter((each) => !seen.has(each)).map((jobId) => vanishedRow(jobId, action))
    await tx.run(this.queries.settlePending, [id, ids.filter((each) => !batch.locked.includes(each))])
    await this.batches.note(tx, id, vanished, 'failed')
    const refused = await this.taking.refuse(tx, operation, batch.refused)
    return {
      succeeded: batch.done.length,
      failed: refused.failed + vanished.length,
      skipped: refused.skipped,
      cursor: { at: cursor.at, id: replacing.length > 0 ? (ids.at(-1) ?? last) : last },
    }
  }

  /** Cancels who holds their keys, and retries them. A holder that runs is left alone, and so is the dead job. */
  private async replace(tx: Transaction, operation: StoredOperation, ids: readonly string[]): Promise<Change> {
    const failed: Refusal[] = []
    let succeeded = 0
    for (const id of ids) {
      const answer = await this.batches.replace(tx, operation, id)
      if (answer === 'again') continue
      await tx.run(this.queries.settlePending, [operation.id, [id]])
      if (answer === 'done') succeeded += 1
      else failed.push(answer)
    }
    await this.batches.note(tx, operation.id, failed, 'failed')
    return { succeeded, failed: failed.length, cursor: { at: operation.cursor.at, id: ids.at(-1) ?? '0' } }
  }
}

function vanishedRow(id: string, action: string): Refusal {
  return { id, code: 'vanished', message: `somebody else moved job ${id} while this ${action} was under way` }
}

function doneBy({ operation: { succeeded, skipped, failed } }: OperationStep): number {
  return succeeded + skipped + failed
}
