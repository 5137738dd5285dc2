import { fragment, Identifier, sql, whole } from '../sql.js'
import { isoTime } from './iso-time.js'

/** Where somebody stood, and under which request. */
type From = [address: string | null, requestId: string | null]

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
  const audit = fragment`insert into ${new Identifier(schema, 'audit_log')} (actor, action, target, result, request_id)`
  /** Removes what is over. Index: api_sessions_expiring. Skips rows that somebody else removes. */
  const swept = fragment`swept as (
        delete from ${sessions}
         where hash in (select hash from ${sessions} where expires_at <= now()
                         order by expires_at limit ${whole(SWEPT)} for update skip locked)
      )`

  return {
    /** Opens a session of a token, which it does not outlive. No row: the token is not there, was revoked or has expired. */
    openOfToken: sql<[hash: Buffer, tokenId: string, ttlMs: number, ...From], [expiresAtMs: string]>`
      with ${swept},
      opened as (
        insert into ${sessions} (hash, token_id, expires_at)
        select $1, t.id, least(t.expires_at, now() + $3::float8 * interval '1 millisecond')
          from ${tokens} t
         where t.id = $2::bigint and t.revoked_at is null and t.expires_at > now()
        returning token_id, expires_at
      ),
      audited as (
        ${audit}
        select t.name, 'sign_in', json_strip_nulls(json_build_object('token', t.id::text, 'name', t.name, 'address', $4::text)),
               json_build_object('expires_at', ${isoTime('o.expires_at')}), $5
          from opened o join ${tokens} t on t.id = o.token_id
      )
      select date_part('epoch', expires_at) * 1000 from opened`,

    /** Opens a session of somebody whom the store does not know, until the time that came with them. One row, always. */
    openOfClaims: sql<
      [
        hash: Buffer,
        actor: string,
        rights: readonly string[],
        queues: readonly string[] | null,
        until: string,
        ttlMs: number,
        ...From,
      ],
      [expiresAtMs: string]
    >`
      with ${swept},
      opened as (
        insert into ${sessions} (hash, actor, rights, queues, expires_at)
        values ($1, $2, $3::text[], $4::text[], least($5::timestamptz, now() + $6::float8 * interval '1 millisecond'))
        returning actor, expires_at
      ),
      audited as (
        ${audit}
        select actor, 'sign_in', json_strip_nulls(json_build_object('name', actor, 'address', $7::text)),
               json_build_object('expires_at', ${isoTime('expires_at')}), $8
          from opened
      )
      select date_part('epoch', expires_at) * 1000 from opened`,

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

    /** Ends one that is there. No row in the audit log: there was none, so nobody has gone. */
    end: sql<[hash: Buffer, ...From], []>`
      with ended as (delete from ${sessions} where hash = $1 returning token_id, actor)
      ${audit}
      select coalesce(t.name, e.actor), 'sign_out',
             json_strip_nulls(json_build_object('token', t.id::text, 'name', coalesce(t.name, e.actor), 'address', $2::text)),
             null, $3
        from ended e left join ${tokens} t on t.id = e.token_id`,
  }
}
