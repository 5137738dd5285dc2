import { readFileSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import { type Duration, parseDuration } from '../job/duration.js'
import { SpillwayError } from '../job/errors.js'
import { decodePayload } from '../job/payload.js'
import type { RetryBudget } from '../store/store.js'

/** A whole number of at least 0. What range a value has is checked where it means something. */
export function whole(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('A whole number is accepted.')
}

export function port(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new InvalidArgumentError('A port is accepted: 0 to 65535, 0 for any that is free.')
}

export function flag(text: string): boolean {
  if (text === 'true') return true
  if (text === 'false') return false
  throw new InvalidArgumentError('true or false is accepted.')
}

/** For an option that may be given again and again. */
export function collect(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text]
}

/** A time as ISO text, or a duration from now, such as `5m`. */
export function timeAhead(text: string): Date {
  return isoTime(text) ?? new Date(Date.now() + duration(text))
}

/** A time as ISO text, or a duration before now, such as `2h`. */
export function timeAgo(text: string): Date {
  return isoTime(text) ?? new Date(Date.now() - duration(text))
}

/** A duration such as `30d`; `none` is no limit, `0` keeps nothing. */
export function retention(text: string): Duration | null {
  if (text === 'none') return null
  return text === '0' ? 0 : duration(text)
}

/** A whole number, or `none`. */
export function limit(text: string): number | null {
  return text === 'none' ? null : whole(text)
}

export function duration(text: string): number {
  try {
    return parseDuration(/^\d+$/.test(text) ? Number(text) : text, 'duration')
  } catch {
    throw new InvalidArgumentError('A time as 2030-01-31T12:00:00Z or a duration as 30s, 5m, 2h, 7d is accepted.')
  }
}

export function budget(text: string): RetryBudget {
  if (text === 'fresh' || text === 'keep') return text
  const extra = /^extra:(\d{1,5})$/.exec(text)
  if (extra !== null) return { extra: Number(extra[1]) }
  throw new InvalidArgumentError('fresh, keep or extra:N is accepted.')
}

/**
 * What `JSON`, `@file` or `-` (stdin) holds, with integers of any size as they are.
 *
 * @param what - What the message calls it. @throws `payload_refused` for what is no JSON, `invalid_option` for a file
 *   that cannot be read.
 */
export function jsonFrom(source: string, what: string): unknown {
  const text =
    source === '-' ? read(0, 'stdin') : source.startsWith('@') ? read(source.slice(1), source.slice(1)) : source
  const decoded = decodePayload(text, { bigint: true })
  if (decoded.ok) return decoded.value
  throw new SpillwayError(
    'payload_refused',
    `cannot read the ${what}: ${decoded.message.replace('the payload ', 'it ')}`,
  )
}

function isoTime(text: string): Date | undefined {
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return undefined
  const date = new Date(text)
  if (!Number.isNaN(date.getTime())) return date
  throw new InvalidArgumentError('A time as 2030-01-31T12:00:00Z is accepted.')
}

function read(file: string | 0, name: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new SpillwayError('invalid_option', `cannot read ${name}: ${(error as Error).message}`, { cause: error })
  }
}
