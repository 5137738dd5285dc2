import type { Act } from './act.js'
import type { Page, PageRequest } from './page.js'

/** A token of the HTTP API as it is shown: its secret is stored nowhere. */
export interface ApiToken {
  readonly id: string
  readonly name: string
  readonly rights: readonly string[]
  /** The only queues it reaches; null: all. */
  readonly queues: readonly string[] | null
  readonly createdAt: Date
  readonly createdBy: string
  readonly reason: string | null
  readonly expiresAt: Date
  readonly revokedAt: Date | null
  readonly revokedBy: string | null
  /** To the minute. */
  readonly lastUsedAt: Date | null
}

export interface NewToken {
  readonly name: string
  /** SHA-256 of the secret. */
  readonly hash: Buffer
  readonly rights: readonly string[]
  readonly queues: readonly string[] | null
  readonly ttlMs: number
}

/** Of a browser that has signed in. */
export interface NewSession {
  /** SHA-256 of its secret. */
  readonly hash: Buffer
  /** The token it was opened with, or what a JWT said, and until when it holds. */
  readonly of: { readonly token: string } | (SessionClaims & { readonly until: Date })
  readonly ttlMs: number
}

/** Where somebody signs in or out, for the audit log. */
export interface SignedFrom {
  readonly address?: string | undefined
  readonly requestId?: string | undefined
}

interface SessionClaims {
  readonly actor: string
  readonly rights: readonly string[]
  /** The only queues it reaches; null: all. */
  readonly queues: readonly string[] | null
}

/** Somebody who has signed in. */
export interface ApiSession extends SessionClaims {
  readonly expiresAt: Date
}

/** A place in payloads, metadata, results and progress whose value is shown to nobody. */
export interface MaskedPath {
  readonly path: string
  readonly createdAt: Date
  readonly createdBy: string
}

/** Who may come in, and what nobody is shown. */
export interface Access {
  createToken(token: NewToken, act: Act): Promise<ApiToken>
  /** Newest first, those that are over too. */
  listTokens(page: PageRequest): Promise<Page<ApiToken>>
  /** Holds from the next request on. One that was revoked before stays as it is. @throws `token_not_found` */
  revokeToken(id: string, act: Act): Promise<ApiToken>
  /** What a secret is compared with; undefined where the token is not there, was revoked, or has expired. */
  validToken(id: string): Promise<{ readonly hash: Buffer; readonly token: ApiToken } | undefined>
  tokenUsed(id: string): Promise<void>
  /** Writes an audit row with it. @returns until when it holds; undefined where its token is not valid. */
  openSession(session: NewSession, from: SignedFrom): Promise<Date | undefined>
  /** Undefined where there is none, it is over, or its token is. */
  validSession(hash: Buffer): Promise<ApiSession | undefined>
  /** Writes an audit row with it, where there is one. */
  endSession(hash: Buffer, from: SignedFrom): Promise<void>
  /** Writes an audit row for what moved nothing, such as showing a payload. `target` has snake_case keys. */
  note(action: string, target: unknown, act: Act): Promise<void>
  maskedPaths(): Promise<readonly MaskedPath[]>
  /** False: it was masked before. */
  maskPath(path: string, act: Act): Promise<boolean>
  /** False: it was not masked. */
  unmaskPath(path: string, act: Act): Promise<boolean>
}
