import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { childPath } from './write-json.js'

/** One place of a value that a schema refuses. */
export interface SchemaIssue {
  /** As `items[3].id`; empty for the whole value. */
  readonly path: string
  readonly message: string
}

const MAX_SCHEMA_CHARS = 64 * 1024
const MAX_ISSUES = 20
const MAX_DEPTH = 200

/**
 * The JSON Schema of what a schema takes in, as JSON text, where its library offers one (Standard JSON Schema, or zod's
 * `toJSONSchema`). Null where it does not, where it fails, and above 64 KiB: then payloads are not checked outside of the
 * code that runs them.
 */
export function jsonSchemaOf(schema: StandardSchemaV1 | null): string | null {
  if (schema === null) return null
  try {
    const text = JSON.stringify(offered(schema)) as string | undefined
    return text === undefined || text.length > MAX_SCHEMA_CHARS ? null : text
  } catch {
    // A schema that JSON Schema cannot express: the code still checks it when a job runs.
    return null
  }
}

/**
 * What is wrong with `value`, at most 20 places; empty where nothing is. Undefined where `schema` says something that is
 * not understood here: then nothing is known.
 */
export function checkAgainst(schema: unknown, value: unknown): readonly SchemaIssue[] | undefined {
  const issues: SchemaIssue[] = []
  try {
    new Check(schema, issues).at(schema, value, '', 0)
    return issues.slice(0, MAX_ISSUES)
  } catch (error) {
    if (error instanceof NotUnderstood || error instanceof SyntaxError) return undefined
    throw error
  }
}

interface Converting {
  readonly toJSONSchema?: (options: object) => unknown
}

function offered(schema: StandardSchemaV1): unknown {
  const standard = schema['~standard'] as Partial<StandardJSONSchemaV1.Props>
  const { jsonSchema } = standard
  if (jsonSchema !== undefined) {
    try {
      return jsonSchema.input({ target: 'draft-2020-12' })
    } catch {
      // Not every library knows every draft; what is read here is the same in both.
      return jsonSchema.input({ target: 'draft-07' })
    }
  }
  return (schema as Converting).toJSONSchema?.({ io: 'input' })
}

/** A keyword or a reference that this check does not know: a guess would be worse than no answer. */
class NotUnderstood extends Error {}

type Keywords = Readonly<Record<string, unknown>>
type Rule = (it: Check, said: unknown, value: unknown, place: Place) => void

interface Place {
  readonly schema: Keywords
  readonly path: string
  readonly depth: number
}

class Check {
  constructor(
    private readonly root: unknown,
    private readonly issues: SchemaIssue[],
  ) {}

  at(schema: unknown, value: unknown, path: string, depth: number): void {
    if (depth > MAX_DEPTH) throw new NotUnderstood()
    if (schema === true) return
    if (schema === false) {
      this.refuse(path, 'is not accepted here')
      return
    }
    const place = { schema: asKeywords(schema), path, depth: depth + 1 }
    for (const [keyword, said] of Object.entries(place.schema)) {
      if (ANNOTATIONS.has(keyword)) continue
      const rule = Object.hasOwn(RULES, keyword) ? RULES[keyword] : undefined
      if (rule === undefined) throw new NotUnderstood()
      rule(this, said, value, place)
    }
  }

  refuse(path: string, message: string): void {
    if (this.issues.length < MAX_ISSUES) this.issues.push({ path, message })
  }

  /** What `schema` has against `value`, without refusing it. */
  against(schema: unknown, value: unknown, { path, depth }: Place): readonly SchemaIssue[] {
    const issues: SchemaIssue[] = []
    new Check(this.root, issues).at(schema, value, path, depth)
    return issues
  }

  resolved(reference: unknown): unknown {
    const steps = /^#(?:\/(.*))?$/.exec(String(reference))
    if (steps === null) throw new NotUnderstood()
    let found = this.root
    for (const step of steps[1]?.split('/') ?? []) {
      const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
      if (!isObject(found) || !Object.hasOwn(found, key)) throw new NotUnderstood()
      found = found[key]
    }
    return found
  }
}

