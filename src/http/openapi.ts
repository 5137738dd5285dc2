import { z } from 'zod'
import { ERRORS, type ErrorCode } from '../job/errors.js'
import { problem } from './answers.js'
import { SESSION_COOKIE } from './auth/cookie.js'
import { ROUTES } from './contract.js'
import { isMutation, pathNames, type Route } from './route.js'
import { TAGS } from './tags.js'

type Json = Record<string, unknown>

/** Refusals that any route may answer with. */
const ALWAYS: readonly ErrorCode[] = [
  'unauthenticated',
  'forbidden',
  'cross_origin',
  'rate_limited',
  'internal',
  'store_unavailable',
]

/** The OpenAPI 3.1 document, made from the schemas that check what is sent. */
export function openapi(version: string, basePath = ''): Json {
  const schemas: Json = {}
  const paths: Record<string, Json> = {}
  for (const [name, route] of ROUTES) {
    paths[route.path] ??= {}
    ;(paths[route.path] as Json)[route.method.toLowerCase()] = operationOf(name, route, schemas)
  }
  schemaOf(problem, 'output', schemas)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Spillway',
      version,
      summary: 'Control API of a durable job queue with a first-class dead-letter queue',
      description:
        'Errors are RFC 9457 problem documents with a stable `code`. Lists are paged by `cursor`. Any change may carry an Idempotency-Key: sent again within 24 hours it answers the same and does nothing. Ids are 64-bit and travel as text.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `${basePath}/api/v1` }],
    security: [{ bearer: [] }, { session: [] }],
    tags: [...new Set(ROUTES.map(([, { tag }]) => tag))].map((name) => ({ name, description: TAGS[name] })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A token of `spillway tokens create`, or a JWT. A server that is open on the loopback interface needs none.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: SESSION_COOKIE,
          description:
            'Of `POST /session`, for browsers. Whatever is no GET needs the header `x-spillway-csrf: 1` besides, and comes from a page of the same origin.',
        },
      },
    },
  }
}

function operationOf(name: string, route: Route, schemas: Json): Json {
  const rights = route.right === 'none' ? 'Needs no right.' : `Needs the right ${rightName(route)}.`
  return {
    operationId: name,
    tags: [route.tag],
    summary: route.summary.replace(/[.:].*$/s, ''),
    description: `${route.summary} ${rights}`,
    ...(route.right === 'none' ? { security: [{}, { bearer: [] }, { session: [] }] } : {}),
    parameters: parametersOf(route, schemas),
    ...bodyOf(route, schemas),
    responses: responsesOf(route, schemas),
  }
}

export function rightName(route: Route): string {
  return route.right === 'by_action' ? 'of its action: retry, operate or purge' : `\`${route.right}\``
}

function parametersOf(route: Route, schemas: Json): Json[] {
  const inPath = pathNames(route.path).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema:
      name === 'id' ? { type: 'string', pattern: '^\\d{1,19}$' } : { type: 'string', minLength: 1, maxLength: 255 },
  }))
  const { properties = {}, required = [] } =
    route.query === undefined
      ? {}
      : (schemaOf(route.query, 'input', schemas) as { properties?: Record<string, Json>; required?: string[] })
  const inQuery = Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(description === undefined ? {} : { description }),
    ...(required.includes(name) ? { required: true } : {}),
    schema,
  }))
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    required: route.keyRequired === true,
    description: 'A text of your choosing; the same when the request is sent again',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
  }
  return [...inPath, ...inQuery, ...(isMutation(route) ? [key] : [])]
}

function bodyOf(route: Route, schemas: Json): Json {
  if (route.bodyType === 'lines') {
    return { requestBody: { required: true, content: { 'application/x-ndjson': { schema: { type: 'string' } } } } }
  }
  if (route.body === undefined) return {}
  const schema = schemaOf(route.body, 'input', schemas)
  return { requestBody: { required: route.bodyOptional !== true, content: { 'application/json': { schema } } } }
}

function responsesOf(route: Route, schemas: Json): Json {
  const responses: Record<string, Json> = {}
  for (const [status, shape] of Object.entries(route.answers)) {
    responses[status] = { description: DESCRIPTIONS[status] ?? 'Done', content: contentOf(shape, schemas) }
  }
  for (const [status, codes] of errorsByStatus(route)) {
    responses[status] = {
      description: codes.map((code) => `\`${code}\``).join(', '),
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    }
  }
  return responses
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: 'Done',
  201: 'Made',
  202: 'Begun: an operation to follow',
}

function contentOf(shape: Route['answers'][number], schemas: Json): Json {
  if (shape === 'lines') return { 'application/x-ndjson': { schema: { type: 'string' } } }
  if (shape === 'events') return { 'text/event-stream': { schema: { type: 'string' } } }
  return { 'application/json': { schema: schemaOf(shape as z.ZodType, 'output', schemas) } }
}

/** Every refusal of a route, by status. */
export function errorsByStatus(route: Route): readonly (readonly [status: string, codes: readonly ErrorCode[]])[] {
  const takesInput = route.query !== undefined || route.body !== undefined
  const codes = new Set<ErrorCode>([
    ...(route.errors ?? []),
    ...(takesInput ? (['invalid_option'] as const) : []),
    ...(route.body !== undefined || route.bodyType === 'lines'
      ? (['unsupported_media_type', 'body_too_large'] as const)
      : []),
    ...(isMutation(route)
      ? (['read_only', 'idempotency_key_reused', 'idempotency_in_progress', 'invalid_option'] as const)
      : []),
    ...(route.keyRequired === true ? (['idempotency_key_required'] as const) : []),
    ...ALWAYS,
  ])
  const byStatus = new Map<string, ErrorCode[]>()
  for (const code of codes) {
    const status = String(ERRORS[code].status)
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return [...byStatus].sort(([a], [b]) => Number(a) - Number(b))
}

/** JSON Schema of `schema`; what has an id is put into `schemas` and referred to. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  // Inside of another one, a schema with an id is a reference too.
  const { properties, $defs = {} } = z.toJSONSchema(z.object({ it: schema }), { io, unrepresentable: 'any' })
  for (const [id, part] of Object.entries($defs)) {
    const { id: _, ...rest } = part
    schemas[id] = atComponents(rest)
  }
  return atComponents(properties?.['it']) as Json
}

function atComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(atComponents)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, it]) => [
      key,
      key === '$ref' && typeof it === 'string' ? it.replace('#/$defs/', '#/components/schemas/') : atComponents(it),
    ]),
  )
}
