import { toWire, wireJson } from '../client/wire.js'
import { Answered } from './call.js'
import type { Route } from './route.js'

const ALWAYS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
} as const
const NOTHING = "default-src 'none'; frame-ancestors 'none'"
export const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' } as const

/** Something as JSON, in the words of the wire. */
export function json(value: unknown, status = 200): Response {
  return new Response(wireJson(toWire(value)), { status, headers: JSON_TYPE })
}

/** A document whose keys are not ours, such as OpenAPI's, as JSON. */
export function verbatim(document: object): Response {
  return new Response(JSON.stringify(document), { headers: JSON_TYPE })
}

/** What a handler answered, as its route says. */
export interface Written {
  readonly status: number
  readonly text: string
  /** What is kept for a repeated request. */
  readonly kept: string
  readonly headers: Readonly<Record<string, string>>
}

export function written(route: Route, answer: unknown): Written {
  if (answer instanceof Answered) {
    const text = wireJson(toWire(answer.value))
    const kept = answer.kept === answer.value ? text : wireJson(toWire(answer.kept))
    return { status: answer.status, text, kept, headers: answer.headers }
  }
  const text = wireJson(toWire(answer))
  return { status: Number(Object.keys(route.answers)[0]), text, kept: text, headers: {} }
}

/** With what every answer says: no guessing of types, no frames, no caches, no scripts. */
export function finished(request: Pick<Request, 'method'>, response: Response, requestId: string): Response {
  const headers = new Headers(response.headers)
  for (const [name, value] of Object.entries(ALWAYS)) headers.set(name, value)
  if (!headers.has('content-security-policy')) headers.set('content-security-policy', NOTHING)
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  headers.set('x-request-id', requestId)
  const isHead = request.method === 'HEAD'
  // A stream that nobody reads would go on for as long as one lasts.
  if (isHead) void response.body?.cancel().catch(() => undefined)
  const body = isHead ? null : response.body
  return new Response(body, { status: response.status, headers })
}
