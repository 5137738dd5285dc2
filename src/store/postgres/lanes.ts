import type { Transaction } from './database.js'
import { operationOf, type StoredOperation } from './operation-row.js'
import type { laneQueries } from './queries/lanes.js'
import type { ScanCursor } from './queries/selection.js'

/** As many as PostgreSQL can be at without crowding out those who work: one connection keeps one core busy. */
export const LANES = 2
/** Fewer rows are done before a second connection is open, and keep their order to the row. */
const LANES_FROM = 10_000
/** Another connection is at the last lane. */
export const LANE_MS = 20

/** Half of an operation's rows, and the last one looked at. */
export interface Lane {
  readonly number: number
  readonly cursor: ScanCursor
}

/** It was paused, cancelled, paced or taken over while a batch was under way, so the batch is rolled back. */
export class Superseded extends Error {}

/**
 * Operations that two connections of one process work on at the same time: a retry of many rows that nothing limits. One
 * connection is bound by one core of the server, whatever it does. Each lane is a row with its own cursor, locked while
 * a batch of it is under way; the totals stay in the operation's row, which such a batch locks only to add to them.
 */
export class Lanes {
  /** Those that this process knows to be open. Only a hint: the rows decide. */
  private readonly known = new Set<string>()

  constructor(private readonly queries: ReturnType<typeof laneQueries>) {}

  has(id: string): boolean {
    return this.known.has(id)
  }

  forget(id: string): void {
    this.known.delete(id)
  }

  /** Whether an operation of so many rows is split. */
  suits(operation: StoredOperation, matched: number): boolean {
    const { action, selector, rate, maxWaiting } = operation
    return (
      action === 'retry' && selector.ids === undefined && rate === null && maxWaiting === 0 && matched >= LANES_FROM
    )
  }

  /** Splits what is left of an operation that the transaction has locked. */
  async open(tx: Transaction, { id }: StoredOperation, from: ScanCursor): Promise<void> {
    await tx.run(this.queries.open, [id, LANES, from.at, from.id])
    this.known.add(id)
  }

  /**
   * How an operation that the transaction has locked goes on: as a whole; in lanes, by anybody; by this step in a lane,
   * because it is paced; not now, because somebody is at the last lane; or not any more, because all have ended.
   */
  async next(tx: Transaction, operation: StoredOperation): Promise<'whole' | 'free' | 'busy' | 'ended' | Lane> {
    const { id, action, selector, matched } = operation
    if (action !== 'retry' || selector.ids !== undefined || matched < LANES_FROM) return 'whole'
    const [all = '0', open = '0'] = (await tx.run(this.queries.count, [id]))[0] ?? []
    if (all === '0') return 'whole'
    if (open === '0') {
      await tx.run(this.queries.close, [id])
      this.known.delete(id)
      return 'ended'
    }
    if (this.suits(operation, matched)) {
      this.known.add(id)
      return 'free'
    }
    return (await this.take(tx, id)) ?? 'busy'
  }

  /** The operation as it is, and a lane of it: `busy` while others are at all that are left, undefined when it is none of these. */
  async takeFree(
    tx: Transaction,
    id: string,
    runner: string,
  ): Promise<{ operation: StoredOperation; lane: Lane | 'busy' } | undefined> {
    const [row] = await tx.run(this.queries.operation, [id, runner])
    if (!row) return undefined
    const lane = await this.take(tx, id)
    if (lane) return { operation: operationOf(row), lane }
    const [, open = '0'] = (await tx.run(this.queries.count, [id]))[0] ?? []
    return open === '0' ? undefined : { operation: operationOf(row), lane: 'busy' }
  }

  async advance(tx: Transaction, id: string, lane: Lane, to: ScanCursor, ended: boolean): Promise<void> {
    await tx.run(this.queries.advance, [id, lane.number, to.at, to.id, ended])
  }

  /** @throws {Superseded} the batch must not be. */
  async account(
    tx: Transaction,
    id: string,
    runner: string,
    ttlMs: number,
    did: { readonly succeeded: number; readonly skipped: number; readonly failed: number },
  ): Promise<StoredOperation> {
    const [row] = await tx.run(this.queries.account, [id, runner, ttlMs, did.succeeded, did.skipped, did.failed])
    if (!row) throw new Superseded(`operation ${id} is not this runner's any more`)
    return operationOf(row)
  }

  private async take(tx: Transaction, id: string): Promise<Lane | undefined> {
    const [row] = await tx.run(this.queries.take, [id])
    return row && { number: Number(row[0]), cursor: { at: row[1] ?? '-infinity', id: row[2] } }
  }
}
