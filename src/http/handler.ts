import type { Client } from '../client/client.js'
import { Api } from './api.js'
import type { Access } from './auth/authentication.js'

export interface HandlerOptions {
  /** The store's client: a `Spillway`. */
  readonly spillway: Client
  readonly access: Access
  /** Where it is mounted, such as `/queues`. Default: the root. */
  readonly basePath?: string | undefined
  /** `callbacks`: nothing but what answers callbacks, for a place that strangers reach. Default: everything. */
  readonly only?: 'callbacks' | undefined
  /** Serves the web console too, at the place it is mounted at. Default: false; `listen` and `spillway serve` have it on. */
  readonly console?: boolean | undefined
  /**
   * What `/metrics` says of the store, as Prometheus text: `async () => (await spillway.metrics()).text()`. Default: depth
   * and age of the dead letters, jobs, pauses and workers. Tokens that reach some queues only are told what is about these.
   */
  readonly metrics?: (() => Promise<string>) | undefined
  /** Refuses every change. Default: false. */
  readonly readOnly?: boolean | undefined
  /** Places that are hidden besides those of `spillway.masking`. */
  readonly masks?: readonly string[] | undefined
  /**
   * Whether a proxy in front says who asks and how, by `X-Forwarded-For`, `-Proto` and `-Host`. Only where nobody reaches
   * the server around it. Default: false.
   */
  readonly trustProxy?: boolean | undefined
  /** Largest JSON body, in bytes. Default: 2 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** Largest import, in bytes. Default: 256 MiB. */
  readonly maxImportBytes?: number | undefined
  /** How old counts, groups and lists of queues may be that many callers look at, in ms. Default: 1000. */
  readonly freshMs?: number | undefined
  /**
   * How long one stream of events lasts, in ms. Its reader comes back by itself, and is told what it missed; one whose token
   * was revoked is refused then. Default: 15 minutes.
   */
  readonly streamMs?: number | undefined
  /** Told of every answer; holds no secret and no payload. */
  readonly onAnswer?: ((answer: AnswerNotice) => void) | undefined
  /** Told of faults of ours, and of a store that is away. */
  readonly onError?: ((error: unknown, requestId: string) => void) | undefined
}

export interface AnswerNotice {
  readonly requestId: string
  readonly method: string
  /** The route's path with its braces; never what somebody put in their place. */
  readonly route: string
  readonly status: number
  readonly actor: string | undefined
  readonly durationMs: number
}

/** Who is at the other end of the connection. */
export interface Caller {
  readonly address?: string | undefined
  /** Where the handler is mounted, where whoever calls it knows better. Default: the option. */
  readonly basePath?: string | undefined
}

/** A web-standard handler: give it a `Request`, get a `Response`. It never throws. */
export interface ApiHandler {
  (request: Request, caller?: Caller): Promise<Response>
  /** From now on /readyz says no, and event streams end; everything else goes on. */
  drain(): void
}

/**
 * The control API as a web-standard fetch handler, to be served or mounted anywhere. `/api/…` answers as `/api/v1/…`.
 *
 * @example
 * const handler = createHandler({ spillway, access: { tokens: true } })
 * const response = await handler(new Request('http://localhost/api/v1/dlq'))
 */
export function createHandler(options: HandlerOptions): ApiHandler {
  const api = new Api(options)
  const handler = (request: Request, caller: Caller = {}) => api.answer(request, caller)
  return Object.assign(handler, { drain: () => api.drain() })
}
