import type { NewJob } from '../store.js'
import type { FullParams, PlainParams } from './queries/enqueue.js'

/** Between the texts of one parameter, and for one that is not there. */
export const SEPARATOR = '\x1f'
const MISSING = '\x1e'

/** Whether a job sets something the plain statement does not carry. */
export function needsMore(job: NewJob): boolean {
  return (
    job.runAt !== null ||
    job.uniqueKey !== null ||
    job.tags !== null ||
    job.metadata !== null ||
    job.deadline !== null ||
    job.timeoutMs !== null ||
    job.retention !== null ||
    job.onQuarantine === 'park'
  )
}

export function plainParams(jobs: readonly NewJob[], requestId: string | null): PlainParams {
  let queues = ''
  let kinds = ''
  let payloads = ''
  let versions = ''
  let priorities = ''
  let attempts = ''
  for (let n = 0; n < jobs.length; n++) {
    const job = jobs[n] as NewJob
    const text = n === 0 ? '' : SEPARATOR
    const number = n === 0 ? '{' : ','
    queues += text + job.queue
    kinds += text + job.kind
    payloads += text + job.payload
    versions += number + job.version
    priorities += number + job.priority
    attempts += number + job.maxAttempts
  }
  return [requestId, queues, kinds, payloads, `${versions}}`, `${priorities}}`, `${attempts}}`]
}

export function fullParams(jobs: readonly NewJob[], requestId: string | null): FullParams {
  const numbers = (of: (job: NewJob) => number | null) => `{${jobs.map((job) => of(job) ?? 'NULL').join(',')}}`
  const texts = (of: (job: NewJob) => string | null) => jobs.map((job) => of(job) ?? MISSING).join(SEPARATOR)
  return [
    ...plainParams(jobs, requestId),
    numbers((job) => job.runAt?.getTime() ?? null),
    numbers((job) => job.deadline?.getTime() ?? null),
    numbers((job) => job.timeoutMs),
    texts((job) => job.uniqueKey),
    texts((job) => (job.tags && job.tags.length > 0 ? JSON.stringify(job.tags) : null)),
    texts((job) => job.metadata),
    texts((job) => job.retention),
    texts((job) => (job.onQuarantine === 'park' ? 't' : 'f')),
  ]
}
