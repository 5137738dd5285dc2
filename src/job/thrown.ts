import { isSet, probe, read } from './probe.js'
import { cutSecrets } from './secrets.js'
import { clipBytes, storable } from './text.js'

export const MAX_MESSAGE_BYTES = 8 * 1024
export const MAX_STACK_BYTES = 16 * 1024

/** Of what an error was caused by, or gathers: so many, each with so much of its stack. */
const MAX_CAUSES = 20
const MAX_CAUSE_MESSAGE_BYTES = 1024
const MAX_CAUSE_STACK_BYTES = 1024

/** One error behind another: a `cause`, or a member of an AggregateError. */
export interface ThrownCause {
  readonly name: string
  readonly message: string
  readonly stack: string | null
  readonly code: string | null
}

/** What was thrown, as data that can always be stored: bounded, without U+0000, lone surrogates and known secrets. */
export interface ThrownRecord {
  /** Class of the error; `NonError` when something else was thrown. */
  readonly name: string
  /** Never empty, at most 8 KiB. */
  readonly message: string
  /** At most 16 KiB; null where there was none. */
  readonly stack: string | null
  /** `error.code`, or the status of an HTTP client's error. */
  readonly code: string | null
  /** Outermost first, at most 20; what is left out is counted in a last one named `More`. */
  readonly cause: readonly ThrownCause[]
  readonly truncated: boolean
  /** Characters of message and stack before they were cut; only where `truncated`. */
  readonly originalLength?: number
}

/**
 * Describes any thrown value. Never throws, whatever was thrown: getters and Proxies that throw, cycles and
 * `undefined` included; time and size are bounded.
 */
export function describeThrown(thrown: unknown): ThrownRecord {
  const seen = probe(thrown)
  const message = bounded(seen.message, MAX_MESSAGE_BYTES)
  const stack = seen.stack === '' ? null : bounded(framesKept(seen.stack), MAX_STACK_BYTES)
  const truncated = message.endsWith(TAIL) || (stack !== null && (stack.endsWith(TAIL) || stack.includes(TAIL_FRAMES)))

  return {
    name: seen.name,
    message,
    stack,
    code: seen.code,
    cause: seen.hasMore ? causesOf(thrown) : NO_CAUSES,
    truncated,
    ...(truncated && { originalLength: seen.message.length + seen.stack.length }),
  }
}

const NO_CAUSES: readonly ThrownCause[] = []
/** Stands at the end of what was cut, and before the frames where the message above them was. */
const TAIL = ' …[cut]'
const TAIL_FRAMES = `${TAIL}\n    at `

/** Walks causes and gathered errors, outermost first; a cycle is marked, not followed. */
function causesOf(thrown: unknown): ThrownCause[] {
  const found: ThrownCause[] = []
  const seen = new Set<unknown>([thrown])
  const waiting = behind(thrown)
  let left = 0

  for (let next = 0; next < waiting.length; next++) {
    const cause = waiting[next]
    if (found.length === MAX_CAUSES) {
      left++
      continue
    }
    if (seen.has(cause)) {
      found.push({ name: 'Cycle', message: 'this is an error already listed above', stack: null, code: null })
      continue
    }
    if (typeof cause === 'object') seen.add(cause)

    const { name, message, stack, code } = probe(cause)
    found.push({
      name,
      message: bounded(message, MAX_CAUSE_MESSAGE_BYTES),
      stack: stack === '' ? null : bounded(framesKept(stack, MAX_CAUSE_STACK_BYTES), MAX_CAUSE_STACK_BYTES),
      code,
    })
    waiting.push(...behind(cause))
  }

  if (left > 0) found.push({ name: 'More', message: `${left} more were left out`, stack: null, code: null })
  return found
}

/** At most 10,000 members of `errors` are counted: a Proxy may claim any length. */
function behind(thrown: unknown): unknown[] {
  if (typeof thrown !== 'object' || thrown === null) return []
  const cause = read(thrown, 'cause')
  const found = isSet(cause) ? [cause] : []
  const errors = read(thrown, 'errors')
  if (typeof errors !== 'object' || errors === null) return found

  const claimed = read(errors, 'length')
  const length = typeof claimed === 'number' && claimed > 0 ? Math.min(claimed, 10_000) : 0
  for (let i = 0; i < length; i++) found.push(read(errors, i))
  return found
}

/** A stack begins with its message. Where that is long, the frames behind it are what must be kept. */
function framesKept(stack: string, maxBytes = MAX_STACK_BYTES): string {
  if (stack.length <= maxBytes) return stack
  const frames = stack.indexOf('\n    at ')
  return frames > 512 ? `${stack.slice(0, 512)}${TAIL}${stack.slice(frames, frames + maxBytes)}` : stack
}

/** `text` made storable and at most `maxBytes` long; the cut is visible. */
function bounded(text: string, maxBytes: number): string {
  // What is far over the limit is cut first, so that a message of megabytes is not searched for secrets.
  const near = text.length > 2 * maxBytes ? text.slice(0, 2 * maxBytes) : text
  const whole = cutSecrets(storable(near))
  if (near === text && (whole.length * 3 <= maxBytes || Buffer.byteLength(whole) <= maxBytes)) return whole
  return clipBytes(whole, maxBytes - Buffer.byteLength(TAIL)) + TAIL
}
