import type { DeathEvent } from '../../job/death.js'
import { detailedJobOf, type JobDetail, type JobRow } from './job-row.js'
import type { ExpiredRow } from './queries/deadlines.js'

const SUMMARY_COLUMNS = 29

/** A death that a sweep has written, as its handlers are told of it. */
export function expiredOf(row: ExpiredRow): DeathEvent {
  const state = row[1] as DeathEvent['state']
  const [cause, errorClass, error] = row.slice(26, SUMMARY_COLUMNS) as [string, string | null, string | null]
  const job = detailedJobOf(row.slice(0, SUMMARY_COLUMNS) as JobRow, row.slice(SUMMARY_COLUMNS) as JobDetail)
  const reason = job.dlq?.reason ?? 'deadline_exceeded'
  return {
    job: state === 'archived' ? job : { ...job, state: 'failed', reason, dlq: null },
    reason,
    error,
    errorClass,
    cause,
    generation: job.generation,
    state,
  }
}
