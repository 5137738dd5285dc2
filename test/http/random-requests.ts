import type { Given } from 'spillway/testing'

// biome-ignore lint/suspicious/noExplicitAny: a JSON Schema, read as a stranger would.
type Schema = any

export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly parameters: readonly { name: string; in: string; required?: boolean; schema: Schema }[]
  readonly body: Schema | undefined
  readonly isLines: boolean
}

export interface Shot {
  readonly line: string
  readonly body: string | undefined
  readonly headers: Record<string, string>
  /** What was done to it, for whoever reads a failure. */
  readonly spoiled: string | undefined
}

/** What ids there are, by what they are of. */
export type Pool = Readonly<Record<string, readonly string[]>>

export class Dice {
  constructor(private state: number) {}

  /** mulberry32 */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  below(n: number): number {
    return Math.floor(this.next() * n)
  }

  chance(p: number): boolean {
    return this.next() < p
  }

  one<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T
  }
}

export function operationsOf(document: Schema): Operation[] {
  return Object.entries(document.paths as Record<string, Record<string, Schema>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, it]) => ({
      id: it.operationId as string,
      method: method.toUpperCase(),
      path,
      parameters: it.parameters,
      body: it.requestBody?.content['application/json']?.schema,
      isLines: it.requestBody?.content['application/x-ndjson'] !== undefined,
    })),
  )
}

/** Texts that were trouble somewhere. */
const HOSTILE = [
  ...['', ' ', '\0', '\ud800', 'a\u0000b', '\u202e', '%00', "'; drop table jobs; --", '../../etc/passwd', '{{7*7}}'],
  ...['<script>alert(1)</script>', 'null', 'NaN', '__proto__', 'constructor', '9223372036854775808', '-1', '1e309'],
  ...['é'.repeat(300), 'x'.repeat(5_000), '💥', '\r\nX-Evil: 1', 'true'],
]
const NUMBERS = [-1, 0, 1.5, 1e9, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308]
const NAMES = ['q', 'billing', 'test', 'k', 'urgent', "it's", 'ü', 'cause-of-test', 'attempts_exhausted']

/** How often a value is one at the edge of what the document allows. */
const EXTREME = 0.08
const MOMENTS = [
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+14:00',
  '1900-01-01T00:00:00Z',
  '9999-12-31T23:59:59-23:59',
]
const SPANS = ['999999999999999d', '0ms', '0.4ms', '36500d', '36501d', '999999999999999.999999999999999ms', '1d1d1d']
/** Places that no list has handed out. */
const CURSORS = [
  ['2026-02-30T00:00:00.000000Z', '1'],
  ['2026-01-01T00:00:00.000000Z', '9223372036854775807'],
  ['1'],
  ['9223372036854775807'],
  ['q', 'c', '9223372036854775807'],
  ['\0', '\0', '1'],
].map((key) => Buffer.from(JSON.stringify(key)).toString('base64url'))

/** Requests made from the document alone: ones it allows, and ones it does not. */
export class Requests {
  constructor(
    private readonly document: Schema,
    private readonly dice: Dice,
  ) {}

