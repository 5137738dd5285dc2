import { given, text, time } from '../../components/search-params.js'

/** What the list of archived jobs is narrowed to. */
export interface ArchiveFilter {
  readonly queue?: string
  readonly kind?: string
  readonly tag?: string
  readonly reason?: string
  readonly cause?: string
  readonly error?: string
  readonly since?: string
  readonly until?: string
}

export interface ArchiveSearch extends ArchiveFilter {
  readonly cursor?: string
  /** The job that is shown whole. */
  readonly job?: string
}

/** The address of `/archive`, as far as it can be understood. */
export function archiveSearch(search: Record<string, unknown>): ArchiveSearch {
  return given({
    queue: text(search, 'queue', 255),
    kind: text(search, 'kind', 255),
    tag: text(search, 'tag', 255),
    reason: text(search, 'reason', 255),
    cause: text(search, 'cause', 255),
    error: text(search, 'error'),
    since: time(search, 'since'),
    until: time(search, 'until'),
    cursor: text(search, 'cursor', 1_000),
    job: text(search, 'job', 20),
  })
}
