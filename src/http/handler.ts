import { createHash, randomUUID } from 'node:crypto'
import type { Client } from '../client/client.js'
import { checkIdempotencyKey, requestHash } from '../client/request-hash.js'
import { SpillwayError } from '../job/errors.js'
import { masker } from '../job/mask.js'
import type { Right } from '../job/rights.js'
import { finished, JSON_TYPE, json, written } from './answering.js'
import { type Access, Authentication } from './auth/authentication.js'
import { type Place, placeOf } from './auth/place.js'
import { type Call, need, type Principal } from './call.js'
import { Console } from './console.js'
import { CALLBACK_ROUTES, ROUTES } from './contract.js'
import { docsPage } from './docs-page.js'
import { HANDLERS } from './handlers.js'
import { Live } from './live.js'
import { Metrics } from './metrics.js'
import { openapi } from './openapi.js'
import { problemOf, RefusedWithHeaders } from './problem.js'
import { bodyLines, type ReadInput, readInput } from './request.js'
import { ACTION_RIGHTS, isMutation, type Route } from './route.js'
import { type Matched, Router } from './router.js'
import { SharedReads } from './shared-reads.js'
import { packageVersion } from './version.js'
import { Views } from './views.js'

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

const MASKS_FRESH_MS = 2_000
const STREAM_MS = 15 * 60_000
const REQUEST_ID = /^[\w.:-]{1,100}$/

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

class Api {
  private readonly router: Router
  private readonly authentication: Authentication
  private readonly reads: SharedReads
  private readonly masks = new SharedReads(MASKS_FRESH_MS)
  private readonly metrics = new Metrics()
  private readonly live: Live
  private readonly console: Console | undefined
  private readonly stopping = new AbortController()
  private readonly version = packageVersion()
  private isDraining = false

  constructor(private readonly options: HandlerOptions) {
    this.router = new Router(options.only === 'callbacks' ? CALLBACK_ROUTES : ROUTES)
    this.authentication = new Authentication(options.spillway, options.access)
    this.reads = new SharedReads(options.freshMs ?? 1_000)
    this.live = new Live(options.spillway, (error) => options.onError?.(error, 'events'))
    this.console = options.console === true && options.only === undefined ? Console.built() : undefined
  }

  drain(): void {
    this.isDraining = true
    // Streams would go on for ever.
    this.stopping.abort()
  }

  async answer(request: Request, caller: Caller): Promise<Response> {
    const began = performance.now()
    const given = request.headers.get('x-request-id')
    const requestId = given !== null && REQUEST_ID.test(given) ? given : randomUUID()
    const seen: Seen = { route: 'none', actor: undefined }
    let response: Response
    try {
      response = await this.respond(request, caller, requestId, seen)
    } catch (error) {
      response = problemOf(error, requestId)
      if (response.status >= 500) this.options.onError?.(error, requestId)
    }
    const durationMs = performance.now() - began
    this.metrics.answered(seen.route, request.method, response.status, durationMs)
    this.options.onAnswer?.({
      ...{ requestId, method: request.method, status: response.status, durationMs },
      ...seen,
    })
    return finished(request, response, requestId)
  }

  private async respond(request: Request, caller: Caller, requestId: string, seen: Seen): Promise<Response> {
    const { address = '', basePath = this.options.basePath ?? '' } = caller
    const url = new URL(request.url)
    const base = basePath.replace(/\/+$/, '')
    const path = insideOf(base, url)
    const place = /^\/api(?:\/v1)?(\/.*)?$/.exec(path)
    const isWhole = this.options.only === undefined
    const from = placeOf(request, url, address, base, this.options.trustProxy === true)
    if (place === null && isWhole) return this.atRoot(request, url, path, from)
    const inside = place?.[1] ?? '/'
    if (isWhole && (inside === '/openapi.json' || inside === '/docs' || inside === '/')) {
      onlyGet(request)
      if (this.authentication.isOpen) await this.authentication.principalOf(request, url, from)
      return inside === '/openapi.json' ? json(openapi(this.version, base)) : docsPage(this.version, base)
    }
    const matched = this.router.find(request.method, inside)
    seen.route = matched.route.path
    const principal = await this.principalOf(request, url, from, matched.route)
    seen.actor = principal.actor
    return this.run({ request, url, requestId, matched, principal, from })
  }

