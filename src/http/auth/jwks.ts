import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose'
import { SpillwayError } from '../../job/errors.js'
import { isRight, isRole, RIGHTS, ROLES } from '../../job/rights.js'
import type { Principal } from '../call.js'

export interface JwksOptions {
  /** Where the keys are: https, or http on this machine. */
  readonly url: string
  /** What `iss` has to be. */
  readonly issuer: string
  /** What `aud` has to be, or to hold. */
  readonly audience: string
  /** Claim with a role. Default: `spillway_role`. */
  readonly roleClaim?: string | undefined
  /** Claim with a list of rights. Default: `spillway_rights`. */
  readonly rightsClaim?: string | undefined
  /** Claim with a list of queues; without it the token reaches all. Default: `spillway_queues`. */
  readonly queuesClaim?: string | undefined
}

/** Who a JWT says it is, and until when. */
export interface Claimed extends Principal {
  readonly expiresAt: Date
}

/** Asymmetric signatures only, so that a public key never serves as a shared secret. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA']
const MAX_TOKEN_CHARS = 16_384
const SKEW_S = 60

/** Checks JWTs of an identity provider by its published keys. */
export class Jwks {
  private readonly keys: ReturnType<typeof createRemoteJWKSet>

  /** @throws `invalid_option` where keys would come over a line that anybody may write on. */
  constructor(private readonly options: JwksOptions) {
    const url = new URL(options.url)
    const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal)) {
      throw new SpillwayError(
        'invalid_option',
        `cannot trust keys from ${options.url}: https is accepted, or http on this machine`,
      )
    }
    this.keys = createRemoteJWKSet(url, { timeoutDuration: 5_000, cooldownDuration: 30_000, cacheMaxAge: 600_000 })
  }

  /** Undefined where the token is not valid. @throws `store_unavailable` where the keys cannot be had. */
  async verify(token: string): Promise<Claimed | undefined> {
    if (token.length > MAX_TOKEN_CHARS || token.split('.').length !== 3) return undefined
    const { issuer, audience } = this.options
    try {
      const { payload } = await jwtVerify(token, this.keys, {
        ...{ issuer, audience, algorithms: ALGORITHMS, clockTolerance: SKEW_S },
        requiredClaims: ['exp', 'sub'],
      })
      return this.principalOf(payload)
    } catch (error) {
      if (error instanceof errors.JOSEError && !isAboutKeys(error)) return undefined
      throw new SpillwayError(
        'store_unavailable',
        `cannot get the keys to check tokens with: ${(error as Error).message}`,
        {
          cause: error,
        },
      )
    }
  }

  /** A claim of the wrong shape is no lesser token but none. */
  private principalOf({ sub, exp = 0, ...claims }: JWTPayload): Claimed | undefined {
    const {
      roleClaim = 'spillway_role',
      rightsClaim = 'spillway_rights',
      queuesClaim = 'spillway_queues',
    } = this.options
    const named = claims[rightsClaim]
    const role = claims[roleClaim]
    const rights = [...(isRole(role) ? ROLES[role] : []), ...(Array.isArray(named) ? named.filter(isRight) : [])]
    const queues = claims[queuesClaim]
    const isFine = queues === undefined || (Array.isArray(queues) && queues.every((it) => typeof it === 'string'))
    if (sub === undefined || sub === '' || !isFine) return undefined
    return {
      actor: sub.slice(0, 255),
      rights: RIGHTS.filter((right) => rights.includes(right)),
      queues: queues === undefined ? null : (queues as string[]),
      expiresAt: new Date(exp * 1_000),
    }
  }
}

/** Whether the keys could not be had, and not that the token is wrong. */
function isAboutKeys(error: errors.JOSEError): boolean {
  return error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid || error.code === 'ERR_JOSE_GENERIC'
}
