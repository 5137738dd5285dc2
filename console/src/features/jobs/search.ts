import { given, oneOf, text } from '../../components/search-params.js'

/** Every state, in the order of a job's life. */
export const STATES = [
  ...(['available', 'scheduled', 'retryable', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const),
  ...(['archived', 'discarded', 'quarantined', 'undecodable'] as const),
] as const

/** What the list of jobs is narrowed to. */
export interface JobFilter {
  readonly state?: (typeof STATES)[number]
  readonly queue?: string
  readonly kind?: string
  readonly tag?: string
  readonly reason?: string
  readonly cause?: string
  readonly q?: string
}

export interface JobSearch extends JobFilter {
  readonly cursor?: string
  /** The job in the sheet beside the list. */
  readonly job?: string
}

/** The address of `/jobs`, as far as it can be understood. */
export function jobSearch(search: Record<string, unknown>): JobSearch {
  return given({
    state: oneOf(search, 'state', STATES),
    queue: text(search, 'queue', 255),
    kind: text(search, 'kind', 255),
    tag: text(search, 'tag', 255),
    reason: text(search, 'reason', 255),
    cause: text(search, 'cause', 255),
    q: text(search, 'q'),
    cursor: text(search, 'cursor', 1_000),
    job: text(search, 'job', 20),
  })
}
