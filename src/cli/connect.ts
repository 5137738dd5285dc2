import type { Client } from '../client/client.js'
import { Spillway, SpillwayError } from '../index.js'

/** Options that every command takes. */
export interface SharedOptions {
  readonly databaseUrl?: string
  readonly readUrl?: string
  readonly schema?: string
  readonly api?: string
  readonly token?: string
  readonly json?: boolean
}

export interface Connection {
  readonly client: Client
  /** The store behind it. @throws `invalid_option` where there is a server in between. */
  database(): { readonly spillway: Spillway; readonly url: string }
  /** Gives back every connection, and the claim on an embedded database. */
  close(): Promise<void>
}

/** Told of what a person may want to know and a program need not. */
type Notice = (message: string) => void

/**
 * Reaches what a command works on: the server of `--api`, the database of `--database-url`, else the server of
 * `SPILLWAY_API`, the database of `DATABASE_URL`, and at last the embedded database of the folder, which is brought to
 * this version by itself.
 *
 * @param needsSchema - Whether a schema that is missing or does not fit is an error. `migrate` says no.
 * @param needs - `database` for what no server can do, such as running jobs: `SPILLWAY_API` is then passed over.
 * @throws `schema_missing`, `schema_newer`, `store_unavailable`, `embedded_unavailable`.
 */
export async function connect(
  options: SharedOptions,
  notice: Notice,
  needsSchema = true,
  needs: 'database' | 'either' = 'either',
): Promise<Connection> {
  const api = apiOf(options)
  if (needs === 'database' && options.api !== undefined) throw notOnServer()
  if (api !== undefined && needs !== 'database') return remote(api, options)
  const given = options.databaseUrl ?? (process.env.DATABASE_URL || undefined)
  const place =
    given === undefined ? await embedded(notice) : { url: given, isEmbedded: false, release: async () => {} }
  const onError = (error: Error) => notice(error.message)
  const schema = options.schema === undefined ? {} : { schema: options.schema }
  const webhooks = { allowPrivate: process.env.SPILLWAY_WEBHOOKS_ALLOW_PRIVATE === '1' }
  const readUrl = options.readUrl ?? (process.env.SPILLWAY_READ_URL || undefined)
  const client = new Spillway({ url: place.url, readUrl, onError, webhooks, ...schema })
  const close = async () => {
    await client.close()
    await place.release()
  }
  try {
    if (place.isEmbedded && needsSchema) await client.migrate()
    else if (needsSchema) await client.requireSchema()
  } catch (error) {
    await close()
    throw error
  }
  return { client, database: () => ({ spillway: client, url: place.url }), close }
}

async function embedded(notice: Notice): Promise<{ url: string; isEmbedded: true; release: () => Promise<void> }> {
  const { startEmbedded } = await import('../embedded/index.js')
  const database = await startEmbedded({ onNotice: notice })
  if (database.started) notice(`started the embedded database in ${database.dir}`)
  return { url: database.url, isEmbedded: true, release: () => database.release() }
}

/** @throws `invalid_option` for two places at once. */
function apiOf({ api, databaseUrl }: SharedOptions): string | undefined {
  if (api !== undefined && databaseUrl !== undefined) {
    throw new SpillwayError('invalid_option', 'cannot work on --api and --database-url at once: name one of the two')
  }
  return databaseUrl === undefined ? (api ?? (process.env.SPILLWAY_API || undefined)) : undefined
}

async function remote(url: string, { token }: SharedOptions): Promise<Connection> {
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    throw new SpillwayError(
      'invalid_option',
      `cannot use --api ${url.slice(0, 100)}: an address such as http://127.0.0.1:8080 is accepted`,
    )
  }
  // The contract and its schemas are only loaded by whoever needs them.
  const { RemoteClient } = await import('./remote/remote-client.js')
  const client = new RemoteClient({ url, token: token ?? (process.env.SPILLWAY_TOKEN || undefined) })
  const database = (): never => {
    throw notOnServer()
  }
  return { client, database, close: () => client.close() }
}

function notOnServer(): SpillwayError {
  return new SpillwayError('invalid_option', 'this works on the database itself, not on a server: leave --api out')
}
