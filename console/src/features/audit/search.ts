import { given, text, time } from '../../components/search-params.js'

/** What the audit log is narrowed to. */
export interface AuditFilter {
  readonly actor?: string
  readonly action?: string
  readonly since?: string
}

export interface AuditSearch extends AuditFilter {
  readonly cursor?: string
}

/** The address of `/audit`, as far as it can be understood. */
export function auditSearch(search: Record<string, unknown>): AuditSearch {
  return given({
    actor: text(search, 'actor', 255),
    action: text(search, 'action', 255),
    since: time(search, 'since'),
    cursor: text(search, 'cursor', 1_000),
  })
}
