import { wireJson } from '../client/wire.js'
import { ERRORS, type ErrorCode, SpillwayError } from '../job/errors.js'
import { decodePayload } from '../job/payload.js'
import { CONTRACT, type Contract, type RouteName } from './contract.js'
import type { AnswerOf, RequestOf, Route } from './route.js'

export interface ApiClientOptions {
  /** Of the server, with or without `/api/v1` behind it. */
  readonly url: string
  /** Of `spillway tokens create`, or a JWT. */
  readonly token?: string | undefined
  /** Default: that of the platform. */
  readonly fetch?: typeof fetch | undefined
}

export interface CallOptions {
  readonly idempotencyKey?: string | undefined
  readonly signal?: AbortSignal | undefined
}

type Needed<R> =
  Record<string, never> extends R ? [request?: R, options?: CallOptions] : [request: R, options?: CallOptions]

/** A method for each route of the contract, typed by its schemas. Answers stand as they come over the wire. */
export type ApiClient = {
  readonly [N in RouteName]: (...args: Needed<RequestOf<Contract[N]>>) => Promise<AnswerOf<Contract[N]>>
}

interface Sent {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

/**
 * A client of the control API. What it sends and gets is typed by the contract; refusals are thrown with their stable
 * code. Integers that JavaScript would round arrive as BigInts.
 *
 * @throws `store_unavailable` where the server cannot be reached; `invalid_option` for a url with a password, a token that is
 *   none, and names of dots, which no address can hold; every code of the API.
 *
 * @example
 * const api = createApiClient({ url: 'http://127.0.0.1:8080', token: process.env.SPILLWAY_TOKEN })
 * const { items } = await api.listDlq({ query: { queue: 'billing' } })
 * await api.retryDlq({ params: { id: items[0].id } }, { idempotencyKey: 'retry-1' })
 */
export function createApiClient(options: ApiClientOptions): ApiClient {
  const base = checkedUrl(options.url)
    .replace(/\/+$/, '')
    .replace(/\/api(\/v1)?$/, '')
  const token = checkedToken(options.token)
  const methods = Object.entries(CONTRACT).map(([name, route]) => [
    name,
    (sent: Sent = {}, call: CallOptions = {}) => ask(base, { ...options, token }, route, sent, call),
  ])
  return Object.fromEntries(methods) as ApiClient
}

/** The platform would say in its error what the url and the header hold, and with it the secrets. */
function checkedUrl(url: string): string {
  if (!URL.canParse(url) || new URL(url).username + new URL(url).password === '') return url
  throw new SpillwayError('invalid_option', 'cannot use a url with a name or password in it: only a token is taken')
}

function checkedToken(token: string | undefined): string | undefined {
  const trimmed = token?.trim()
  if (trimmed === undefined || /^[!-~]+$/.test(trimmed)) return trimmed
  throw new SpillwayError(
    'invalid_option',
    'cannot use this token: it is empty, or holds a space, a line end or another character that no token has',
  )
}

async function ask(
  base: string,
  options: ApiClientOptions,
  route: Route,
  sent: Sent,
  call: CallOptions,
): Promise<unknown> {
  const { token, fetch: send = fetch } = options
  const isLines = route.bodyType === 'lines'
  const body = sent.body === undefined ? undefined : isLines ? (sent.body as string) : wireJson(sent.body)
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': isLines ? 'application/x-ndjson' : 'application/json' }),
    ...(call.idempotencyKey === undefined ? {} : { 'idempotency-key': call.idempotencyKey }),
  }
  const url = urlOf(base, route, sent)
  let response: Response
  try {
    response = await send(url, {
      ...{ method: route.method, headers, redirect: 'error' },
      ...(body === undefined ? {} : { body }),
      ...(call.signal === undefined ? {} : { signal: call.signal }),
    })
  } catch (error) {
    if (call.signal?.aborted) throw error
    const { message, cause } = error as Error
    const why = cause instanceof Error ? cause.message : message
    throw new SpillwayError('store_unavailable', `cannot reach ${base}: ${why}; \`spillway serve\` answers there`, {
      cause: error,
    })
  }
  if (!response.ok) throw refusalOf(await response.text(), response.status, base)
  const answered = route.answers[response.status]
  if (answered === 'lines' || answered === 'events') return response
  return parsed(await response.text(), base)
}

function urlOf(base: string, route: Route, { params = {}, query = {} }: Sent): string {
  const path = route.path.replace(/\{(\w+)\}/g, (_, key: string) => partOf(params[key] ?? ''))
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(Object.fromEntries(given.map(([key, value]) => [key, String(value)])))
  return `${base}/api/v1${path}${given.length === 0 ? '' : `?${search}`}`
}

/** @throws `invalid_option` for what an address takes for the folder it stands in, however it is written. */
function partOf(text: string): string {
  if (!/^\.{0,2}$/.test(text)) return encodeURIComponent(text)
  throw new SpillwayError('invalid_option', `cannot ask a server for ${JSON.stringify(text)}: no address can hold that`)
}

/** A refusal as it was thrown over there: code, message, and what it says besides. */
function refusalOf(text: string, status: number, base: string): SpillwayError {
  const { code, detail, type: _, title: __, status: ___, instance: ____, ...fields } = objectOf(text)
  if (typeof code !== 'string' || !Object.hasOwn(ERRORS, code)) {
    return new SpillwayError('store_unavailable', `${base} answered ${status}, which is no answer of a Spillway server`)
  }
  const error = new SpillwayError(code as ErrorCode, String(detail))
  const own = Object.entries(fields).map(([key, value]) => [
    key.replace(/_([a-z])/g, (_all, char: string) => char.toUpperCase()),
    value,
  ])
  return Object.assign(error, Object.fromEntries(own))
}

function objectOf(text: string): Record<string, unknown> {
  try {
    return { ...(JSON.parse(text) as object) }
  } catch {
    // A proxy in between answers in its own words.
    return {}
  }
}

function parsed(text: string, base: string): unknown {
  const read = decodePayload(text, { bigint: true })
  if (read.ok) return read.value
  throw new SpillwayError('store_unavailable', `${base} answered something that is no JSON`)
}
