import type { DeathEvent } from '../../job/death.js'
import { detailedJobOf, type JobDetail, type JobRow } from './job-row.js'

/** A job that a sweep has just given up: its state is where it went, and its dlq columns say why wherever that is. */
export type SweptRow = [...JobRow, ...JobDetail]

/** What the detail adds to a list's columns, at the end. */
const DETAIL_COLUMNS = 5

/** A death that a sweep has written, as its handlers are told of it. */
export function sweptDeath(row: SweptRow): DeathEvent {
  const state = row[1] as DeathEvent['state']
  const [reason, , , cause, errorClass, error] = row.slice(23, 29) as [string, ...(string | null)[]]
  const job = detailedJobOf(row.slice(0, -DETAIL_COLUMNS) as JobRow, row.slice(-DETAIL_COLUMNS) as JobDetail)
  return {
    job: state === 'archived' ? job : { ...job, state: 'failed', reason, dlq: null },
    reason,
    error: error ?? null,
    errorClass: errorClass ?? null,
    cause: cause ?? '',
    generation: job.generation,
    state,
  }
}
