import type { Settled, WorkerSession } from '../store/store.js'
import { deathOf } from './death.js'
import type { Executor } from './executor.js'
import type { Ended } from './settle-buffer.js'

/** How long the code of the user may take in the transaction that writes a death. */
const DEATH_TX_MS = 5_000

/** What writing such a death asks of its worker. */
export interface DeathTxHost {
  session(): WorkerSession
  storeTime(): Date
  report(service: string, error: unknown): void
}

/** How a death is written with which code of the user goes along; undefined for what goes with others. */
export function deathTxOf(
  { job, end }: Ended,
  executor: Executor,
  host: DeathTxHost,
): (() => Promise<Settled>) | undefined {
  const onDeathTx = executor.handlerOf(job)?.definition.onDeathTx
  if (end.event !== 'dead' || !onDeathTx) return undefined
  return () =>
    host.session().settleDeath(
      { job, end },
      {
        patienceMs: DEATH_TX_MS,
        inTransaction: async (tx, state) => {
          await onDeathTx(tx, deathOf(job, end, state, host.storeTime()))
        },
        failed: (error) => {
          host.report('onDeathTx', error)
          return executor.deathTxFailed(job, error)
        },
      },
    )
}
