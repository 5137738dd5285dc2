import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Duration, parseDuration } from '../job/duration.js'
import { SpillwayError } from '../job/errors.js'
import { checkText } from '../job/payload.js'
import { type Right, type Role, rightsOf } from '../job/rights.js'
import type { ApiToken, Store } from '../store/store.js'
import { type ActOptions, actOf } from './act.js'
import { Listing, type ListOptions } from './listing.js'

export interface TokenOptions extends ActOptions {
  /** Whose it is: the name its actions are written under. */
  readonly name: string
  /** What it may do: `viewer`, `operator` or `admin`. Default: `viewer`, where no rights are named. */
  readonly role?: Role | undefined
  /** Rights one by one, besides those of the role. */
  readonly rights?: readonly Right[] | undefined
  /** The only queues it reaches. Default: all. */
  readonly queues?: readonly string[] | undefined
  /** How long it is valid, up to 10 years. Default: 90 days. */
  readonly expiresIn?: Duration | undefined
}

/** A token that was just made. This is the only time its secret is shown. */
export interface MadeToken extends ApiToken {
  readonly secret: string
}

const SHAPE = /^spw_(\d{1,19})_([\w-]{43})$/
const DEFAULT_TTL_MS = 90 * 86_400_000
const LONGEST_TTL_MS = 3_653 * 86_400_000

/** Tokens of the HTTP API. Only the hash of a secret is stored. */
export class Tokens {
  constructor(
    private readonly store: Pick<Store, 'createToken' | 'listTokens' | 'revokeToken' | 'validToken' | 'tokenUsed'>,
    private readonly actor: string,
  ) {}

  /**
   * Makes a token. Its secret stands in the answer and nowhere else.
   *
   * @throws `invalid_option`
   *
   * @example
   * const { secret } = await spillway.tokens.create({ name: 'ci', rights: ['enqueue'], queues: ['builds'], expiresIn: '30d' })
   */
  async create(options: TokenOptions): Promise<MadeToken> {
    const { role, rights, queues, expiresIn = DEFAULT_TTL_MS, ...act } = options
    const ttlMs = parseDuration(expiresIn, 'expiresIn')
    if (ttlMs > LONGEST_TTL_MS) {
      throw new SpillwayError('invalid_option', 'cannot make a token that is valid for more than 10 years')
    }
    if (queues?.length === 0) {
      throw new SpillwayError('invalid_option', 'cannot make a token for no queues: leave `queues` out for all of them')
    }
    const secret = randomBytes(32).toString('base64url')
    const token = await this.store.createToken(
      {
        name: checkText('name', options.name),
        hash: hashOf(secret),
        rights: rightsOf(role ?? (rights === undefined ? 'viewer' : undefined), rights ?? []),
        queues: queues === undefined ? null : [...new Set(queues.map((queue) => checkText('queue', queue)))],
        ttlMs,
      },
      actOf(this.actor, act),
    )
    return { ...token, secret: `spw_${token.id}_${secret}` }
  }

  /** Newest first, those that are over too. */
  list(options: ListOptions = {}): Listing<ApiToken> {
    return new Listing((page) => this.store.listTokens(page), options)
  }

  /** Ends a token, from the next request on. Revoking it again changes nothing. @throws `token_not_found` */
  revoke(id: string, options: ActOptions = {}): Promise<ApiToken> {
    return this.store.revokeToken(id, actOf(this.actor, options))
  }

  /** The token that a secret belongs to; undefined where there is none, or it was revoked, or has expired. */
  async verify(secret: string): Promise<ApiToken | undefined> {
    const [, id, part] = SHAPE.exec(secret) ?? []
    if (id === undefined || part === undefined) return undefined
    const found = await this.store.validToken(id)
    if (found === undefined || !timingSafeEqual(found.hash, hashOf(part))) return undefined
    const { lastUsedAt } = found.token
    if (lastUsedAt === null || Date.now() - lastUsedAt.getTime() > NOTED_EVERY_MS) {
      // Only for people to see which tokens nobody needs any more: where it cannot be written, nothing is lost.
      await this.store.tokenUsed(id).catch(() => undefined)
    }
    return found.token
  }
}

const NOTED_EVERY_MS = 60_000

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
