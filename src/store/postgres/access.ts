import { SpillwayError } from '../../job/errors.js'
import type { Access, Act, ApiToken, NewSession, SignedFrom } from '../store.js'
import { performing } from './acting.js'
import { isId } from './cursor.js'
import type { Database } from './database.js'
import { sessionQueries } from './queries/sessions.js'
import { type TokenRow, tokenQueries } from './queries/tokens.js'

const READ = { repeatable: true, patienceMs: 5_000 } as const
const LARGEST_ID = '9223372036854775807'

/** Who may come in, and what nobody is shown, on PostgreSQL. */
export function access(db: Database, schema: string): Access {
  const queries = tokenQueries(schema)
  const sessions = sessionQueries(schema)
  const perform = performing(db, schema)

  return {
    async createToken({ name, hash, rights, queues, ttlMs }, act) {
      const rows = await perform(() => db.run(queries.create, [...who(act), name, hash, rights, queues, ttlMs]))
      return tokenOf(rows[0] as TokenRow)
    },

    async listTokens({ limit, cursor }) {
      if (cursor !== undefined && !isId(cursor)) {
        throw new SpillwayError(
          'invalid_option',
          `cannot go on after ${JSON.stringify(cursor.slice(0, 40))}: hand back the cursor of the page before`,
        )
      }
      const rows = await db.run(queries.list, [cursor ?? LARGEST_ID, limit + 1], READ)
      const items = rows.slice(0, limit).map(tokenOf)
      return { items, cursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null }
    },

    async revokeToken(id, act) {
      if (isId(id)) {
        const [ended] = await perform(() => db.run(queries.revoke, [...who(act), id]))
        const [row] = ended ? [ended] : await db.run(queries.get, [id])
        if (row) return tokenOf(row)
      }
      throw new SpillwayError(
        'token_not_found',
        `cannot find token ${id.slice(0, 40)}; \`spillway tokens list\` lists them`,
      )
    },

    async validToken(id) {
      if (!isId(id)) return undefined
      const [row] = await db.run(queries.valid, [id], READ)
      if (!row) return undefined
      const [hash, ...token] = row
      return { hash: Buffer.from(hash, 'hex'), token: tokenOf(token) }
    },

    async tokenUsed(id) {
      await db.run(queries.used, [id])
    },

    async openSession({ hash, of, ttlMs }, from) {
      const [row] = await perform<[string][]>(() =>
        'token' in of
          ? db.run(sessions.openOfToken, [hash, of.token, ttlMs, ...fromWhere(from)])
          : db.run(sessions.openOfClaims, [hash, ...claimsOf(of), ttlMs, ...fromWhere(from)]),
      )
      return row && new Date(Number(row[0]))
    },

    async validSession(hash) {
      const [row] = await db.run(sessions.valid, [hash], READ)
      if (!row) return undefined
      const [actor, rights, queues, expiresAt] = row
      return {
        actor,
        rights: JSON.parse(rights) as string[],
        queues: queues === null ? null : (JSON.parse(queues) as string[]),
        expiresAt: new Date(Number(expiresAt)),
      }
    },

    async endSession(hash, from) {
      await perform(() => db.run(sessions.end, [hash, ...fromWhere(from)]))
    },

    async note(action, target, act) {
      await perform(() => db.run(queries.note, [...who(act), action, JSON.stringify(target)]))
    },

    async maskedPaths() {
      const rows = await db.run(queries.paths, [], READ)
      return rows.map(([path, at, createdBy]) => ({ path, createdAt: new Date(Number(at)), createdBy }))
    },

    async maskPath(path, act) {
      return (await perform(() => db.run(queries.mask, [...who(act), path]))).length > 0
    },

    async unmaskPath(path, act) {
      return (await perform(() => db.run(queries.unmask, [...who(act), path]))).length > 0
    },
  }
}

function who({ actor, reason, requestId }: Act): [string, string | null, string | null] {
  return [actor, reason ?? null, requestId ?? null]
}

function fromWhere({ address, requestId }: SignedFrom): [string | null, string | null] {
  return [address ?? null, requestId ?? null]
}

type Claims = Exclude<NewSession['of'], { readonly token: string }>

function claimsOf({ actor, rights, queues, until }: Claims) {
  return [actor, rights, queues, until.toISOString()] as const
}

function tokenOf(row: TokenRow): ApiToken {
  const [id, name, rights, queues, createdAt, createdBy, reason, expiresAt, revokedAt, revokedBy, lastUsedAt] = row
  const date = (ms: string | null) => (ms === null ? null : new Date(Number(ms)))
  return {
    id,
    name,
    rights: JSON.parse(rights) as string[],
    queues: queues === null ? null : (JSON.parse(queues) as string[]),
    createdAt: new Date(Number(createdAt)),
    createdBy,
    reason,
    expiresAt: new Date(Number(expiresAt)),
    revokedAt: date(revokedAt),
    revokedBy,
    lastUsedAt: date(lastUsedAt),
  }
}
