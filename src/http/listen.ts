import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
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
  const server = createServer((request, response) => void respond(handler, request, response, ''))
  server.requestTimeout = 60_000
  server.headersTimeout = 10_000
  await opened(server, port, host)
  const { port: own } = server.address() as AddressInfo
  let stopped: Promise<void> | undefined
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${own}`,
    stop: () => {
      handler.drain()
      stopped ??= closed(server, options.stopAfterMs ?? STOP_MS)
      return stopped
    },
  }
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
