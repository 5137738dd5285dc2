import type { Client } from '../../client/client.js'
import type { SpillwayError } from '../../job/errors.js'
import { RIGHTS, type Right } from '../../job/rights.js'
import type { Principal } from '../call.js'
import { RefusedWithHeaders } from '../problem.js'
import { Jwks, type JwksOptions } from './jwks.js'
import { checkOrigin } from './origin.js'
import { Throttle } from './throttle.js'

/**
 * Who may come in. `open`: everybody who reaches it, and then only under a loopback name and from no page of another
 * origin. Otherwise bearer tokens: those of the store, JWTs of an identity provider, or what `authenticate` makes of the
 * request; one of them has to say who it is.
 */
export type Access =
  | 'open'
  | {
      /** Tokens made by `spillway tokens create`. Default: true. */
      readonly tokens?: boolean | undefined
      readonly jwks?: JwksOptions | undefined
      /** For an application that knows its users. Undefined: nobody it knows. */
      readonly authenticate?: ((request: Request) => Promise<Principal | undefined> | Principal | undefined) | undefined
    }

const MOST_FAILURES = 20
const WINDOW_MS = 60_000
const ANYBODY: Principal = { actor: 'anonymous', rights: RIGHTS, queues: null }
const BEARER = /^Bearer +([\w.~+/-]+=*) *$/i

export class Authentication {
  private readonly throttle = new Throttle(MOST_FAILURES, WINDOW_MS)
  private readonly jwks: Jwks | undefined

  constructor(
    private readonly client: Client,
    private readonly access: Access,
  ) {
    this.jwks = access !== 'open' && access.jwks !== undefined ? new Jwks(access.jwks) : undefined
  }

  get isOpen(): boolean {
    return this.access === 'open'
  }

  /**
   * Who asks.
   *
   * @param address - Where the request comes from, to slow down guessing.
   * @throws `unauthenticated`, `rate_limited`, `cross_origin`
   */
  async principalOf(request: Request, url: URL, address: string): Promise<Principal> {
    if (this.access === 'open') {
      checkOrigin(request, url)
      return ANYBODY
    }
    const known = await this.access.authenticate?.(request)
    if (known !== undefined) return known
    const header = request.headers.get('authorization')
    if (header === null) throw unauthenticated('a bearer token is missing')
    const waitS = this.throttle.waitFor(address)
    if (waitS > 0) {
      throw new RefusedWithHeaders('rate_limited', `too many tokens that are not valid: try again in ${waitS} s`, {
        'retry-after': String(waitS),
      })
    }
    const token = BEARER.exec(header)?.[1]
    const principal = token === undefined ? undefined : await this.verified(token)
    if (principal !== undefined) return principal
    this.throttle.failed(address)
    throw unauthenticated('the token is not valid: it is unknown, was revoked, or has expired')
  }

  private async verified(token: string): Promise<Principal | undefined> {
    const { tokens = true } = this.access as Exclude<Access, 'open'>
    if (tokens) {
      const found = await this.client.tokens.verify(token)
      if (found) return { actor: found.name, rights: found.rights as readonly Right[], queues: found.queues }
    }
    return this.jwks?.verify(token)
  }
}

function unauthenticated(why: string): SpillwayError {
  return new RefusedWithHeaders(
    'unauthenticated',
    `cannot tell who asks: ${why}; \`spillway tokens create\` makes one`,
    {
      'www-authenticate': 'Bearer realm="spillway"',
    },
  )
}
