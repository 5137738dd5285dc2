import { fragment, Identifier, sql } from '../sql.js'

type KeyParams = [actor: string, method: string, path: string, key: string]
export type KeptRow = [requestHash: string, status: string, answer: string]

export function idempotencyQueries(schema: string) {
  const keys = new Identifier(schema, 'idempotency_keys')
  const which = fragment`actor = $1 and method = $2 and path = $3 and key = $4`

  return {
    /** The answer to an earlier request under the key. Index: primary key. No row: there is none of the last 24 h. */
    kept: sql<KeyParams, KeptRow>`
      select request_hash, status, answer from ${keys}
       where ${which} and created_at > now() - interval '24 hours'`,

    /**
     * The right to act under the key until the transaction ends. Never waits: false says that somebody else has it. Two
     * keys with one hash take turns, which costs time and nothing else.
     */
    take: sql<[name: string], [taken: 't' | 'f']>`select pg_try_advisory_xact_lock(hashtextextended($1, 0))`,

    /** Keeps the answer; one that is older than 24 h makes room. */
    keep: sql<[...KeyParams, requestHash: string, status: number, answer: string], []>`
      insert into ${keys} (actor, method, path, key, request_hash, status, answer)
      values ($1, $2, $3, $4, $5, $6, $7::json)
      on conflict (actor, method, path, key) do update
         set request_hash = excluded.request_hash, status = excluded.status, answer = excluded.answer, created_at = now()`,
  }
}
