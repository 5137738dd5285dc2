import { createHash } from 'node:crypto'
import { SpillwayError } from '../job/errors.js'

/**
 * What two requests under one idempotency key are compared by: equal for equal values, whatever the order of their keys.
 * Properties that are undefined are as good as absent.
 */
export function requestHash(request: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(request)))
    .digest('hex')
}

/** @throws `invalid_option` where it is no text of 1 to 255 printable characters. */
export function checkIdempotencyKey(key: unknown): string {
  if (typeof key === 'string' && /^[ -~]{1,255}$/.test(key)) return key
  throw new SpillwayError(
    'invalid_option',
    'cannot use this idempotency key: 1 to 255 printable ASCII characters are accepted',
  )
}

function sorted(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  const entries = Object.entries(value).filter(([, it]) => it !== undefined)
  return entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([key, it]) => [key, sorted(it)])
}
