import { Fragment, fragment, Identifier } from '../sql.js'

/** Where bulk work may look for its jobs. */
export type SourceName = 'dead' | 'failed' | 'quarantined' | 'undecodable' | 'held' | 'terminal' | 'bin'

export interface Source {
  readonly table: Identifier
  readonly at: string
  readonly reason: string
  /** The transaction that brought a row `d` here. */
  readonly xid: Fragment
  /** What every row of the source has. */
  readonly always: Fragment | undefined
  /** The cause, error class and error message of a row `d`. */
  readonly error: Fragment
}

const OWN_ERROR = fragment`d.cause, d.error_class, d.error_message`

/**
 * Held rows do not say which transaction wrote them, but PostgreSQL does: `xmin` is its number without the epoch, which
 * follows from the present one, since a row that is seen was written before. One that has been edited counts as new.
 */
const WRITTEN_BY = fragment`(greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint
  - ((pg_snapshot_xmax(pg_current_snapshot())::text::bigint - d.xmin::text::bigint) & 4294967295), 3)::text::xid8)`

/**
 * Where selectors look: among the dead, among failed jobs of queues without a dead-letter queue, among held ones; and
 * where jobs are found by their ids only.
 */
export function sources(schema: string): Readonly<Record<SourceName, Source>> {
  const dead = {
    table: new Identifier(schema, 'dlq_entries'),
    at: 'dlq_at',
    reason: 'dlq_reason',
    xid: new Fragment('d.dlq_xid'),
    always: undefined,
    error: OWN_ERROR,
  }
  const terminal = {
    table: new Identifier(schema, 'terminal_entries'),
    at: 'finalized_at',
    reason: 'reason',
    xid: new Fragment('d.failed_xid'),
    always: fragment`d.state in ('completed', 'failed', 'cancelled')`,
    error: OWN_ERROR,
  }
  const held = {
    table: new Identifier(schema, 'held_entries'),
    at: 'held_at',
    reason: 'held_reason',
    xid: WRITTEN_BY,
    always: undefined,
    error: fragment`null::text as cause, null::text as error_class, d.held_reason as error_message`,
  }
  return {
    dead,
    failed: { ...terminal, always: fragment`d.state = 'failed'` },
    terminal,
    held,
    quarantined: { ...held, always: fragment`d.state = 'quarantined'` },
    undecodable: { ...held, always: fragment`d.state = 'undecodable'` },
    bin: { ...dead, table: new Identifier(schema, 'dlq_bin'), at: 'discarded_at' },
  }
}
