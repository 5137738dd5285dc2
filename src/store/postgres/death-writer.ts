import type { DeathEvent, DeathTransaction } from '../../job/death.js'
import { SpillwayError } from '../../job/errors.js'
import type { DeathAlong, Notice, Settled, Settlement } from '../store.js'
import type { ClaimedRow } from './claimed-row.js'
import type { Database, Transaction } from './database.js'
import { faultOf } from './errors.js'
import type { settleQueries } from './queries/settle.js'
import { deathParams } from './settle-params.js'

/** While the database is away a death waits this long; after that the lease is another's anyway. */
const PATIENCE_MS = 10 * 60_000
/** How much longer than the code of the user a transaction may last before the server ends it. */
const SPARE_MS = 1_000

type State = DeathEvent['state']

/** Writes deaths one by one, each in a transaction in which code of the user takes part. */
export class DeathWriter {
  constructor(
    private readonly lane: Database,
    private readonly queries: ReturnType<typeof settleQueries>,
    private readonly preparePartitions: () => Promise<unknown>,
    private readonly tell: (notice: Notice) => void,
    private readonly hasReported: (group: readonly Settlement[]) => boolean,
  ) {}

  async write(settlement: Settlement, along: DeathAlong): Promise<Settled> {
    const until = performance.now() + PATIENCE_MS
    let isUnknown = false
    for (let waitMs = 10; ; waitMs = Math.min(waitMs * 2, 1_000)) {
      try {
        const known = isUnknown ? await this.applied(settlement) : undefined
        const state = known ?? (await this.writeWith(settlement, along))
        if (known === undefined && state !== undefined) this.tell({ type: 'outbox' })
        if (state !== undefined) return { outcome: known ? 'already_applied' : 'applied', state }
        const before = await this.applied(settlement)
        return before ? { outcome: 'already_applied', state: before } : { outcome: 'lost', state: null }
      } catch (error) {
        const fault = faultOf((error as Error).cause ?? error)
        if (fault === 'partition') {
          await this.preparePartitions()
          continue
        }
        if (fault !== 'unavailable' || performance.now() > until) throw error
        isUnknown = true
        await new Promise((resolve) => setTimeout(resolve, waitMs))
      }
    }
  }

  async close(): Promise<void> {
    await this.lane.close()
  }

  /** With the code of the user; where that fails, without it, saying so. Undefined: the lease is lost. */
  private async writeWith(settlement: Settlement, along: DeathAlong): Promise<State | undefined> {
    let failure: { readonly error: unknown } | undefined
    let conflict: unknown
    try {
      return await this.lane.transaction(async (tx) => {
        failure = undefined
        await tx.run(this.queries.limitTransaction, [String(along.patienceMs + SPARE_MS)])
        const state = await this.dead(tx, settlement)
        if (state === undefined) return undefined
        const handle = new Handle(tx)
        try {
          const [before] = await tx.run(this.queries.transactionId, [])
          await within(along.patienceMs, along.inTransaction(handle, state))
          // A failed statement that was caught would turn the commit into a rollback without a word.
          const [after] = await tx.run(this.queries.transactionId, [])
          if (before?.[0] !== after?.[0]) throw new Error('onDeathTx ended the transaction that was lent to it')
        } catch (error) {
          // A conflict or a lost connection is not the user's: all of it is done again.
          if (handle.fault !== undefined) {
            conflict = handle.fault
            throw handle.fault
          }
          failure = { error }
          throw error instanceof Late ? error : new Error('the death is written without it')
        } finally {
          handle.end()
        }
        return state
      })
    } catch (error) {
      // Met again and again, it is the user's all the same.
      if (failure === undefined && conflict !== undefined && faultOf(error) === 'conflict') failure = { error }
      if (failure === undefined) throw error
    }
    const { error } = failure
    return this.lane.transaction(async (tx) => {
      const state = await this.dead(tx, settlement)
      if (state === undefined) return undefined
      await tx.run(this.queries.noteDeath, [settlement.job.id, settlement.job.leaseId, along.failed(error)])
      return state
    })
  }

  private async dead(tx: Transaction, settlement: Settlement): Promise<State | undefined> {
    const params = deathParams([settlement], this.hasReported([settlement]))
    const here = this.queries.bySlot[(settlement.job as ClaimedRow).slot]
    const rows = here ? await tx.run(here.dead, params) : []
    // Not where the worker left it: it may have been carried to another slot.
    const [row] = rows.length > 0 ? rows : await tx.run(this.queries.everywhere.dead, params)
    return row?.[1] as State | undefined
  }

  private async applied({ job }: Settlement): Promise<State | undefined> {
    const [row] = await this.lane.run(this.queries.alreadyApplied, [`{${job.id}}`, `{${job.leaseId}}`], {
      repeatable: true,
      patienceMs: PATIENCE_MS,
    })
    return row?.[1] as State | undefined
  }
}

/** The transaction as the user's code holds it. Once it has ended, nothing goes through it any more. */
class Handle implements DeathTransaction {
  /** What went wrong that is not the user's. */
  fault: unknown
  private hasEnded = false

  constructor(private readonly tx: Transaction) {}

  async query(text: string, values: readonly unknown[] = []): Promise<{ rows: Record<string, unknown>[] }> {
    return { rows: await this.execute(text, values) }
  }

  async execute(text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    if (this.hasEnded) {
      throw new SpillwayError('invalid_state', 'cannot use this `tx`: its death is written; await what uses it')
    }
    try {
      return await this.tx.query(text, values)
    } catch (error) {
      const fault = faultOf(error)
      if (fault === 'conflict' || fault === 'unavailable') this.fault = error
      throw error
    }
  }

  end(): void {
    this.hasEnded = true
  }
}

/** The user's code took too long. Its connection is given up with it: a statement of it may still run. */
class Late extends Error {
  readonly code = '57P05'

  constructor(ms: number) {
    super(`onDeathTx took longer than ${ms} ms`)
    this.name = 'DeathTxTimeout'
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Late(ms)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
