import { SpillwayError, shown } from './errors.js'

/** A length of time: milliseconds, or a text such as `'250ms'`, `'5m'`, `'1h30m'`, `'7d'`. */
export type Duration = number | string

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const SHAPE = /^(?:\d{1,15}(?:\.\d{1,15})?(?:ms|[smhd]))+$/
const PART = /(\d+(?:\.\d+)?)(ms|[smhd])/g
const LONGEST_MS = 100 * 365 * 86_400_000

/**
 * Milliseconds of `value`, as a whole number of at least 1 and at most 100 years.
 *
 * @param name - What the duration is for, as the message should call it.
 * @throws {@link SpillwayError} `invalid_option` for anything else, also for one that rounds to zero.
 *
 * @example
 * parseDuration('1h30m', 'timeout') // 5_400_000
 */
export function parseDuration(value: Duration, name: string): number {
  const ms = Math.round(typeof value === 'number' ? value : fromText(value))
  if (ms >= 1 && ms <= LONGEST_MS) return ms

  throw new SpillwayError(
    'invalid_option',
    `cannot use ${shown(value)} as ${name}: a duration is 1 or more milliseconds, up to 100 years, as a number or as '250ms', '30s', '5m', '2h', '7d'`,
  )
}

function fromText(text: unknown): number {
  if (typeof text !== 'string' || text.length > 100 || !SHAPE.test(text)) return Number.NaN
  let ms = 0
  for (const [, amount, unit] of text.matchAll(PART)) ms += Number(amount) * (UNITS[unit ?? ''] ?? Number.NaN)
  return ms
}
