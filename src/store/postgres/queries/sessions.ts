import { fragment, Identifier, sql, whole } from '../sql.js'

export type SessionRow = [
  actor: string,
  /** JSON lists. */
  rights: string,
  queues: string | null,
  expiresAtMs: string,
]

/** So many that are over are removed with each that is opened: more than one, so that none stays for good. */
const SWEPT = 100

export function sessionQueries(schema: string) {
  const sessions = new Identifier(schema, 'api_sessions')
  const tokens = new Identifier(schema, 'api_tokens')
  /** Removes what is over. Index: api_sessions_expiring. Skips rows that somebody else removes. */
  const swept = fragment`swept as (
        delete from ${sessions}
         where hash in (select hash from ${sessions} where expires_at <= now()
                         order by expires_at limit ${whole(SWEPT)} for update skip locked)
      )`

  return {
    /** Opens a session of a token, which it does not outlive. No row: the token is not there, was revoked or has expired. */
    openOfToken: sql<[hash: Buffer, tokenId: string, ttlMs: number], [expiresAtMs: string]>`
      with ${swept}
      insert into ${sessions} (hash, token_id, expires_at)
      select $1, t.id, least(t.expires_at, now() + $3::float8 * interval '1 millisecond')
        from ${tokens} t
       where t.id = $2::bigint and t.revoked_at is null and t.expires_at > now()
      returning date_part('epoch', expires_at) * 1000`,

    /** Opens a session of somebody whom the store does not know, until the time that came with them. One row, always. */
    openOfClaims: sql<
      [
        hash: Buffer,
        actor: string,
        rights: readonly string[],
        queues: readonly string[] | null,
        until: string,
        ttlMs: number,
      ],
      [expiresAtMs: string]
    >`
      with ${swept}
      insert into ${sessions} (hash, actor, rights, queues, expires_at)
      values ($1, $2, $3::text[], $4::text[], least($5::timestamptz, now() + $6::float8 * interval '1 millisecond'))
      returning date_part('epoch', expires_at) * 1000`,

    /**
     * Who a session is. No row: there is none, it has expired, was ended, or its token was revoked. Indexes: the primary
     * keys.
     */
    valid: sql<[hash: Buffer], SessionRow>`
      select coalesce(t.name, s.actor), array_to_json(coalesce(t.rights, s.rights)),
             array_to_json(case when s.token_id is null then s.queues else t.queues end),
             date_part('epoch', s.expires_at) * 1000
        from ${sessions} s
        left join ${tokens} t on t.id = s.token_id
       where s.hash = $1
         and s.expires_at > now()
         and (s.token_id is null or (t.revoked_at is null and t.expires_at > now()))`,

    end: sql<[hash: Buffer], []>`delete from ${sessions} where hash = $1`,
  }
}
