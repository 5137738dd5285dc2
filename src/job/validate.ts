import type { StandardSchemaV1 } from '@standard-schema/spec'
import { describeThrown } from './thrown.js'
import { childPath } from './write-json.js'

/** What a schema said: its output, or the first thing that is wrong and where. */
export type Validated =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly path: string; readonly message: string }

/**
 * Asks the schema; without one everything passes unchanged. Answers at once where the schema does. Never throws or
 * rejects: a schema that throws is an answer.
 */
export function validate(schema: StandardSchemaV1 | null, value: unknown): Validated | Promise<Validated> {
  if (schema === null) return { ok: true, value }
  try {
    const result = schema['~standard'].validate(value)
    return 'then' in result ? Promise.resolve(result).then(read, broken) : read(result)
  } catch (error) {
    return broken(error)
  }
}

function read(result: StandardSchemaV1.Result<unknown>): Validated {
  if (result.issues === undefined) return { ok: true, value: result.value }
  const [first, ...others] = result.issues
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return { ok: false, path: pathOf(first?.path ?? []), message: `${first?.message ?? 'the schema refused it'}${more}` }
}

function pathOf(path: readonly (PropertyKey | StandardSchemaV1.PathSegment)[]): string {
  let text = ''
  for (const segment of path) {
    const key = typeof segment === 'object' ? segment.key : segment
    text = typeof key === 'number' ? `${text}[${key}]` : childPath(text, String(key))
  }
  return text
}

function broken(error: unknown): Validated {
  return { ok: false, path: '', message: `the schema threw: ${describeThrown(error).message}` }
}
