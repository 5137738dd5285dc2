import type { z } from 'zod'
import { type ErrorCode, SpillwayError } from '../job/errors.js'
import { decodePayload } from '../job/payload.js'
import { MAX_NESTING } from '../job/write-json.js'
import { RefusedWithHeaders, RequestRefusedError } from './problem.js'
import type { Route } from './route.js'

/** Largest body, in bytes, of one request. Lines of an import may be more. */
export interface BodyLimits {
  readonly json: number
  readonly lines: number
}

export interface ReadInput {
  readonly query: unknown
  readonly body: unknown
}

/**
 * Reads what a request sends and checks it against its route.
 *
 * @throws `unsupported_media_type`, `body_too_large`; `invalid_option` and `selector_refused` for unknown keys, missing
 *   and wrong values, naming each place. Nothing sent is ever ignored.
 */
export async function readInput(request: Request, url: URL, route: Route, limits: BodyLimits): Promise<ReadInput> {
  const query = checked(route.query, queryOf(url), 'query', route.query === undefined)
  checkNoBodyOfGet(request)
  if (route.bodyType === 'lines') return { query, body: undefined }
  const text = await bodyText(request, limits.json)
  if (route.body === undefined) {
    if (text !== '') throw refused('invalid_option', 'this request takes no body', [])
    return { query, body: undefined }
  }
  if (text === '' && route.bodyOptional !== true) {
    throw refused('invalid_option', 'cannot act without a body: a JSON object is accepted', [])
  }
  if (text !== '') checkJsonType(request)
  return { query, body: checked(route.body, text === '' ? {} : parsed(text), 'body', false) }
}

/** The lines of a body, as they come. @throws `body_too_large`, `unsupported_media_type` */
export async function* bodyLines(request: Request, limit: number): AsyncGenerator<string> {
  const type = mediaType(request)
  if (!['application/x-ndjson', 'application/ndjson', 'application/jsonl', 'application/json'].includes(type)) {
    throw unsupported(type, 'application/x-ndjson')
  }
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks(request, limit)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  yield rest + decoder.decode()
}

async function bodyText(request: Request, limit: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  try {
    for await (const chunk of chunks(request, limit)) text += decoder.decode(chunk, { stream: true })
    return text + decoder.decode()
  } catch (error) {
    if (error instanceof TypeError) throw refused('invalid_option', 'cannot read the body: it is no UTF-8', [])
    throw error
  }
}

async function* chunks(request: Request, limit: number): AsyncGenerator<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge(limit)
  if (request.body === null) return
  checkCoding(request)
  let size = 0
  const arriving = (request.body as unknown as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await arriving.next().catch(() => {
        throw refused('invalid_option', 'cannot read the body: it did not arrive whole', [])
      })
      if (done === true) return
      size += value.byteLength
      if (size > limit) throw tooLarge(limit)
      yield value
    }
  } finally {
    await arriving.return?.()
  }
}

/** What a GET sends as its body is never read: whoever meant it as a filter would be shown everything. */
function checkNoBodyOfGet({ method, headers }: Request): void {
  if ((method !== 'GET' && method !== 'HEAD') || Number(headers.get('content-length') ?? 0) === 0) return
  throw refused('invalid_option', `cannot take a body with ${method}: what it asks for stands in its query`, [])
}

/** Each parameter once; given twice, somebody means two different things. */
function queryOf(url: URL): Record<string, string> {
  const query: Record<string, string> = {}
  for (const [key, value] of url.searchParams) {
    if (Object.hasOwn(query, key)) {
      throw refused('invalid_option', `cannot take ${JSON.stringify(key.slice(0, 60))} twice: give it once`, [
        { path: key.slice(0, 60), message: 'is there twice' },
      ])
    }
    Object.defineProperty(query, key, { value, enumerable: true })
  }
  return query
}

function parsed(text: string): unknown {
  const read = decodePayload(text, { bigint: true })
  if (read.ok && !isDeeper(read.value, text, MAX_NESTING + ABOVE_PAYLOAD)) return read.value
  if (read.ok) throw refused('invalid_option', `cannot read the body: it is nested deeper than ${MAX_NESTING}`, [])
  throw refused('invalid_option', `cannot read the body: ${read.message.replace('the payload ', 'it ')}`, [])
}

/** How deep a payload may lie in a body. */
const ABOVE_PAYLOAD = 10

/** Looked at level by level: what walks a value by calling itself runs out of stack on the other ones. */
function isDeeper(value: unknown, text: string, most: number): boolean {
  if (text.length < 2 * most) return false
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true
    level = level.flatMap((it) => (typeof it === 'object' && it !== null ? (Object.values(it) as unknown[]) : []))
  }
  return false
}

function checked(schema: z.ZodType | undefined, value: unknown, part: 'query' | 'body', isEmptyOnly: boolean): unknown {
  if (schema === undefined) {
    const [key] = isEmptyOnly ? Object.keys(value as object) : []
    if (key === undefined) return {}
    throw refused('invalid_option', `cannot take ${JSON.stringify(key.slice(0, 60))}: this path has no parameters`, [
      { path: key.slice(0, 60), message: 'is unknown' },
    ])
  }
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const errors = result.error.issues.slice(0, 20).flatMap(placesOf)
  const isAbout = errors.some(({ path }) => /^(selector|ids)\b/.test(path))
  const said = errors
    .slice(0, 3)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    .join('; ')
  throw refused(
    isAbout && part === 'body' ? 'selector_refused' : 'invalid_option',
    `cannot take this ${part}: ${said}`,
    errors,
  )
}

type Issue = z.core.$ZodIssue

function placesOf(issue: Issue): { path: string; message: string }[] {
  const path = issue.path.map(String).join('.').slice(0, 200)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, 20).map((key) => ({
      path: [path, key.slice(0, 60)].filter((it) => it !== '').join('.'),
      message: 'is unknown',
    }))
  }
  return [{ path, message: issue.message.slice(0, 300) }]
}

function checkJsonType(request: Request): void {
  const type = mediaType(request)
  const isJson = type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type)
  if (!isJson) throw unsupported(type, 'application/json')
  const [, charset = 'utf-8'] = CHARSET.exec(request.headers.get('content-type') ?? '') ?? []
  if (!/^(utf-?8|us-ascii)$/i.test(charset)) throw unsupported(`${type} in ${charset}`, 'application/json in UTF-8')
}

const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)/i

/** @throws `unsupported_media_type` for a body that is compressed, which would be read as no JSON. */
function checkCoding({ headers }: Request): void {
  const coding = headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  if (coding === '' || coding === 'identity') return
  const said = `cannot read a body that is encoded as ${coding.slice(0, 60)}: send it as it is`
  throw new RefusedWithHeaders('unsupported_media_type', said, { 'accept-encoding': 'identity' })
}

function mediaType(request: Request): string {
  return (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

function unsupported(type: string, accepted: string): SpillwayError {
  const found = type === '' ? 'without a content-type' : `of type ${type.slice(0, 60)}`
  return new SpillwayError('unsupported_media_type', `cannot read a body ${found}: ${accepted} is accepted`)
}

function tooLarge(limit: number): SpillwayError {
  return new SpillwayError('body_too_large', `cannot take this body: more than ${limit} bytes are not accepted`)
}

function refused(code: ErrorCode, message: string, errors: RequestRefusedError['errors']): SpillwayError {
  return new RequestRefusedError(code, message, errors)
}
