import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import type { ApiHandler } from './handler.js'

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
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const asked = webRequest(request, gone.signal)
  if (asked === undefined) {
    response.writeHead(400).end()
    return
  }
  const answer = await handler(asked, { address: request.socket.remoteAddress, basePath })
  await written(answer, response)
  // What a refused request still sends is not read: its connection ends with the answer.
  if (!request.readableEnded && !request.complete) request.resume()
}

function webRequest(request: NodeRequest, signal: AbortSignal): Request | undefined {
  const { method = 'GET', headers } = request
  const url = urlOf(request)
  if (url === undefined) return undefined
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
    // A method or header that the web does not know, such as TRACE: nothing we could answer.
    return undefined
  }
}

function urlOf({ url = '/', originalUrl = url, headers, socket }: NodeRequest): URL | undefined {
  const host = /^[\w.:[\]-]{1,255}$/.test(headers.host ?? '') ? headers.host : 'localhost'
  if (!originalUrl.startsWith('/')) return undefined
  try {
    const scheme = 'encrypted' in socket ? 'https' : 'http'
    return new URL(`${scheme}://${host}${originalUrl.replace(/^\/{2,}/, '/')}`)
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

async function written(answer: Response, response: ServerResponse): Promise<void> {
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
