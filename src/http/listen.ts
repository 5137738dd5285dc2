import { once } from 'node:events'
import { createServer, maxHeaderSize, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { SpillwayError } from '../job/errors.js'
import { createHandler, type HandlerOptions } from './handler.js'
import { respond } from './node.js'

export interface ListenOptions extends HandlerOptions {
  /** Default: 8080; 0 is any free one. */
  readonly port?: number | undefined
  /** Default: 127.0.0.1. Any other than a loopback one needs authentication. */
  readonly host?: string | undefined
  /** How long {@link Listening.stop} waits for answers under way, in ms. Default: 10,000. */
  readonly stopAfterMs?: number | undefined
}

export interface Listening {
  /** With the port it really has. */
  readonly url: string
  /** Takes no more connections, ends those that are idle, and waits for the others. May be called twice. */
  stop(): Promise<void>
}

const STOP_MS = 10_000
const HEADERS_MS = 10_000
const REQUEST_MS = 60_000

/**
 * Serves the API on a port.
 *
 * @throws `invalid_option` where it would be open to other machines, and where the port cannot be had.
 */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { port = 8080, host = '127.0.0.1' } = options
  if (options.access === 'open' && !isLoopback(host)) {
    throw new SpillwayError(
      'invalid_option',
      `cannot listen on ${host} without authentication: everybody who reaches it could do anything; add --auth and make a token with \`spillway tokens create\`, or add --jwks-url`,
    )
  }
  const handler = createHandler({ console: true, ...options })
  let stopped: Promise<void> | undefined
  const under = new WeakMap<Duplex, ServerResponse>()
  const begun = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    under.set(request.socket, response)
    begun.add(response)
    response.once('close', () => begun.delete(response))
    if (stopped !== undefined) lastOf(response)
    void respond(handler, request, response, '')
  })
  server.requestTimeout = REQUEST_MS
  server.headersTimeout = HEADERS_MS
  server.on('clientError', (error, socket) => refuse(error, socket, under.get(socket)))
  await opened(server, port, host)
  const { port: own } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${own}`,
    stop: () => {
      handler.drain()
      for (const response of begun) lastOf(response)
      stopped ??= closed(server, options.stopAfterMs ?? STOP_MS)
      return stopped
    },
  }
}

/** Who asks again and again on one connection would keep a server that stops. */
function lastOf(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
}

/** Whether only this machine reaches the address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

async function opened(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const help = code === 'EADDRINUSE' ? 'something else listens there; --port takes another' : message
    throw new SpillwayError('invalid_option', `cannot listen on ${host}:${port}: ${help}`, { cause: error })
  }
}

async function closed(server: Server, waitMs: number): Promise<void> {
  const end = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), waitMs)
  await end
  clearTimeout(timer)
}

/** What is no request, too large a one, or none that comes to an end, is told so; Node.js would send a bare status. */
function refuse({ code }: NodeJS.ErrnoException, socket: Duplex, under: ServerResponse | undefined): void {
  // In the middle of an answer another one would be taken for its rest.
  const isAnswering = under?.headersSent === true && !under.writableFinished
  if (!socket.writable || code === 'ECONNRESET' || isAnswering) {
    socket.destroy()
    return
  }
  const [status, title, detail] = REFUSALS[code ?? ''] ?? NO_HTTP
  const body = JSON.stringify({ type: 'about:blank', title, status, detail })
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

type Refusal = readonly [status: number, title: string, detail: string]

const NO_HTTP: Refusal = [400, 'Bad Request', 'cannot read this as a request: HTTP/1.1 is accepted']
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: [
    431,
    'Request Header Fields Too Large',
    `cannot take these headers: at most ${maxHeaderSize} bytes are accepted, with the address`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    408,
    'Request Timeout',
    `cannot wait longer for this request: its headers have ${HEADERS_MS / 1_000} s to arrive, all of it ${REQUEST_MS / 1_000} s`,
  ],
}
