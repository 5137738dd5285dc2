import { Columns } from './sql.js'

/** The columns that every plane carries, in the order of the template table `job_snapshot`. */
export const SNAPSHOT = [
  'id',
  'created_at',
  'run_at',
  'deadline',
  'release_id',
  'origin_id',
  'last_operation',
  'max_attempts',
  'attempt',
  'crash_attempt',
  'charge_base',
  'run_lease',
  'generation',
  'timeout_ms',
  'schema_version',
  'priority',
  'handbacks',
  'queue',
  'kind',
  'unique_key',
  'tags',
  'metadata',
  'retention',
  'history',
  'payload',
  'last_entry',
] as const

export type SnapshotColumn = (typeof SNAPSHOT)[number]

/** The insert list of a move: the snapshot's columns, then the plane's own. */
export function columns(...own: string[]): Columns {
  return new Columns([...SNAPSHOT, ...own])
}

/**
 * The select list of a move, in the order of {@link columns}: each column from `alias`, or the given expression
 * where the transition changes it. A column nobody names is carried over, so none can be forgotten.
 */
export function moved(alias: string, changes: Partial<Record<SnapshotColumn, string>> = {}, ...own: string[]): Columns {
  return new Columns([...SNAPSHOT.map((column) => changes[column] ?? `${alias}.${column}`), ...own])
}

/**
 * The columns of a deleted row as a statement hands them on, `first` before the others: what most of the statement looks
 * at stands in front, because a row is taken apart from the front up to the last column that is asked for.
 */
export function leading(first: readonly string[], ...own: string[]): Columns {
  const front = new Set(first)
  return new Columns([...first, ...[...SNAPSHOT, ...own].filter((column) => !front.has(column))])
}
