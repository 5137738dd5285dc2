import { Fragment } from '../sql.js'

/** A time as history entries have it: ISO 8601 in UTC, with milliseconds. */
export function isoTime(expression: string): Fragment {
  return new Fragment(`to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`)
}

/** A time as a place in a scan has it: to the microsecond, so that it is the very same time again. */
export function exactTime(expression: Fragment): Fragment {
  return new Fragment(`to_char(${expression.quoted} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`)
}
