import { runOperation } from '../../src/client/operation-runner.js'
import { sql } from '../../src/store/postgres/sql.js'
import type { BulkRequest, Operation, RetryRequest, Store } from '../../src/store/store.js'

export const act = { actor: 'ann', reason: 'gateway is back', requestId: 'r1' }
export const FRESH: RetryRequest = { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false }

export type Asked = Partial<BulkRequest> & Pick<BulkRequest, 'selector'>

/** A request with the defaults of the client. */
export function request(asked: Asked): BulkRequest {
  return {
    action: 'retry',
    retry: FRESH,
    dryRun: false,
    rate: null,
    maxWaiting: 5_000,
    canary: null,
    abortAbove: 0,
    holdMs: 300_000,
    preview: null,
    ...asked,
  }
}

/** Begins an operation, and runs it here until it ends or pauses. */
export async function carryOut(store: Store, asked: Asked): Promise<Operation> {
  const { id } = await store.startOperation(request(asked), act)
  return runOperation(store, id, 'runner')
}

/** Steps until `enough` says so. */
export async function stepUntil(
  store: Store,
  id: string,
  runner: string,
  enough: (operation: Operation) => boolean,
): Promise<Operation> {
  for (;;) {
    const { operation } = await store.stepOperation(id, runner)
    if (enough(operation) || operation.state !== 'running') return operation
  }
}

/** What every operation has to have done at its end: each row it matched, once. */
export function total({ succeeded, skipped, failed }: Operation): number {
  return succeeded + skipped + failed
}

/** As if the runner had been killed, and silent for long enough. */
export const abandon = sql<[id: string], []>`
  update spillway.operations set runner_until = now() - interval '1 second' where id = $1::bigint`

export const deadIds = sql<[], [id: string]>`select id from spillway.dlq_entries order by dlq_at, id`

/** Jobs that are back at work, oldest place first. */
export const readyIds = sql<[], [id: string]>`select id from spillway.ready_entries order by position`