  allowed(operation: Operation, pool: Pool, fitting: readonly string[]): Shot {
    const query = operation.parameters
      .filter((it) => it.in === 'query' && (it.required === true || this.dice.chance(0.2)))
      .map((it) => `${it.name}=${encodeURIComponent(String(this.value(it.schema, it.name, pool, 0)))}`)
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(name === 'id' ? this.id(pool, fitting) : this.dice.one(pool[name] ?? NAMES)),
    )
    const body = operation.body === undefined ? undefined : this.bodyOf(operation, pool)
    const key = operation.parameters.some(
      (it) => it.name === 'Idempotency-Key' && (it.required || this.dice.chance(0.2)),
    )
    return {
      line: `${operation.method} ${path}${query.length > 0 ? `?${query.join('&')}` : ''}`,
      body,
      headers: {
        ...(body === undefined
          ? {}
          : { 'content-type': operation.isLines ? 'application/x-ndjson' : 'application/json' }),
        ...(key ? { 'idempotency-key': `k${this.dice.below(1e9)}` } : {}),
      },
      spoiled: undefined,
    }
  }

  /** One that should be refused, or at least must do no harm. */
  spoilt(operation: Operation, pool: Pool, fitting: readonly string[]): Shot {
    const shot = this.allowed(operation, pool, fitting)
    const how = this.dice.one(SPOILERS)
    const changed = this.spoil(how, shot)
    return { ...shot, ...changed, spoiled: how }
  }

  private spoil(how: (typeof SPOILERS)[number], { line, body, headers }: Shot): Partial<Shot> {
    const bad = this.dice.one(HOSTILE)
    switch (how) {
      case 'method':
        return {
          line: line.replace(/^\w+/, this.dice.one(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])),
        }
      case 'path':
        return { line: `${line.split('?')[0]}/${encodeURIComponent(wellFormed(bad))}` }
      case 'id':
        return { line: line.replace(/\/\d+/, `/${encodeURIComponent(wellFormed(bad))}`) }
      case 'query':
        return {
          line: `${line}${line.includes('?') ? '&' : '?'}${this.dice.one(['limit', 'cursor', 'queue', 'x', 'state'])}=${encodeURIComponent(wellFormed(bad))}`,
        }
      case 'type':
        return {
          headers: {
            ...headers,
            'content-type': this.dice.one([
              'text/plain',
              'application/xml',
              'application/json; charset=utf-16',
              'multipart/form-data',
            ]),
          },
        }
      case 'key':
        return { headers: { ...headers, 'idempotency-key': this.dice.one(['', 'x'.repeat(300), 'same', 'same']) } }
      case 'json':
        return body === undefined
          ? {}
          : {
              body: this.dice.one([
                '{',
                '[]',
                'null',
                '"x"',
                '{"a":1}}',
                '\u0000',
                body.slice(0, -1),
                `[${body}]`,
                '['.repeat(5_000),
              ]),
            }
      case 'unknown':
        return body?.startsWith('{')
          ? { body: body.replace('{', `{${JSON.stringify(bad)}:1${body === '{}' ? '' : ','}`) }
          : {}
      case 'value':
        return body === undefined ? {} : { body: this.corrupted(body) }
    }
  }

  private corrupted(body: string): string {
    let value: unknown
    try {
      value = JSON.parse(body)
    } catch {
      return this.dice.one(HOSTILE)
    }
    const places: [object, string][] = []
    const walk = (it: unknown) => {
      if (typeof it !== 'object' || it === null) return
      for (const [key, inner] of Object.entries(it)) {
        places.push([it, key])
        walk(inner)
      }
    }
    walk(value)
    if (places.length === 0) return this.dice.one(['{"a":{}}', '[1]', '7'])
    const [where, key] = this.dice.one(places)
    Object.assign(where, { [key]: this.dice.one<unknown>([...HOSTILE, ...NUMBERS, null, [], {}, [[[]]], true]) })
    return JSON.stringify(value)
  }

  private id(pool: Pool, fitting: readonly string[]): string {
    const kind = this.dice.chance(0.75) ? this.dice.one(fitting) : this.dice.one(Object.keys(pool))
    return this.dice.one(pool[kind]?.length ? (pool[kind] as string[]) : ['1'])
  }

  private bodyOf(operation: Operation, pool: Pool): string | undefined {
    const value = this.value(operation.body, operation.id, pool, 0) as Record<string, unknown>
    return JSON.stringify(value)
  }

  private value(schema: Schema, name: string, pool: Pool, depth: number): unknown {
    if (schema.$ref !== undefined) {
      return this.value(this.document.components.schemas[schema.$ref.split('/').at(-1)], name, pool, depth)
    }
    if (schema.const !== undefined) return schema.const
    if (schema.enum !== undefined) return this.dice.one(schema.enum)
    const either = schema.anyOf ?? schema.oneOf
    if (either !== undefined) return this.value(this.dice.one(either), name, pool, depth)
    switch (schema.type) {
      case 'object':
        return this.object(schema, pool, depth)
      case 'array': {
        const count = Math.max(schema.minItems ?? 0, this.dice.below(3))
        return Array.from({ length: count }, () => this.value(schema.items, name, pool, depth + 1))
      }
      case 'integer':
      case 'number': {
        if (this.dice.chance(EXTREME)) return this.dice.one([schema.minimum ?? 0, schema.maximum ?? 2 ** 53 - 1, 1e15])
        const least = Math.max(schema.minimum ?? schema.exclusiveMinimum ?? 0, 0)
        const most = Math.min(schema.maximum ?? 100, least + 100)
        const value = least + this.dice.next() * (most - least)
        return schema.type === 'integer' ? Math.floor(value) : Math.max(value, 0.001)
      }
      case 'boolean':
        return this.dice.chance(0.5)
      case 'null':
        return null
      case 'string':
        return this.text(schema, name, pool)
      default:
        return this.dice.one<unknown>([{ a: [1, 'x', null] }, 'text', 7, null, [], { deep: { deeper: {} } }])
    }
  }

  private object(schema: Schema, pool: Pool, depth: number): object {
    const required: readonly string[] = schema.required ?? []
    const entries = Object.entries(schema.properties ?? {}).flatMap(([key, inner]): [string, unknown][] => {
      const isWanted = required.includes(key) || this.dice.chance(WANTED[key] ?? 0.15)
      return isWanted && depth < 4 ? [[key, this.value(inner, key, pool, depth + 1)]] : []
    })
    return Object.fromEntries(entries)
  }

  private text(schema: Schema, name: string, pool: Pool): string {
    if (schema.format === 'date-time' && this.dice.chance(EXTREME)) return this.dice.one(MOMENTS)
    if (schema.format === 'date-time') return new Date(Date.now() + (this.dice.next() - 0.3) * 1e8).toISOString()
    if (name === 'ids' || schema.pattern === '^\\d{1,19}$') return this.id(pool, Object.keys(pool))
    if (schema.pattern?.includes('ms|') && this.dice.chance(EXTREME)) return this.dice.one(SPANS)
    if (schema.pattern?.includes('ms|')) return this.dice.one(['5m', '30s', '2h', '7d', '250ms'])
    if (name === 'url')
      return this.dice.one(['https://93.184.216.34/x', 'http://127.0.0.1/', 'ftp://x', 'https://93.184.216.34:1'])
    if (name === 'path') return this.dice.one(['a.b', '**.c', 'x.*.y', 'card'])
    if (name === 'token') return this.dice.one(pool['secret'] ?? NAMES)
    if (name === 'queue' && this.dice.chance(0.6)) return 'q'
    if (name === 'state') return 'archived'
    if (name === 'cursor' && this.dice.chance(0.2)) return this.dice.one(CURSORS)
    if (name === 'cursor') return this.dice.one(pool['cursor']?.length ? (pool['cursor'] as string[]) : ['x'])
    return this.dice.one(NAMES)
  }
}

