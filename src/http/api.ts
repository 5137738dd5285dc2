import { randomUUID } from 'node:crypto'
import type { Client } from '../client/client.js'
import { SpillwayError } from '../job/errors.js'
import { masker } from '../job/mask.js'
import type { Right } from '../job/rights.js'
import { finished, JSON_TYPE, json, verbatim, written } from './answering.js'
import { Authentication } from './auth/authentication.js'
import { type Place, placeOf } from './auth/place.js'
import { type Call, need, type Principal } from './call.js'
import { Console } from './console.js'
import { CALLBACK_ROUTES, ROUTES } from './contract.js'
import { docsPage } from './docs-page.js'
import type { Caller, HandlerOptions } from './handler.js'
import { HANDLERS } from './handlers.js'
import { keyOf, onceUnderKey } from './idempotency.js'
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

const MEBI = 1024 * 1024
const MASKS_FRESH_MS = 2_000
const STREAM_MS = 15 * 60_000
const REQUEST_ID = /^[\w.:-]{1,100}$/

/** What stands behind a handler: finds what a request is for, who asks and whether they may, and has it answered. */
export class Api {
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
      return inside === '/openapi.json' ? verbatim(openapi(this.version, base)) : docsPage(this.version, base)
    }
    const matched = this.router.find(request.method, inside)
    seen.route = matched.route.path
    const principal = await this.principalOf(request, url, from, matched.route)
    seen.actor = principal.actor
    return this.run({ request, url, requestId, matched, principal, from })
  }

  /** Health and metrics, for machines that watch machines. */
  private async atRoot(request: Request, url: URL, path: string, place: Place): Promise<Response> {
    if (path === '/healthz' || path === '/readyz' || path === '/metrics') {
      onlyGet(request)
      if (this.authentication.isOpen) await this.authentication.principalOf(request, url, place)
    }
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
        signIn: (token) => this.authentication.signIn(request, token, from, requestId),
        signOut: () => this.authentication.signOut(request, from, requestId),
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
      return await onceUnderKey(
        this.options.spillway,
        { route, params, key, principal, asked: [input.query, input.body, sent] },
        (client) => work(client, () => sent ?? []),
      )
    } finally {
      if (isChange) {
        this.reads.clear()
        this.masks.clear()
      }
    }
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

/** Who may only see what is there for everybody. */
const STRANGER: Principal = { actor: 'anonymous', rights: [], queues: [] }

function nothingAt(path: string): SpillwayError {
  return new SpillwayError(
    'route_not_found',
    `there is nothing at ${JSON.stringify(path.slice(0, 100))}; the API begins at /api/v1, its documents are at /api/v1/docs`,
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

async function all(lines: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = []
  for await (const line of lines) found.push(line)
  return found
}
