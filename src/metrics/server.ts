import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SpillwayError } from '../job/errors.js'
import type { Worker } from '../worker/worker.js'
import type { Metrics } from './metrics.js'

export interface MetricsServerOptions {
  /** 0 takes any free port. */
  readonly port: number
  /** Which address it listens on. Default: 127.0.0.1, which nobody reaches from outside. */
  readonly host?: string | undefined
  /** Told of `http://127.0.0.1:9464` once it listens. */
  readonly onListening?: ((url: string) => void) | undefined
}

/**
 * `/metrics`, `/healthz` and `/readyz` of a worker. `/healthz` is 503 when only a new process helps; `/readyz` is 503
 * while the worker takes no jobs, or has not reached the database for its stale time.
 */
export class MetricsServer {
  private server: Server | undefined
  private isStopped = false

  constructor(
    private readonly options: MetricsServerOptions,
    private readonly worker: () => Worker,
    private readonly metrics: () => Promise<Metrics>,
  ) {}

  /** `http://127.0.0.1:9464`, once it has started. */
  get url(): string | undefined {
    const address = this.server?.address() as AddressInfo | null | undefined
    if (!address) return undefined
    return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
  }

  /** @throws `invalid_option` where the address cannot be listened on. */
  async start(): Promise<void> {
    const { port, host = '127.0.0.1' } = this.options
    const server = createServer((request, response) => {
      this.answer(request, response).catch((error: Error) => say(response, 500, `${error.message}\n`))
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) => reject(refused(host, port, error)))
      try {
        server.listen(port, host, resolve)
      } catch (error) {
        // What is no port is thrown, not told.
        reject(refused(host, port, error as NodeJS.ErrnoException))
      }
    })
    server.on('error', () => undefined)
    // A scraper that is slow or silent must not keep a process that ends.
    server.unref()
    this.server = server
    // Stopped while it was not listening yet, so there was nothing to close.
    if (this.isStopped) return this.stop()
    if (this.url !== undefined) this.options.onListening?.(this.url)
  }

  async stop(): Promise<void> {
    const { server } = this
    this.isStopped = true
    this.server = undefined
    if (!server) return
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeAllConnections()
    await closed
  }

  heard(): void {
    // Notices change nothing here: what is scraped is looked up.
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?', 1)[0]
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      return say(response, 405, 'only GET\n')
    }
    if (path === '/healthz') return this.health(response, 'isAlive')
    if (path === '/readyz') return this.health(response, 'isReady')
    if (path === '/metrics') {
      const metrics = await this.metrics()
      const text = await metrics.text()
      response.setHeader('content-type', metrics.contentType)
      return say(response, 200, text)
    }
    say(response, 404, 'here are /metrics, /healthz and /readyz\n')
  }

  private health(response: ServerResponse, which: 'isAlive' | 'isReady'): void {
    const { health } = this.worker()
    response.setHeader('content-type', 'application/json')
    say(
      response,
      health[which] ? 200 : 503,
      `${JSON.stringify({ ok: health[which], state: health.state, why: health.why })}\n`,
    )
  }
}

function say(response: ServerResponse, status: number, body: string): void {
  response.statusCode = status
  response.setHeader('cache-control', 'no-store')
  response.setHeader('x-content-type-options', 'nosniff')
  if (!response.hasHeader('content-type')) response.setHeader('content-type', 'text/plain; charset=utf-8')
  response.end(body)
}

function refused(host: string, port: number, error: NodeJS.ErrnoException): SpillwayError {
  const why = error.code === 'EADDRINUSE' ? 'it is taken' : error.message
  return new SpillwayError(
    'invalid_option',
    `cannot serve metrics on ${host}:${port}: ${why}; choose another port, or 0 for any free one`,
    { cause: error },
  )
}
