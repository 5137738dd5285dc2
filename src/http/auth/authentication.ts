import type { Client } from '../../client/client.js'
import type { SessionOf } from '../../client/sessions.js'
import { SpillwayError } from '../../job/errors.js'
import { RIGHTS, type Right } from '../../job/rights.js'
import type { Principal } from '../call.js'
import { RefusedWithHeaders } from '../problem.js'
import { noSession, sessionCookie, sessionOf } from './cookie.js'
import { Jwks, type JwksOptions } from './jwks.js'
import { checkOrigin, checkOwnPage } from './origin.js'
import type { Place } from './place.js'
import { Throttle } from './throttle.js'

/**
 * Who may come in. `open`: everybody who reaches it, and then only under a loopback name and from no page of another
 * origin. Otherwise bearer tokens: those of the store, JWTs of an identity provider, or what `authenticate` makes of the
 * request; one of them has to say who it is. A browser exchanges its token for a session, which is a cookie.
 */
export type Access =
  | 'open'
  | {
      /** Tokens made by `spillway tokens create`. Default: true. */
      readonly tokens?: boolean | undefined
      readonly jwks?: JwksOptions | undefined
      /**
       * For an application that knows its users. Undefined: nobody it knows. A change that a page of another origin asks
       * for is refused, so that the application's own cookies are not used by others.
       */
      readonly authenticate?: ((request: Request) => Promise<Principal | undefined> | Principal | undefined) | undefined
    }

/** Somebody who was told by a token. */
interface Verified {
  readonly principal: Principal
  /** What a session of theirs is opened with. */
  readonly session: SessionOf
}

const MOST_FAILURES = 20
const WINDOW_MS = 60_000
/** Refused ones of a minute that the audit log is told of, whatever address they come from: strangers do not fill it. */
const MOST_NOTED = 100
const ANYBODY: Principal = { actor: 'anonymous', rights: RIGHTS, queues: null }
const BEARER = /^Bearer +([\w.~+/-]+=*) *$/i
const CSRF = 'x-spillway-csrf'

export class Authentication {
  private readonly throttle = new Throttle(MOST_FAILURES, WINDOW_MS)
  private readonly noted = new Throttle(MOST_NOTED, WINDOW_MS)
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

  /** Whether a token can be exchanged for a session. */
  get takesSessions(): boolean {
    return this.access !== 'open' && (this.access.tokens !== false || this.jwks !== undefined)
  }

  /**
   * Who asks.
   *
   * @throws `unauthenticated`, `rate_limited`, `cross_origin`
   */
  async principalOf(request: Request, url: URL, place: Place): Promise<Principal> {
    if (this.access === 'open') {
      checkOrigin(request, url)
      return ANYBODY
    }
    const known = await this.access.authenticate?.(request)
    if (known !== undefined) {
      if (isChange(request) && !request.headers.has('authorization')) checkOwnPage(request, place, false)
      return known
    }
    const header = request.headers.get('authorization')
    if (header !== null) return (await this.byToken(BEARER.exec(header)?.[1], place)).principal
    const session = await this.bySession(request)
    if (session === undefined) throw unauthenticated('a bearer token is missing')
    this.checkProof(request, place)
    return session
  }

  /**
   * Exchanges a token for a session. The audit log has it, and tokens that are not valid too, up to {@link MOST_NOTED} a minute.
   *
   * @returns the cookie, and who it is. @throws `unauthenticated`, `rate_limited`, `cross_origin`; `invalid_option` where
   *   no tokens are taken.
   */
  async signIn(
    request: Request,
    token: string,
    place: Place,
    requestId: string,
  ): Promise<{ principal: Principal; cookie: string }> {
    if (!this.takesSessions) {
      const why = this.isOpen ? 'it is open to this machine' : 'the application it is part of knows its users'
      throw new SpillwayError('invalid_option', `cannot sign in to this server: ${why}`)
    }
    // Nobody is to be signed in as somebody else by a page of a stranger.
    checkOwnPage(request, place, false)
    const from = { address: place.address || undefined, requestId }
    try {
      const { principal, session } = await this.byToken(token, place)
      const opened = await this.client.sessions.open(session, from)
      if (opened === undefined) throw unauthenticated('the token has just ended')
      const { secret, expiresAt } = opened
      return {
        principal: { ...principal, sessionExpiresAt: expiresAt },
        cookie: sessionCookie(secret, expiresAt, place),
      }
    } catch (error) {
      if (error instanceof SpillwayError && error.code === 'unauthenticated')
        await this.noteRefused(from.address, requestId)
      throw error
    }
  }

  private async noteRefused(address: string | undefined, requestId: string): Promise<void> {
    if (this.noted.waitFor('') > 0) return
    this.noted.failed('')
    await this.client.audit.note('sign_in_refused', { address }, { actor: 'anonymous', requestId })
  }

  /** Ends the session of a request, where there is one. @returns the cookie that takes its place. @throws `cross_origin` */
  async signOut(request: Request, place: Place, requestId: string): Promise<string> {
    const secret = sessionOf(request)
    if (secret !== undefined) {
      this.checkProof(request, place)
      await this.client.sessions.end(secret, { address: place.address || undefined, requestId })
    }
    return noSession(place)
  }

  private async bySession(request: Request): Promise<Principal | undefined> {
    const secret = this.takesSessions ? sessionOf(request) : undefined
    const found = secret === undefined ? undefined : await this.client.sessions.verify(secret)
    if (found === undefined) return undefined
    const { actor, rights, queues, expiresAt } = found
    return { actor, rights: rights as readonly Right[], queues, sessionExpiresAt: expiresAt }
  }

  /** A cookie goes along by itself: whoever acts with it has to show that it is one of our own pages. */
  private checkProof(request: Request, place: Place): void {
    const needed = isChange(request)
    checkOwnPage(request, place, needed)
    if (!needed || request.headers.get(CSRF) === '1') return
    throw new SpillwayError('cross_origin', `cannot act by a cookie alone: send the header ${CSRF}: 1 along`)
  }

  private async byToken(token: string | undefined, { address }: Place): Promise<Verified> {
    const waitS = this.throttle.waitFor(address)
    if (waitS > 0) {
      throw new RefusedWithHeaders('rate_limited', `too many tokens that are not valid: try again in ${waitS} s`, {
        'retry-after': String(waitS),
      })
    }
    const verified = token === undefined ? undefined : await this.verified(token)
    if (verified !== undefined) return verified
    this.throttle.failed(address)
    throw unauthenticated('the token is not valid: it is unknown, was revoked, or has expired')
  }

  private async verified(token: string): Promise<Verified | undefined> {
    const { tokens = true } = this.access as Exclude<Access, 'open'>
    if (tokens) {
      const found = await this.client.tokens.verify(token)
      if (found) {
        const { id, name: actor, rights, queues } = found
        return { principal: { actor, rights: rights as readonly Right[], queues }, session: { token: id } }
      }
    }
    const claimed = await this.jwks?.verify(token)
    if (claimed === undefined) return undefined
    const { expiresAt: until, ...principal } = claimed
    return { principal, session: { ...principal, until } }
  }
}

function isChange({ method }: Request): boolean {
  return method !== 'GET' && method !== 'HEAD'
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
