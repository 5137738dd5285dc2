import type { JobSpec } from './definition.js'
import { decodePayload } from './payload.js'
import { type Validated, validate } from './validate.js'
import { upcast } from './versions.js'

/** What is stored of a payload. */
export interface StoredPayload {
  readonly version: number
  /** JSON text. */
  readonly payload: string
}

/**
 * Reads a stored payload as the handler of `definition` wants it: parsed, brought up from its version, checked by the
 * schema. At once where there is no schema that waits. Never throws; what cannot be read is an answer with its path.
 */
export function decodeJob(stored: StoredPayload, definition: JobSpec): Validated | Promise<Validated> {
  const read = decodePayload(stored.payload, definition)
  if (!read.ok) return read
  if (stored.version === definition.version) return validate(definition.schema, read.value)
  const risen = upcast(definition, stored.version, read.value)
  if (!risen.ok) return { ok: false, path: '', message: risen.message }
  const checked = validate(definition.schema, risen.value)
  const named = (answer: Validated): Validated =>
    answer.ok
      ? answer
      : {
          ...answer,
          message: `after the upcast from version ${stored.version} to ${definition.version}: ${answer.message}`,
        }
  return checked instanceof Promise ? checked.then(named) : named(checked)
}
