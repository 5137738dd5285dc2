import { type Duration, parseDuration } from '../job/duration.js'
import { SpillwayError, shown } from '../job/errors.js'
import { isMoment } from '../job/moment.js'
import { checkText } from '../job/payload.js'
import type { TriageTarget } from '../store/store.js'
import { type ActOptions, checkJobId } from './act.js'

/** A cause in a queue, as `dlq.groups` lists it. */
export interface CauseTarget {
  readonly queue: string
  readonly cause: string
}

export interface MarkOptions extends ActOptions {
  /** Takes it back. Default: false. */
  readonly clear?: boolean | undefined
}

export interface ResolveOptions extends MarkOptions {
  /** Where the fix is: a pull request, an incident. */
  readonly link?: string | undefined
}

export interface ExpiringOptions {
  /** Default: 7 days. */
  readonly within?: Duration | undefined
  readonly queue?: string | undefined
}

const MAX_NOTE = 4_000
const WEEK_MS = 7 * 86_400_000

/** @throws `invalid_option` for what is neither an id nor a cause in a queue; `not_found` for what can be no id. */
export function checkTarget(target: string | CauseTarget): TriageTarget {
  if (typeof target === 'string') return { id: checkJobId(target) }
  const { queue, cause, ...rest } = target
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) {
    throw new SpillwayError(
      'invalid_option',
      `cannot name a cause by ${JSON.stringify(unknown)}: an id, or { queue, cause } as \`dlq.groups\` lists them, is accepted`,
    )
  }
  return { queue: checkText('queue', queue), cause: checkText('cause', cause) }
}

/** @throws `invalid_option` for what is no text, empty, or too long. */
export function checkNote<T extends string | null>(text: T, what = 'note'): T {
  if (
    text === null ||
    (typeof text === 'string' && text.trim() !== '' && text.length <= MAX_NOTE && !text.includes('\0'))
  )
    return text
  throw new SpillwayError(
    'invalid_option',
    `cannot keep the ${what} ${shown(text)}: a text of 1 to ${MAX_NOTE} characters, or null, is accepted`,
  )
}

/** @throws `invalid_option` for what is neither a time to come nor a duration. */
export function untilOf(until: Date | Duration | null, now: Date): Date | null {
  if (until === null) return null
  const time = until instanceof Date ? until : new Date(now.getTime() + parseDuration(until, 'until'))
  if (isMoment(time) && time > now) return time
  throw new SpillwayError(
    'invalid_option',
    `cannot mute until ${String(until)}: a time to come is accepted, or null to end it`,
  )
}

/** @throws `invalid_option` */
export function expiringScope({
  within = WEEK_MS,
  queue,
  ...rest
}: ExpiringOptions): [withinMs: number, queue?: string] {
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) {
    throw new SpillwayError(
      'invalid_option',
      `cannot list what expires by ${JSON.stringify(unknown)}: within and queue are accepted`,
    )
  }
  const withinMs = parseDuration(within, 'within')
  return queue === undefined ? [withinMs] : [withinMs, checkText('queue', queue)]
}
