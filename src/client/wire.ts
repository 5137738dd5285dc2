import type { Job } from '../job/job.js'
import { decodePayload, encodePayload } from '../job/payload.js'

/** What users gave as JSON: their keys are theirs. */
const VERBATIM: ReadonlySet<string> = new Set(['payload', 'metadata', 'result', 'progress', 'details'])

/**
 * A value of this package as every JSON surface shows it: keys in snake_case, times as ISO text. What users gave as
 * JSON (payload, metadata, result, progress, details) keeps its own keys.
 */
export function toWire(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(toWire)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, it]) => it !== undefined)
  return Object.fromEntries(entries.map(([key, it]) => [snake(key), VERBATIM.has(key) ? it : toWire(it)]))
}

/** A job for a JSON surface. Integers of its payload that JavaScript would round are BigInts. */
export function exactJob(job: Job): Job {
  const { payloadText, ...rest } = job
  if (payloadText === undefined) return job
  const decoded = decodePayload(payloadText, { bigint: true })
  return decoded.ok ? { ...rest, payload: decoded.value } : rest
}

/** JSON of a value that {@link toWire} made, with integers of any size as they are. */
export function wireJson(value: unknown, indent = 0): string {
  try {
    return JSON.stringify(value, null, indent) ?? 'null'
  } catch {
    // A BigInt is in it, which JSON.stringify refuses and this writes.
    return encodePayload(value, { bigint: true, maxBytes: Number.POSITIVE_INFINITY }).text
  }
}

/** What an error says beside its code and message, such as the state found or the holder's id. */
export function errorFields(error: Error): Readonly<Record<string, unknown>> {
  const {
    code: _,
    name: __,
    cause: ___,
    message: ____,
    stack: _____,
    ...fields
  } = error as Error & Record<string, unknown>
  return toWire(fields) as Record<string, unknown>
}

function snake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