const ANNOTATIONS: ReadonlySet<string> = new Set(
  `$schema $id id $comment $defs definitions title description default examples format deprecated readOnly writeOnly
   contentEncoding contentMediaType`.split(/\s+/),
)

/** Each keyword looks only at values of its own type, as JSON Schema wants it. */
const RULES: Readonly<Record<string, Rule>> = {
  $ref: (it, said, value, { path, depth }) => it.at(it.resolved(said), value, path, depth),
  type: (it, said, value, { path }) => {
    const types = Array.isArray(said) ? said.map(String) : [String(said)]
    if (!types.some((type) => isOfType(value, type))) {
      it.refuse(path, `must be ${types.join(' or ')}, and is ${typeOf(value)}`)
    }
  },
  enum: (it, said, value, { path }) => {
    if (!asList(said).some((one) => same(one, value))) it.refuse(path, `must be one of ${brief(said)}`)
  },
  const: (it, said, value, { path }) => {
    if (!same(said, value)) it.refuse(path, `must be ${brief(said)}`)
  },
  allOf: (it, said, value, { path, depth }) => {
    for (const part of asList(said)) it.at(part, value, path, depth)
  },
  anyOf: (it, said, value, place) => {
    const tried = asList(said).map((part) => it.against(part, value, place))
    if (!tried.some((issues) => issues.length === 0))
      it.refuse(place.path, `fits none of what is accepted${nearest(tried)}`)
  },
  oneOf: (it, said, value, place) => {
    const tried = asList(said).map((part) => it.against(part, value, place))
    const fitting = tried.filter((issues) => issues.length === 0).length
    if (fitting === 0) it.refuse(place.path, `fits none of what is accepted${nearest(tried)}`)
    else if (fitting > 1) it.refuse(place.path, 'fits more than one of what is accepted')
  },
  not: (it, said, value, place) => {
    if (it.against(said, value, place).length === 0) it.refuse(place.path, 'is not accepted here')
  },
  required: (it, said, value, { path }) => {
    if (!isObject(value)) return
    for (const key of asList(said).map(String)) {
      if (!Object.hasOwn(value, key)) it.refuse(childPath(path, key), 'is missing')
    }
  },
  properties: (it, said, value, { path, depth }) => {
    if (!isObject(value)) return
    for (const [key, part] of Object.entries(asKeywords(said))) {
      if (Object.hasOwn(value, key)) it.at(part, value[key], childPath(path, key), depth)
    }
  },
  patternProperties: (it, said, value, { path, depth }) => {
    if (!isObject(value)) return
    for (const [pattern, part] of Object.entries(asKeywords(said))) {
      const fits = new RegExp(pattern, 'u')
      for (const key of Object.keys(value)) if (fits.test(key)) it.at(part, value[key], childPath(path, key), depth)
    }
  },
  additionalProperties: (it, said, value, { schema, path, depth }) => {
    if (!isObject(value)) return
    const named = new Set(Object.keys(asKeywords(schema['properties'] ?? {})))
    const patterns = Object.keys(asKeywords(schema['patternProperties'] ?? {})).map((it) => new RegExp(it, 'u'))
    for (const key of Object.keys(value)) {
      if (named.has(key) || patterns.some((pattern) => pattern.test(key))) continue
      if (said === false) it.refuse(childPath(path, key), 'is not known')
      else it.at(said, value[key], childPath(path, key), depth)
    }
  },
  propertyNames: (it, said, value, place) => {
    if (!isObject(value)) return
    for (const key of Object.keys(value)) {
      if (it.against(said, key, place).length > 0)
        it.refuse(childPath(place.path, key), 'has a name that is not accepted')
    }
  },
  prefixItems: (it, said, value, { path, depth }) => {
    if (!Array.isArray(value)) return
    for (const [n, part] of asList(said).entries()) if (n < value.length) it.at(part, value[n], `${path}[${n}]`, depth)
  },
  items: (it, said, value, { schema, path, depth }) => {
    if (!Array.isArray(value)) return
    const before = asList(schema['prefixItems'] ?? []).length
    for (let n = before; n < value.length; n++) it.at(said, value[n], `${path}[${n}]`, depth)
  },
  minItems: bound((value) => (Array.isArray(value) ? value.length : undefined), 'at least', 'items'),
  maxItems: bound((value) => (Array.isArray(value) ? value.length : undefined), 'at most', 'items'),
  uniqueItems: (it, said, value, { path }) => {
    if (said !== true || !Array.isArray(value)) return
    const texts = value.map(brief)
    if (new Set(texts).size < texts.length) it.refuse(path, 'must not hold the same item twice')
  },
  minProperties: bound((value) => (isObject(value) ? Object.keys(value).length : undefined), 'at least', 'properties'),
  maxProperties: bound((value) => (isObject(value) ? Object.keys(value).length : undefined), 'at most', 'properties'),
  minLength: bound(charsOf, 'at least', 'characters'),
  maxLength: bound(charsOf, 'at most', 'characters'),
  pattern: (it, said, value, { path }) => {
    if (typeof value === 'string' && !new RegExp(String(said), 'u').test(value)) it.refuse(path, `must match ${said}`)
  },
  minimum: bound(numberOf, 'at least', ''),
  maximum: bound(numberOf, 'at most', ''),
  exclusiveMinimum: (it, said, value, { path }) => {
    const number = numberOf(value)
    if (number !== undefined && !(number > Number(said))) it.refuse(path, `must be more than ${said}`)
  },
  exclusiveMaximum: (it, said, value, { path }) => {
    const number = numberOf(value)
    if (number !== undefined && !(number < Number(said))) it.refuse(path, `must be less than ${said}`)
  },
  multipleOf: (it, said, value, { path }) => {
    const number = numberOf(value)
    if (number === undefined) return
    const times = number / Number(said)
    if (Math.abs(times - Math.round(times)) > 1e-9) it.refuse(path, `must be a multiple of ${said}`)
  },
}

