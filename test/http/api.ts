import { Client } from '../../src/client/client.js'
import { CONTRACT, createHandler, type HandlerOptions, type Route, type RouteName } from '../../src/http/index.js'
import { RIGHTS } from '../../src/job/rights.js'
import type { Store } from '../../src/store/store.js'

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of any shape.
  readonly body: any
  readonly text: string
  readonly headers: Headers
}

export interface Ask {
  readonly body?: unknown
  /** Idempotency-Key. */
  readonly key?: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly address?: string
  /** Where the request goes. Default: http://127.0.0.1:8080. */
  readonly origin?: string
}

export interface Api {
  /** `POST /jobs/1/retry`, under /api/v1; one that begins with `/api` or `//` is taken as it is. */
  (line: string, ask?: Ask): Promise<Answer>
  readonly client: Client
  readonly store: Store
}

/** The API on a store, without a port. Nothing is shared between requests, so that every answer is fresh. */
export function apiOn(store: Store, options: Partial<HandlerOptions> = {}): Api {
  const client = new Client({ store, actor: 'tests' })
  const handler = createHandler({ spillway: client, access: 'open', freshMs: 0, ...options })
  const ask = async (
    line: string,
    { body, key, token, headers, address, origin = 'http://127.0.0.1:8080' }: Ask = {},
  ): Promise<Answer> => {
    const [method = 'GET', path = '/'] = line.split(' ')
    const whole = path.startsWith('/api') ? path : path.startsWith('//') ? path.slice(1) : `/api/v1${path}`
    const sent = typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body)
    const response = await handler(
      new Request(`${origin}${whole}`, {
        method,
        headers: {
          ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
          ...(key === undefined ? {} : { 'idempotency-key': key }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...headers,
        },
        ...(sent === undefined ? {} : { body: sent }),
      }),
      { address },
    )
    // A stream of events has no end to wait for.
    const isStream = response.headers.get('content-type') === 'text/event-stream'
    if (isStream) await response.body?.cancel()
    const text = isStream ? '' : await response.text()
    const isJson =
      /json/.test(response.headers.get('content-type') ?? '') &&
      !/ndjson/.test(response.headers.get('content-type') ?? '')
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
  }
  return Object.assign(ask, { client, store })
}

/** Whoever asks may do anything, and tokens are taken too: every route has something to accept. */
export const KNOWN: HandlerOptions['access'] = {
  authenticate: () => ({ actor: 'anonymous', rights: RIGHTS, queues: null }),
}

export const ROUTE_NAMES = Object.keys(CONTRACT) as RouteName[]

/** The line of a route, with something in its braces. */
export function lineOf(name: RouteName, id = '1', other = 'q'): string {
  const { method, path }: Route = CONTRACT[name]
  return `${method} ${path.replace('{id}', id).replace(/\{\w+\}/g, other)}`
}
