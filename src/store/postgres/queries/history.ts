import type { SnapshotColumn } from '../rows.js'
import { Identifier } from '../sql.js'

/*
 * A history has two parts: the entries that are filed in the array, and at most one, `last_entry`, that is not yet. A retry
 * leaves its entry there, because adding to an array means unpacking and writing the whole of it, and a retry moves a
 * million of them; whatever adds the next one files both. It is text: reading it as JSON can wait until then. These
 * functions are the only ones that know.
 */

/** The whole history of a row, as an array, in order. */
export function wholeHistory(alias: string): string {
  return `(case when ${alias}.last_entry is null then ${alias}.history else array_append(${alias}.history, ${alias}.last_entry::json) end)`
}

/** The newest entry of a row's history; null where it has none. */
export function newestEntry(alias: string): string {
  return `coalesce(${alias}.last_entry::json, ${alias}.history[cardinality(${alias}.history)])`
}

/**
 * Both columns of a row `alias` with one more entry, for the select list of a move. Bounds are kept by the database's
 * function `append_history`.
 *
 * @param entry JSON text.
 * @param isOptional The entry may be null: then the history stays as it is.
 */
export function withEntry(
  schema: string,
  alias: string,
  entry: string,
  isOptional = false,
): Pick<Record<SnapshotColumn, string>, 'history' | 'last_entry'> {
  const added = addedTo(schema, wholeHistory(alias), entry)
  if (!isOptional) return { history: `${added} as history`, last_entry: 'null::text as last_entry' }
  return {
    history: `case when ${entry} is null then ${alias}.history
        when ${alias}.history is null and ${alias}.last_entry is null then array[(${entry})::json] else ${added} end as history`,
    last_entry: `case when ${entry} is null then ${alias}.last_entry end as last_entry`,
  }
}

/** Both columns with one more entry, for the `set` list of an update of `alias`. */
export function entryAdded(schema: string, alias: string, entry: string): string {
  return `history = ${addedTo(schema, wholeHistory(alias), entry)}, last_entry = null`
}

/** Both columns of a row that is moved at little cost: what is filed stays as it is, compressed where it was. */
export function withEntryBeside(
  schema: string,
  alias: string,
  entry: string,
): Pick<Record<SnapshotColumn, string>, 'history' | 'last_entry'> {
  const filed = `case when ${alias}.last_entry is null then ${alias}.history
      else ${addedTo(schema, `${alias}.history`, `${alias}.last_entry`)} end`
  return { history: `${filed} as history`, last_entry: `${entry} as last_entry` }
}

/** An array with one more entry, for rows that have no `last_entry`. */
export function addedTo(schema: string, history: string, entry: string): string {
  return `${new Identifier(schema, 'append_history').quoted}(${history}, ${entry})`
}