/** What makes a request say something, rather than nothing. */
const WANTED: Readonly<Record<string, number>> = {
  selector: 0.7,
  all: 0.6,
  priority: 0.5,
  run_at: 0.4,
  delay: 0.3,
  dlq_retention: 0.5,
  rate: 0.5,
  dry_run: 0.4,
}

const SPOILERS = ['method', 'path', 'id', 'query', 'type', 'key', 'json', 'unknown', 'value', 'value', 'value'] as const

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
}

/** Which ids an operation may be about; other ids are tried too. */
export const FITTING: Readonly<Record<string, readonly string[]>> = {
  cloneJob: ['completed', 'cancelled'],
  retryJob: ['archived', 'failed'],
  cancelJob: ['available', 'scheduled', 'running', 'quarantined'],
  killJob: ['available', 'scheduled', 'quarantined'],
  promoteJob: ['scheduled', 'retryable'],
  rescheduleJob: ['available', 'scheduled', 'retryable'],
  editJob: ['available', 'scheduled', 'retryable'],
  editPayload: ['archived', 'failed', 'available', 'undecodable'],
  deleteJob: ['completed', 'archived', 'failed', 'cancelled', 'quarantined', 'discarded'],
  getDlq: ['archived'],
  retryDlq: ['archived'],
  discardDlq: ['archived'],
  deleteDlq: ['archived'],
  moveDlq: ['failed'],
  dlqTriage: ['archived'],
  ackDlq: ['archived'],
  noteDlq: ['archived'],
  muteDlq: ['archived'],
  resolveDlq: ['archived'],
  getArchived: ['cold'],
  restoreArchived: ['cold'],
  getOperation: ['running', 'paused', 'done'],
  operationRows: ['running', 'paused', 'done'],
  setOperationRate: ['running', 'paused'],
  pauseOperation: ['running'],
  resumeOperation: ['paused'],
  cancelOperation: ['running', 'paused'],
  undoOperation: ['done'],
  revokeToken: ['token'],
  getWebhook: ['webhook'],
  updateWebhook: ['webhook'],
  deleteWebhook: ['webhook'],
  testWebhook: ['webhook'],
  redeliver: ['delivery'],
}

const STATES = [
  ...[
    'available',
    'scheduled',
    'retryable',
    'running',
    'waiting',
    'completed',
    'failed',
    'cancelled',
    'archived',
    'discarded',
  ],
  ...['quarantined', 'undecodable'],
] as const

/** Some jobs of every state. */
export async function someJobs(given: Given, each: number): Promise<Record<string, readonly string[]>> {
  const made: Record<string, readonly string[]> = {}
  for (const state of STATES) {
    made[state] = await given.jobs(each, { state, queue: 'q', tags: ['urgent'], payload: { a: 1 } } as never)
  }
  return made
}
