import { createHash, randomBytes } from 'node:crypto'
import type { ApiSession, NewSession, SignedFrom, Store } from '../store/store.js'

/** What a session is opened with: a token's id, or what a JWT said and until when. */
export type SessionOf = NewSession['of']

/** A session that was just opened. This is the only time its secret is shown. */
export interface OpenedSession {
  readonly secret: string
  readonly expiresAt: Date
}

const LONGEST_MS = 12 * 3_600_000
const SHAPE = /^[\w-]{43}$/

/** Browsers that have signed in to the HTTP API. Only the hash of a secret is stored. */
export class Sessions {
  constructor(private readonly store: Pick<Store, 'openSession' | 'validSession' | 'endSession'>) {}

  /**
   * Opens a session of a token (by its id), or of somebody an identity provider has vouched for until some time. It ends
   * with the token, or in 12 hours. The audit row `sign_in` is of the same transaction.
   *
   * @returns undefined where the token is not valid (any more).
   */
  async open(of: SessionOf, from: SignedFrom = {}): Promise<OpenedSession | undefined> {
    const secret = randomBytes(32).toString('base64url')
    const expiresAt = await this.store.openSession({ hash: hashOf(secret), of, ttlMs: LONGEST_MS }, from)
    return expiresAt && { secret, expiresAt }
  }

  /** Who a secret belongs to; undefined where there is nobody, the session is over, or its token is. */
  async verify(secret: string): Promise<ApiSession | undefined> {
    return SHAPE.test(secret) ? this.store.validSession(hashOf(secret)) : undefined
  }

  /** Ends the session of a secret, from the next request on; the audit row `sign_out` is of the same transaction. */
  async end(secret: string, from: SignedFrom = {}): Promise<void> {
    if (SHAPE.test(secret)) await this.store.endSession(hashOf(secret), from)
  }
}

/** What is random in all its 256 bits is found by its hash: there is nothing to compare in constant time. */
function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
