import { SpillwayError } from '../../job/errors.js'
import { Database, type RunOptions, type Transaction } from './database.js'
import { faultOf, translate } from './errors.js'
import type { Statement } from './sql.js'

const CONFLICT_TRIES = 10

/**
 * A database whose statements all belong to one transaction that is open already, so that what acts on a store can be
 * made part of something larger. Each statement is undone alone when it fails, as if it were a transaction of its own;
 * one at a time runs.
 */
export class TransactionLane extends Database {
  private busy: Promise<unknown> = Promise.resolve()

  constructor(private readonly tx: Transaction) {
    super({ url: () => Promise.reject(new Error('a transaction opens no connections')), max: 0, prepare: false })
  }

  override run<Params extends readonly unknown[], Row>(
    statement: Statement<Params, Row>,
    params: Params,
    _options: RunOptions = {},
  ): Promise<Row[]> {
    return this.saved(() => this.tx.run(statement, params))
  }

  override runRaw<Params extends readonly unknown[], Row>(
    statement: Statement<Params, Row>,
    params: Params,
  ): Promise<Row[]> {
    return this.saved(() => this.tx.run(statement, params))
  }

  override transaction<T>(work: (tx: Transaction) => Promise<T>, _options: RunOptions = {}): Promise<T> {
    return this.saved(() => work(this.tx))
  }

  private saved<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.busy.then(() => this.untilSettled(work))
    this.busy = turn.catch(() => undefined)
    return turn
  }

  private async untilSettled<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.undoable(work)
      } catch (error) {
        const fault = faultOf(error)
        if (fault === 'conflict' && tries < CONFLICT_TRIES) continue
        // Without its cause: there is nothing to repeat here, the whole transaction is gone.
        if (fault === 'unavailable') throw new SpillwayError('store_unavailable', translate(error).message)
        throw fault === 'unique' || fault === 'partition' || fault === 'conflict' ? error : translate(error)
      }
    }
  }

  private async undoable<T>(work: () => Promise<T>): Promise<T> {
    await this.tx.execute('savepoint spillway_step')
    try {
      const answer = await work()
      await this.tx.execute('release savepoint spillway_step')
      return answer
    } catch (error) {
      if (faultOf(error) !== 'unavailable') {
        await this.tx.execute('rollback to savepoint spillway_step; release savepoint spillway_step')
      }
      throw error
    }
  }
}
