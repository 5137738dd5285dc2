import { Fragment } from '../sql.js'

/** A time as history entries have it: ISO 8601 in UTC, with milliseconds. */
export function isoTime(expression: string): Fragment {
  return new Fragment(`to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`)
}