function bound(of: (value: unknown) => number | undefined, which: 'at least' | 'at most', unit: string): Rule {
  return (it, said, value, { path }) => {
    const found = of(value)
    if (found === undefined) return
    const fits = which === 'at least' ? found >= Number(said) : found <= Number(said)
    if (!fits) it.refuse(path, `must ${unit === '' ? 'be' : 'have'} ${which} ${said}${unit === '' ? '' : ` ${unit}`}`)
  }
}

function nearest(tried: readonly (readonly SchemaIssue[])[]): string {
  const [best] = [...tried].sort((a, b) => a.length - b.length)
  const issue = best?.[0]
  return issue === undefined ? '' : `: ${issue.path === '' ? 'it' : issue.path} ${issue.message}`
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'number') return typeof value === 'number' || typeof value === 'bigint'
  if (type === 'integer') return typeof value === 'bigint' || Number.isInteger(value)
  return typeOf(value) === type
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'bigint' ? 'number' : typeof value
}

function charsOf(value: unknown): number | undefined {
  return typeof value === 'string' ? [...value].length : undefined
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'number' ? value : undefined
}

function same(a: unknown, b: unknown): boolean {
  return a === b || brief(a) === brief(b)
}

/** Equal for equal values: the keys of objects in order. */
function brief(value: unknown): string {
  return JSON.stringify(value, (_, it: unknown) => {
    if (typeof it === 'bigint') return String(it)
    return isObject(it) ? Object.fromEntries(Object.entries(it).sort(([a], [b]) => (a < b ? -1 : 1))) : it
  })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function asKeywords(schema: unknown): Keywords {
  if (isObject(schema)) return schema
  throw new NotUnderstood()
}

function asList(said: unknown): readonly unknown[] {
  if (Array.isArray(said)) return said
  throw new NotUnderstood()
}