  /** Health and metrics, for machines that watch machines. */
  private async atRoot(request: Request, url: URL, path: string, place: Place): Promise<Response> {
    if (path === '/healthz' || path === '/readyz' || path === '/metrics') onlyGet(request)
    switch (path) {
      case '/healthz':
        return json({ status: 'ok', version: this.version })
      case '/readyz':
        return this.ready()
      case '/metrics': {
        const principal = await this.authentication.principalOf(request, url, place)
        need({ principal }, 'read')
        const text = await this.metrics.text(this.options.spillway, principal, this.options.metrics)
        return new Response(text, { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } })
      }
      case '/meta':
        onlyGet(request)
        return this.answerAlso(request, url, '/meta', place)
      default: {
        const page = await this.console?.answer(request, url, path, this.authentication.isOpen)
        if (page !== undefined) return page
        if (path !== '/') throw nothingAt(path)
        onlyGet(request)
        return this.answerAlso(request, url, '/docs', place)
      }
    }
  }

  /** What stands at the root too. */
  private async answerAlso(request: Request, url: URL, inside: string, from: Place): Promise<Response> {
    if (this.authentication.isOpen) await this.authentication.principalOf(request, url, from)
    if (inside === '/docs') return docsPage(this.version, from.base)
    const matched = this.router.find(request.method, inside)
    const principal = await this.principalOf(request, url, from, matched.route)
    return this.run({ request, url, requestId: randomUUID(), matched, principal, from })
  }

  private async ready(): Promise<Response> {
    if (this.isDraining) return json({ status: 'stopping' }, 503)
    await this.options.spillway.masking.list()
    return json({ status: 'ok' })
  }

  private async principalOf(request: Request, url: URL, from: Place, route: Route): Promise<Principal> {
    try {
      return await this.authentication.principalOf(request, url, from)
    } catch (error) {
      // Where anybody may come, a cookie that went along proves nothing and spoils nothing.
      const isStranger =
        error instanceof SpillwayError &&
        (error.code === 'unauthenticated' || (error.code === 'cross_origin' && !this.authentication.isOpen))
      if (route.right === 'none' && isStranger && !request.headers.has('authorization')) return STRANGER
      throw error
    }
  }

  private async run({ request, url, requestId, matched, principal, from }: Running): Promise<Response> {
    const { name, route, params } = matched
    const isChange = isMutation(route)
    if (isChange && this.options.readOnly) {
      throw new SpillwayError('read_only', 'this server changes nothing: it was started read-only')
    }
    if (route.right !== 'none' && route.right !== 'by_action') need({ principal }, route.right)
    const { maxBodyBytes: jsonBytes = 2 * MEBI, maxImportBytes: lines = 256 * MEBI } = this.options
    const input = await readInput(request, url, route, { json: jsonBytes, lines })
    const key = isChange ? keyOf(request, route) : undefined
    if (route.right === 'by_action') need({ principal }, rightOfAction(input))
    const views = await this.views()
    const call = (client: Client, own: Call['lines']): Call => ({
      ...{ client, principal, request, views, lines: own, live: this.live },
      signal: request.signal,
      stopping: this.stopping.signal,
      streamMs: this.options.streamMs ?? STREAM_MS,
      act: { actor: principal.actor, requestId },
      server: {
        version: this.version,
        isReadOnly: this.options.readOnly === true,
        isOpen: this.authentication.isOpen,
        takesSessions: this.authentication.takesSessions,
        masks: this.options.masks ?? [],
      },
      door: {
        signIn: (token) => this.authentication.signIn(request, token, from),
        signOut: () => this.authentication.signOut(request, from),
      },
      once: (what, ask) => this.reads.once(what, ask),
    })
    const work = (client: Client, own: Call['lines']) =>
      HANDLERS[name](call(client, own), { params, ...input } as never)
    try {
      if (key === undefined) {
        const answer = await work(this.options.spillway, () => bodyLines(request, lines))
        if (answer instanceof Response) return answer
        const { status, text, headers } = written(route, answer)
        return new Response(text, { status, headers: { ...JSON_TYPE, ...headers } })
      }
      const sent = route.bodyType === 'lines' ? await all(bodyLines(request, lines)) : undefined
      return await this.once({ route, params, key, principal, asked: [input.query, input.body, sent] }, (client) =>
        work(client, () => sent ?? []),
      )
    } finally {
      if (isChange) {
        this.reads.clear()
        this.masks.clear()
      }
    }
  }

  /** The effect, the answer and the key are one transaction. */
  private async once(
    { route, params, key, principal, asked }: Keyed,
    work: (client: Client) => Promise<unknown>,
  ): Promise<Response> {
    let first: string | undefined
    const { status, answer, replayed } = await this.options.spillway.idempotently(
      {
        ...{ actor: principal.actor, method: route.method, path: filled(route.path, params), key },
        requestHash: requestHash(asked),
      },
      async (client) => {
        const { status: own, text, kept } = written(route, await work(client))
        first = text
        return { status: own, answer: kept }
      },
    )
    const text = replayed ? answer : (first ?? answer)
    return new Response(text, {
      status,
      headers: { ...JSON_TYPE, ...(replayed ? { 'idempotency-replayed': 'true' } : {}) },
    })
  }

  private async views(): Promise<Views> {
    const stored = await this.masks.once('masks', () => this.options.spillway.masking.list())
    return new Views(masker([...(this.options.masks ?? []), ...stored.map(({ path }) => path)]))
  }
}

