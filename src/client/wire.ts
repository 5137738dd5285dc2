import type { Job } from '../job/job.js'
import { decodePayload } from '../job/payload.js'

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

function snake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
