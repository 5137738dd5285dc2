import { Fragment, Identifier, sql } from '../sql.js'
import { SLOTS } from './claim.js'
import { entryAdded } from './history.js'
import { backQueries } from './settle/back.js'
import { deadQueries } from './settle/dead.js'
import { doneQueries } from './settle/done.js'
import { laterQueries } from './settle/later.js'
import { type Numbers, type SettledRow, takenAnywhere, takenFrom } from './settle/taking.js'

export type SettleStatements = ReturnType<typeof settleFrom>

/**
 * running → wherever an attempt ended, for the worker that still holds the leases.
 *
 * Each statement deletes the lease rows by (id, lease_id) and inserts what they become; at most 500 rows, sorted by the
 * caller, so that two batches cannot wait for each other. Index: leases_N_id. An id that does not come back was not
 * there under that lease: the caller looks in every slot before it calls the lease lost. A row that is being carried to
 * another slot answers 40001, and the statement is repeated.
 */
export function settleQueries(schema: string) {
  return {
    /** On the slot's own table: through the parent a generic plan would lock all eight. */
    bySlot: SLOTS.map((slot) => {
      const leases = new Identifier(schema, `leases_${slot}`)
      return settleFrom(schema, takenFrom(leases))
    }),
    /** Over every slot, for what was not where the worker left it. */
    everywhere: settleFrom(schema, takenAnywhere(new Identifier(schema, 'leases'))),

    /** Which of these ends were written by an earlier try whose answer was lost. */
    alreadyApplied: sql<[ids: Numbers, leaseIds: Numbers], SettledRow>`
      with given as (select * from unnest($1::bigint[], $2::bigint[]) as g(id, lease_id))
      select t.id, t.state
        from given g join ${new Identifier(schema, 'terminal_entries')} t on t.id = g.id and t.lease_id = g.lease_id
       where t.state <> 'cancelled'
      union all
      select d.id, 'archived'
        from given g join ${new Identifier(schema, 'dlq_entries')} d on d.id = g.id and d.lease_id = g.lease_id
      union all
      select c.job_id, 'waiting'
        from given g join ${new Identifier(schema, 'callbacks')} c on c.job_id = g.id and c.wait_lease_id = g.lease_id`,

    /** Forgets what attempts reported, once they have ended. */
    forgetProgress: sql<[ids: Numbers, leaseIds: Numbers], []>`
      delete from ${new Identifier(schema, 'attempt_state')} s
       using unnest($1::bigint[], $2::bigint[]) as g(id, lease_id)
       where s.job_id = g.id and s.lease_id = g.lease_id`,

    /** Says in the history of a death just written what could not be done along with it. */
    noteDeath: sql<[id: string, leaseId: string, entry: string], []>`
      with archived as (
        update ${new Identifier(schema, 'dlq_entries')} d
           set ${new Fragment(entryAdded(schema, 'd', '$3'))}
         where id = $1 and lease_id = $2
      )
      update ${new Identifier(schema, 'terminal_entries')} t
         set ${new Fragment(entryAdded(schema, 't', '$3'))}
       where id = $1 and lease_id = $2 and state = 'failed'`,

    /** Which transaction this is; fails in one that can only be rolled back. */
    transactionId: sql<[], [id: string]>`
      select pg_current_xact_id()`,

    /** Limits what a transaction may take; these last until its end. */
    limitTransaction: sql<[ms: string], [statement: string, idle: string]>`
      select set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $1, true)`,

    /** A cancelled job's handler has ended. */
    handlerEnded: sql<[id: string, leaseId: string], []>`
      update ${new Identifier(schema, 'terminal_entries')}
         set handler_running = false
       where id = $1 and lease_id = $2 and handler_running`,
  }
}

function settleFrom(schema: string, taken: Fragment) {
  return {
    ...doneQueries(schema, taken),
    ...laterQueries(schema, taken),
    ...deadQueries(schema, taken),
    ...backQueries(schema, taken),
  }
}