interface Seen {
  route: string
  actor: string | undefined
}

interface Running {
  readonly request: Request
  readonly url: URL
  readonly requestId: string
  readonly matched: Matched
  readonly principal: Principal
  readonly from: Place
}

interface Keyed {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
  readonly key: string
  readonly principal: Principal
  readonly asked: unknown
}

/** Who may only see what is there for everybody. */
const STRANGER: Principal = { actor: 'anonymous', rights: [], queues: [] }

function nothingAt(path: string): SpillwayError {
  return new SpillwayError(
    'route_not_found',
    `there is nothing at ${JSON.stringify(path.slice(0, 100))}; the API begins at /api/v1, its documents are at /api/v1/docs`,
  )
}

/** The Idempotency-Key of a change. @throws `idempotency_key_required` where the route cannot do without. */
function keyOf(request: Request, route: Route): string | undefined {
  const key = request.headers.get('idempotency-key')
  if (key !== null) return checkIdempotencyKey(key)
  if (route.keyRequired !== true) return undefined
  throw new SpillwayError(
    'idempotency_key_required',
    'cannot begin this without an Idempotency-Key header: a text of your choosing, the same when the request is sent again',
  )
}

function rightOfAction({ body }: ReadInput): Right {
  return ACTION_RIGHTS[(body as { action: keyof typeof ACTION_RIGHTS }).action]
}

/** The path below the place it is mounted at; outside of it, one that leads nowhere. */
function insideOf(base: string, { pathname }: URL): string {
  if (base === '') return pathname
  return pathname === base || pathname.startsWith(`${base}/`) ? pathname.slice(base.length) || '/' : '//'
}

function onlyGet({ method }: Request): void {
  if (method === 'GET' || method === 'HEAD') return
  throw new RefusedWithHeaders('method_not_allowed', `cannot ${method.slice(0, 20)} this path: GET is accepted`, {
    allow: 'GET',
  })
}

function filled(path: string, params: Readonly<Record<string, string>>): string {
  // A token is a secret, and what is kept under a key is not.
  return path.replace(/\{(\w+)\}/g, (_, key: string) => (key === 'token' ? hashed(params[key]) : (params[key] ?? '')))
}

function hashed(text = ''): string {
  return createHash('sha256').update(text).digest('hex')
}

async function all(lines: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = []
  for await (const line of lines) found.push(line)
  return found
}

const MEBI = 1024 * 1024
