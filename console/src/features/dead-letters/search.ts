import { given, text, time } from '../../components/search-params.js'

/** What the list of dead letters is narrowed to; the grammar of the API and of the command line. */
export interface DlqFilter {
  readonly queue?: string
  readonly kind?: string
  readonly tag?: string
  readonly reason?: string
  readonly cause?: string
  readonly error?: string
  readonly since?: string
  readonly until?: string
}

export interface DlqSearch extends DlqFilter {
  readonly cursor?: string
}

/** The address of `/dlq`, as far as it can be understood. */
export function dlqSearch(search: Record<string, unknown>): DlqSearch {
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
  })
}
