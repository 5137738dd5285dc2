import { Spillway } from '../index.js'

/** Options that every command takes. */
export interface SharedOptions {
  readonly databaseUrl?: string
  readonly readUrl?: string
  readonly schema?: string
  readonly json?: boolean
}

export interface Connection {
  readonly client: Spillway
  readonly url: string
  /** Gives back every connection, and the claim on an embedded database. */
  close(): Promise<void>
}

/** Told of what a person may want to know and a program need not. */
type Notice = (message: string) => void

/**
 * Reaches the store a command works on: `--database-url`, else `DATABASE_URL`, else the embedded database of the
 * folder, which is brought to this version by itself.
 *
 * @param needsSchema - Whether a schema that is missing or does not fit is an error. `migrate` says no.
 * @throws `schema_missing`, `schema_newer`, `store_unavailable`, `embedded_unavailable`.
 */
export async function connect(options: SharedOptions, notice: Notice, needsSchema = true): Promise<Connection> {
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
  return { client, url: place.url, close }
}

async function embedded(notice: Notice): Promise<{ url: string; isEmbedded: true; release: () => Promise<void> }> {
  const { startEmbedded } = await import('../embedded/index.js')
  const database = await startEmbedded({ onNotice: notice })
  if (database.started) notice(`started the embedded database in ${database.dir}`)
  return { url: database.url, isEmbedded: true, release: () => database.release() }
}
