import { createHash } from 'node:crypto'
import type { Client } from '../client/client.js'
import { checkIdempotencyKey, requestHash } from '../client/request-hash.js'
import { SpillwayError } from '../job/errors.js'
import { JSON_TYPE, written } from './answering.js'
import type { Principal } from './call.js'
import type { Route } from './route.js'

/** A change that came with a key, and what it asked for. */
interface Keyed {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
  readonly key: string
  readonly principal: Principal
  readonly asked: unknown
}

/** The Idempotency-Key of a change. @throws `idempotency_key_required` where the route cannot do without. */
export function keyOf(request: Request, route: Route): string | undefined {
  const key = request.headers.get('idempotency-key')
  if (key !== null) return checkIdempotencyKey(key)
  if (route.keyRequired !== true) return undefined
  throw new SpillwayError(
    'idempotency_key_required',
    'cannot begin this without an Idempotency-Key header: a text of your choosing, the same when the request is sent again',
  )
}

/** The effect, the answer and the key are one transaction. */
export async function onceUnderKey(
  spillway: Client,
  { route, params, key, principal, asked }: Keyed,
  work: (client: Client) => Promise<unknown>,
): Promise<Response> {
  let first: string | undefined
  const { status, answer, replayed } = await spillway.idempotently(
    {
      ...{ actor: principal.actor, method: route.method, path: filled(route.path, params), key },
      // Of two tokens with one name, the one of other queues asks for something else.
      requestHash: requestHash(principal.queues === null ? asked : [asked, [...principal.queues].sort()]),
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

function filled(path: string, params: Readonly<Record<string, string>>): string {
  // A token is a secret, and what is kept under a key is not.
  return path.replace(/\{(\w+)\}/g, (_, key: string) => (key === 'token' ? hashed(params[key]) : (params[key] ?? '')))
}

function hashed(text = ''): string {
  return createHash('sha256').update(text).digest('hex')
}
