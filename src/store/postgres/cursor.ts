import { SpillwayError } from '../../job/errors.js'

/** A decimal id or any other bigint that is not negative. */
export const ID = /^\d{1,19}$/
/** A time as the lists write it in their cursors: microseconds, so that no row is skipped. */
export const EXACT_TIME: Shape = {
  test: (text) => WRITTEN_TIME.test(text) && new Date(text).toJSON()?.slice(0, 19) === text.slice(0, 19),
}
const WRITTEN_TIME = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

/** What a part of a cursor looks like. */
type Shape = Pick<RegExp, 'test'>

const LARGEST_ID = 9_223_372_036_854_775_807n

/** Whether `text` is an id that a job can have. */
export function isId(text: string): boolean {
  return ID.test(text) && BigInt(text) <= LARGEST_ID
}

/** The last row of a page as an opaque text: its sort key. */
export function encodeCursor(key: readonly string[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url')
}

/**
 * Reads a cursor back.
 *
 * @param shapes - What each part of the key looks like.
 * @throws `invalid_option` for anything this list did not hand out.
 */
export function decodeCursor(cursor: string, shapes: readonly Shape[]): readonly string[] {
  const key = parse(cursor)
  const fits =
    Array.isArray(key) &&
    key.length === shapes.length &&
    key.every((part, n): part is string => typeof part === 'string' && (shapes[n]?.test(part) ?? false)) &&
    isId(key.at(-1) ?? '')
  if (fits) return key
  throw new SpillwayError(
    'invalid_option',
    `cannot go on from cursor ${JSON.stringify(cursor.slice(0, 60))}: it is none of this list; leave it out to begin again`,
  )
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    // No JSON: refused by the caller, as every other wrong cursor.
    return undefined
  }
}
