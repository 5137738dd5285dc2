import type { Contract } from '../../src/http/contract.js'
import type { AnswerOf, RequestOf } from '../../src/http/route.js'
import { exactJson, parseExactly } from './exact-json.js'
import { addressOf } from './place.js'
import { type View, viewOf } from './view.js'
import { WIRE_ROUTES, type WireName } from './wire-routes.js'

/** The server refused, and said why in a problem document. Nothing was done. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    /** Stable; docs/reference/errors.md lists all. */
    readonly code: string,
    readonly title: string,
    detail: string,
    readonly requestId: string | undefined,
    /** What the document says besides, as the state that was found. */
    readonly fields: Readonly<Record<string, unknown>>,
  ) {
    super(detail)
    this.name = 'Refusal'
  }
}

/** No answer came. Of a change nobody knows whether it was made; sent again with the same key it is made once. */
export class NoAnswer extends Error {
  constructor(cause: unknown) {
    super('the server did not answer: it is away, or the network is', { cause })
    this.name = 'NoAnswer'
  }
}

export type Sent<N extends WireName> = RequestOf<Contract[N]>
export type Answer<N extends WireName> = View<AnswerOf<Contract[N]>>

export interface AskOptions {
  readonly signal?: AbortSignal | undefined
  /** Of a change: the same when it is sent again. */
  readonly key?: string | undefined
}

interface Parts {
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
}

const READ_MS = 30_000
const CHANGE_MS = 60_000

/**
 * Asks the API by the name of a route, and gives what came as the console's views have it: keys in camelCase, times as
 * dates. The only place that speaks HTTP.
 *
 * @throws {@link Refusal}, {@link NoAnswer}
 */
export async function ask<N extends WireName>(name: N, sent: Sent<N>, options: AskOptions = {}): Promise<Answer<N>> {
  return viewOf(await send(lineOf(name, sent as Parts), (sent as Parts).body, options)) as Answer<N>
}

/** Asks for lines, however many: as a file to keep. It has no time limit but that of the server. */
export async function fileOf<N extends WireName>(
  name: N,
  sent: Sent<N>,
  { signal, key }: AskOptions = {},
): Promise<Blob> {
  const { response, content } = await exchange(
    lineOf(name, sent as Parts),
    (sent as Parts).body,
    { key, signal },
    (it): Promise<Blob | string> => (it.ok ? it.blob() : it.text()),
  )
  if (typeof content === 'string') throw refusalOf(response, content)
  return content
}

async function send(line: RequestLine, body: unknown, { signal, key }: AskOptions): Promise<unknown> {
  const limit = AbortSignal.timeout(line.method === 'GET' ? READ_MS : CHANGE_MS)
  const { response, content } = await exchange(line, body, { key, signal }, (it) => it.text(), limit)
  if (!response.ok) throw refusalOf(response, content)
  return content === '' ? undefined : parseExactly(content)
}

/** One request and all of its answer. @throws {@link NoAnswer}, also when `limit` is over, but not when the caller gave up. */
async function exchange<T>(
  { method, path }: RequestLine,
  body: unknown,
  { signal, key }: AskOptions,
  read: (response: Response) => Promise<T>,
  limit?: AbortSignal,
): Promise<{ readonly response: Response; readonly content: T }> {
  const isRead = method === 'GET'
  const ends = [signal, limit].filter((it) => it !== undefined)
  try {
    const response = await fetch(addressOf(path), {
      method,
      signal: AbortSignal.any(ends),
      credentials: 'same-origin',
      redirect: 'error',
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        // A page of another site cannot set it: so the cookie alone changes nothing.
        ...(isRead ? {} : { 'x-spillway-csrf': '1' }),
      },
      ...(body === undefined ? {} : { body: exactJson(body) }),
    })
    return { response, content: await read(response) }
  } catch (error) {
    if (signal?.aborted) throw error
    throw new NoAnswer(error)
  }
}

interface RequestLine {
  readonly method: string
  /** Relative to where the console lies. */
  readonly path: string
}

/** Method and path of a request, for sending it and for showing it. */
export function lineOf(name: WireName, { params = {}, query = {} }: Parts): RequestLine {
  const [method = '', path = ''] = WIRE_ROUTES[name].split(' ')
  const filled = path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(params[key] ?? ''))
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString()
  return { method, path: `api/v1${filled}${search === '' ? '' : `?${search}`}` }
}

function refusalOf({ status, statusText }: Response, text: string): Refusal {
  const { type: _, status: __, code, title, detail, instance, ...fields } = objectOf(text)
  if (typeof code === 'string') {
    const requestId = typeof instance === 'string' ? instance.replace('urn:spillway:request:', '') : undefined
    return new Refusal(status, code, String(title), String(detail), requestId, fields)
  }
  const said = `something between here and the server answered ${status} ${statusText}`.trim()
  return new Refusal(status, `http_${status}`, 'No answer of Spillway', said, undefined, {})
}

function objectOf(text: string): Record<string, unknown> {
  try {
    return { ...(JSON.parse(text) as object) }
  } catch {
    // A proxy in between answers in its own words.
    return {}
  }
}
