import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, inject } from 'vitest'
import { onServer, withDatabase } from './server.js'

export interface TestDatabase {
  /** Usable once the tests (or a `beforeAll` after this call) run. */
  readonly url: string
  readonly name: string
}

/**
 * A database for the file (or the `describe`) that calls this: a copy of the migrated template, made before its tests and
 * dropped after them. A connection that is still open then fails the file: something was not closed.
 */
export function testDatabase(): TestDatabase {
  const { url, template, prefix } = inject('server')
  const name = `${prefix}_${randomBytes(4).toString('hex')}`
  beforeAll(() => onServer(url, (client) => client.query(`create database ${name} template ${template}`)))
  afterAll(() => dropDatabase(url, name))
  return { url: withDatabase(pooled()?.url ?? url, name), name }
}

const POOLED = Symbol.for('spillway.test.pooled')
const pooled = () => (globalThis as { [POOLED]?: { readonly url: string } | undefined })[POOLED]

/** The same database without the pooler, for what needs a session. */
export function directly(url: string): string {
  if (!pooled()) return url
  return withDatabase(inject('server').url, new URL(url).pathname.slice(1))
}

/** From now on suites of this file reach their databases through a pooler, which keeps connections open by itself. */
export function throughPooler(url: string): void {
  ;(globalThis as { [POOLED]?: { readonly url: string } })[POOLED] = { url }
}

/** A database of its own without the schema, for tests of migrations. */
export function emptyDatabase(): TestDatabase {
  const { url, prefix } = inject('server')
  const name = `${prefix}_${randomBytes(4).toString('hex')}`
  beforeAll(() => onServer(url, (client) => client.query(`create database ${name}`)))
  afterAll(() => dropDatabase(url, name))
  return { url: withDatabase(url, name), name }
}

const GRACE_MS = 2_000

async function dropDatabase(url: string, name: string): Promise<void> {
  const left = await onServer(url, async (client) => {
    const open = async () =>
      (
        await client.query<{ application_name: string; query: string }>(
          `select application_name, left(query, 150) as query from pg_stat_activity
            where datname = $1 and backend_type = 'client backend'`,
          [name],
        )
      ).rows
    // A backend ends a moment after its client has gone; only one that stays is a leak.
    const until = performance.now() + GRACE_MS
    let rows = await open()
    while (rows.length > 0 && performance.now() < until) rows = await open()
    await client.query(`drop database if exists ${name} with (force)`)
    return pooled() ? [] : rows
  })
  if (left.length > 0) {
    throw new Error(
      `${left.length} connections were left open:\n${left.map((it) => `- ${it.application_name} ${it.query}`).join('\n')}`,
    )
  }
}
