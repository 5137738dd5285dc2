import { Columns, fragment, Identifier, sql } from '../sql.js'

export type TokenRow = [
  id: string,
  name: string,
  /** JSON lists. */
  rights: string,
  queues: string | null,
  createdAtMs: string,
  createdBy: string,
  reason: string | null,
  expiresAtMs: string,
  revokedAtMs: string | null,
  revokedBy: string | null,
  lastUsedAtMs: string | null,
]

type Who = [actor: string, reason: string | null, requestId: string | null]

export function tokenQueries(schema: string) {
  const tokens = new Identifier(schema, 'api_tokens')
  const paths = new Identifier(schema, 'masked_paths')
  const audit = fragment`insert into ${new Identifier(schema, 'audit_log')} (actor, action, target, reason, result, request_id)`
  const own = new Columns([
    ...[
      'id',
      'name',
      'rights',
      'queues',
      'created_at',
      'created_by',
      'reason',
      'expires_at',
      'revoked_at',
      'revoked_by',
    ],
    'last_used_at',
  ])
  const columns = fragment`t.id, t.name, array_to_json(t.rights), array_to_json(t.queues), date_part('epoch', t.created_at) * 1000,
             t.created_by, t.reason, date_part('epoch', t.expires_at) * 1000, date_part('epoch', t.revoked_at) * 1000,
             t.revoked_by, date_part('epoch', t.last_used_at) * 1000`

  return {
    /** Stores a token by the hash of its secret; lives $8 ms from now. One row back, always. */
    create: sql<
      [...Who, name: string, hash: Buffer, rights: readonly string[], queues: readonly string[] | null, ttlMs: number],
      TokenRow
    >`
      with made as (
        insert into ${tokens} (name, hash, rights, queues, created_by, reason, expires_at)
        values ($4, $5, $6::text[], $7::text[], $1, $2, now() + $8::float8 * interval '1 millisecond')
        returning ${own}
      ),
      audited as (
        ${audit}
        select $1, 'create_token', json_build_object('token', id::text, 'name', name), $2,
               json_build_object('rights', rights, 'queues', queues, 'expires_at', expires_at), $3
          from made
      )
      select ${columns} from made t`,

    /** Newest first. There are few. */
    list: sql<[beforeId: string, limit: number], TokenRow>`
      select ${columns} from ${tokens} t where t.id < $1::bigint order by t.id desc limit $2::bigint`,

    /** Ends a token now. No row: there is none of that id, or it was revoked before; `existing` tells which. */
    revoke: sql<[...Who, id: string], TokenRow>`
      with ended as (
        update ${tokens} set revoked_at = now(), revoked_by = $1
         where id = $4::bigint and revoked_at is null
        returning ${own}
      ),
      audited as (
        ${audit}
        select $1, 'revoke_token', json_build_object('token', id::text, 'name', name), $2, null, $3 from ended
      )
      select ${columns} from ended t`,

    get: sql<[id: string], TokenRow>`select ${columns} from ${tokens} t where t.id = $1::bigint`,

    /** What a token of that id is checked against. No row: none, revoked, or expired. Index: primary key. */
    valid: sql<[id: string], [hashHex: string, ...TokenRow]>`
      select encode(t.hash, 'hex'), ${columns}
        from ${tokens} t
       where t.id = $1::bigint and t.revoked_at is null and t.expires_at > now()`,

    /** Notes that it was used, at most once a minute. */
    used: sql<[id: string], []>`
      update ${tokens} set last_used_at = now()
       where id = $1::bigint and (last_used_at is null or last_used_at < now() - interval '1 minute')`,

    /** A row of the audit log for something that moved nothing, such as showing a payload. */
    note: sql<[...Who, action: string, target: string], []>`
      ${audit}
      values ($1, $4, $5::json, $2, null, $3)`,

    paths: sql<[], [path: string, createdAtMs: string, createdBy: string]>`
      select path, date_part('epoch', created_at) * 1000, created_by from ${paths} order by path`,

    /** No row: it was masked before. */
    mask: sql<[...Who, path: string], [path: string]>`
      with made as (
        insert into ${paths} (path, created_by) values ($4, $1) on conflict (path) do nothing returning path
      ),
      audited as (
        ${audit} select $1, 'mask', json_build_object('path', path), $2, null, $3 from made
      )
      select path from made`,

    /** No row: it was not masked. */
    unmask: sql<[...Who, path: string], [path: string]>`
      with gone as (delete from ${paths} where path = $4 returning path),
      audited as (
        ${audit} select $1, 'unmask', json_build_object('path', path), $2, null, $3 from gone
      )
      select path from gone`,
  }
}
