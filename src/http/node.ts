import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import { SpillwayError } from '../job/errors.js'
import { finished } from './answering.js'
import type { ApiHandler } from './handler.js'
import { problemOf, RefusedWithHeaders } from './problem.js'

/** A request of Node.js, and what frameworks put onto it. */
export type NodeRequest = IncomingMessage & {
  /** The whole path, where a framework has cut its own part off `url`. */
  readonly originalUrl?: string
  /** The part it has cut off. */
  readonly baseUrl?: string
  /** What a body parser made of the body before us. */
  readonly body?: unknown
  /** The body as it was sent, where somebody kept it. */
  readonly rawBody?: Uint8Array | string
}

/** How long a reader may take nothing of an answer; a stream of events says something every 15 s. */
const STALLED_MS = 120_000

/** The handler as a listener of Node.js, which Express and Connect take as it is. Never throws. */
export function toNodeListener(handler: ApiHandler): (request: NodeRequest, response: ServerResponse) => void {
  return (request, response) => void respond(handler, request, response, request.baseUrl ?? '')
}

/** Answers one request of Node.js. Resolves when the answer is written, or its reader has gone. */
export async function respond(
  handler: ApiHandler,
  request: NodeRequest,
  response: ServerResponse,
  basePath: string,
  stalledMs = STALLED_MS,
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const asked = webRequest(request, gone.signal)
  if (asked instanceof SpillwayError) {
    const requestId = randomUUID()
    await written(finished({ method: request.method ?? 'GET' }, problemOf(asked, requestId), requestId), response)
    request.resume()
    return
  }
  const answer = await handler(asked, { address: request.socket.remoteAddress, basePath })
  await written(answer, response, stalledMs)
  // What a refused request still sends is not read: its connection ends with the answer.
  if (!request.readableEnded && !request.complete) request.resume()
}

/** @returns the refusal, where it is none that could be answered. */
function webRequest(request: NodeRequest, signal: AbortSignal): Request | SpillwayError {
  const { method = 'GET', headers } = request
  const url = urlOf(request)
  if (url === undefined) {
    return new SpillwayError(
      'route_not_found',
      'cannot read the address of this request: a path as /api/v1/dlq is accepted',
    )
  }
  try {
    const given = new Headers()
    for (const [name, value] of Object.entries(headers)) {
      for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) given.append(name, one)
    }
    const hasBody = method !== 'GET' && method !== 'HEAD'
    // Whoever has read it has decompressed it, too.
    if (request.rawBody !== undefined || wasRead(request)) given.delete('content-encoding')
    const init = { method, headers: given, signal, ...(hasBody ? bodyOf(request) : {}) }
    return new Request(url, init as RequestInit)
  } catch {
    // A method that the web does not know, such as TRACE.
    return new RefusedWithHeaders(
      'method_not_allowed',
      `cannot ${method.slice(0, 20)} anything: ${METHODS} are accepted`,
      {
        allow: METHODS,
      },
    )
  }
}

const METHODS = 'DELETE, GET, HEAD, PATCH, POST, PUT'

function urlOf({ url = '/', originalUrl = url, headers, socket }: NodeRequest): URL | undefined {
  const host = /^[\w.:[\]-]{1,255}$/.test(headers.host ?? '') ? headers.host : 'localhost'
  // As a client writes it that takes us for a proxy.
  const path = originalUrl.replace(/^https?:\/\/[^/?#]+(?=\/)/i, '')
  if (!path.startsWith('/')) return undefined
  try {
    const scheme = 'encrypted' in socket ? 'https' : 'http'
    return new URL(`${scheme}://${host}${path.replace(/^\/{2,}/, '/')}`)
  } catch {
    // No URL: nothing we could answer.
    return undefined
  }
}

/** The body as it comes; where somebody has read it before us, what they kept of it. */
function bodyOf(request: NodeRequest): object {
  if (request.rawBody !== undefined) return { body: request.rawBody }
  if (!wasRead(request)) return { body: Readable.toWeb(request) as unknown, duplex: 'half' }
  if (request.body === undefined || request.body === null) return {}
  if (typeof request.body === 'string' || request.body instanceof Uint8Array) return { body: request.body }
  // express.json() makes {} of no body at all.
  if (request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined) return {}
  return { body: JSON.stringify(request.body) }
}

function wasRead({ readableEnded, readableDidRead }: NodeRequest): boolean {
  return readableEnded || readableDidRead
}

async function written(answer: Response, response: ServerResponse, stalledMs = STALLED_MS): Promise<void> {
  // Who does not read is let go, so that nobody holds a connection for ever.
  response.setTimeout(stalledMs, () => response.destroy())
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  if (answer.body === null) {
    response.end()
    return
  }
  const body = Readable.fromWeb(answer.body as NodeStream<Uint8Array>)
  await new Promise<void>((resolve) => {
    body.on('error', () => response.destroy())
    response.once('close', () => {
      body.destroy()
      resolve()
    })
    body.pipe(response)
  })
}
