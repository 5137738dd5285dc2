import pg from 'pg'
import { checkUrl, faultOf, translate } from './errors.js'
import type { Statement } from './sql.js'
import { probeWay, Road, type Way } from './way.js'

export interface DatabaseOptions {
  /** The url, or how to find it out when the database is first used. */
  readonly url: string | (() => Promise<string>)
  /** Connections at most. */
  readonly max: number
  /** Whether statements are prepared under names. `auto`: found out, because a transaction pooler may lose them. */
  readonly prepare: boolean | 'auto'
  /** Told of connections that broke while idle; nothing has to be done about them. */
  readonly onError?: ((error: Error) => void) | undefined
  readonly applicationName?: string | undefined
}

/** What a statement may do about a lost connection. Conflicts (40001, 40P01) are always repeated. */
export interface RunOptions {
  /**
   * The statement may be run again although the first run may have committed: it answers the same, or says so. It is
   * then repeated for up to `patienceMs` while the database is away.
   */
  readonly repeatable?: boolean
  readonly patienceMs?: number
  readonly signal?: AbortSignal | undefined
}

const CONFLICT_TRIES = 10
const NAMELESS_TRIES = 5
const PATIENCE_MS = 30_000

/**
 * Connections to one PostgreSQL, and the one place that decides what is repeated.
 *
 * Rows come as arrays of text: parsing is the caller's, who knows which columns it needs.
 */
export class Database {
  private opened: pg.Pool | undefined
  private opening: Promise<pg.Pool> | undefined
  private isClosed = false

  constructor(
    private readonly options: DatabaseOptions,
    private readonly road = new Road(options.prepare === 'auto' ? undefined : options.prepare),
  ) {
    if (typeof options.url === 'string' && road.keepsNames !== undefined) this.opened = this.open(options.url)
  }

  /** A second set of connections to the same database. */
  lane(max: number): Database {
    return new Database({ ...this.options, max }, this.road)
  }

  /** What stands between this process and the server; asked once. */
  async way(): Promise<Way> {
    const pool = await this.pool()
    return this.road.find(() => this.probe(pool))
  }

  /**
   * Runs one statement in its own transaction.
   *
   * @returns its rows, each an array of text or null, in the order of its select list.
   * @throws `store_unavailable`: unless `repeatable`, it may or may not have committed.
   */
  async run<Params extends readonly unknown[], Row>(
    statement: Statement<Params, Row>,
    params: Params,
    options: RunOptions = {},
  ): Promise<Row[]> {
    return this.repeating(options, async () => {
      const pool = this.opened ?? (await this.pool())
      const result = await pool.query(this.config(statement, params))
      return result.rows as Row[]
    })
  }

  /** Like {@link run}, for callers that want to see the driver's own error. */
  async runRaw<Params extends readonly unknown[], Row>(
    statement: Statement<Params, Row>,
    params: Params,
  ): Promise<Row[]> {
    return (await (await this.pool()).query(this.config(statement, params))).rows as Row[]
  }

  /**
   * Runs `work` in one READ COMMITTED transaction; commits when it resolves, rolls back when it throws. Repeated whole
   * on conflicts, so `work` must have no effect but through the transaction.
   */
  async transaction<T>(work: (tx: Transaction) => Promise<T>, options: RunOptions = {}): Promise<T> {
    return this.repeating(options, async () => {
      const client = await (await this.pool()).connect()
      let broken: Error | undefined
      // A connection that dies between two statements says so by an event; without a listener it would end the process.
      const onError = (error: Error) => {
        broken = error
      }
      client.on('error', onError)
      try {
        await client.query('begin')
        const tx: Transaction = {
          run: async (statement, params) => (await client.query(this.config(statement, params))).rows as never,
          execute: async (text) => {
            await client.query(text)
          },
          query: async (text, values) =>
            (await client.query({ text, values: [...values], types: pg.types })).rows as never,
        }
        const answer = await work(tx)
        await client.query('commit')
        return answer
      } catch (error) {
        if (faultOf(error) === 'unavailable') broken ??= error as Error
        else await client.query('rollback').catch((rollbackError: Error) => (broken = rollbackError))
        throw error
      } finally {
        client.off('error', onError)
        client.release(broken)
      }
    })
  }

  /** Runs several statements as one text without parameters. */
  async script(text: string): Promise<void> {
    await (await this.pool()).query(text).catch((error: unknown) => {
      throw translate(error)
    })
  }

  /** A connection of its own, for LISTEN. The caller ends it. */
  async client(): Promise<pg.Client> {
    const { url } = this.options
    return new pg.Client({
      connectionString: typeof url === 'string' ? url : await url(),
      types: TEXT_ONLY,
      connectionTimeoutMillis: 10_000,
    })
  }

  async close(): Promise<void> {
    this.isClosed = true
    // What could not be opened has nothing to close.
    const pool = this.opened ?? (await this.opening?.catch(() => undefined))
    if (pool && !pool.ended) await pool.end()
  }

  private pool(): Promise<pg.Pool> {
    if (this.opened) return Promise.resolve(this.opened)
    this.opening ??= this.openFound().catch((error: unknown) => {
      this.opening = undefined
      throw error
    })
    return this.opening
  }

  private async openFound(): Promise<pg.Pool> {
    const { url } = this.options
    const pool = this.open(typeof url === 'string' ? url : await url())
    try {
      if (this.road.keepsNames === undefined) await this.road.find(() => this.probe(pool))
    } catch (error) {
      await pool.end()
      throw error
    }
    this.opened = pool
    return pool
  }

  private async probe(pool: pg.Pool): Promise<Way> {
    const client = await pool.connect()
    let broken: Error | undefined
    const onError = (error: Error) => {
      broken = error
    }
    client.on('error', onError)
    try {
      return await probeWay(client, () => this.client())
    } catch (error) {
      broken = error as Error
      throw error
    } finally {
      client.off('error', onError)
      client.release(broken)
    }
  }

  private open(url: string): pg.Pool {
    const { max, onError, applicationName } = this.options
    if (this.isClosed) throw new Error('client was closed')
    const pool = new pg.Pool({
      connectionString: checkUrl(url),
      max,
      types: TEXT_ONLY,
      // Behind a pooler only user and database may stand in the startup packet.
      ...(applicationName ? { application_name: applicationName } : {}),
      connectionTimeoutMillis: 10_000,
      idleTimeoutMillis: 30_000,
    })
    // An idle connection that breaks must not end the process; the pool drops it and makes a new one.
    pool.on('error', (error) => onError?.(error))
    return pool
  }

  private forgetNames(): void {
    this.road.keepsNames = false
    this.options.onError?.(new Error('prepared statements get lost (is there a pooler?): going on without names'))
  }

  private config(
    statement: { readonly name: string; readonly text: string },
    values: readonly unknown[],
  ): pg.QueryArrayConfig {
    return {
      ...(this.road.keepsNames === true ? { name: statement.name } : {}),
      text: statement.text,
      values: values as unknown[],
      rowMode: 'array',
    }
  }

  private async repeating<T>(options: RunOptions, attempt: () => Promise<T>): Promise<T> {
    let conflicts = 0
    let nameless = 0
    let waitMs = 10
    const until = performance.now() + (options.patienceMs ?? PATIENCE_MS)
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        const fault = faultOf(error)
        // Several may be under way when the first of them finds out.
        if (isAboutNames(error) && ++nameless < NAMELESS_TRIES) {
          if (this.road.keepsNames !== false) this.forgetNames()
          continue
        }
        if (fault === 'conflict' && ++conflicts < CONFLICT_TRIES) {
          await pause(Math.random() * Math.min(5 * 2 ** conflicts, 250), options.signal)
          continue
        }
        if (fault === 'unavailable' && options.repeatable && performance.now() < until && !options.signal?.aborted) {
          await pause(waitMs * (0.5 + Math.random()), options.signal)
          waitMs = Math.min(waitMs * 2, 1_000)
          continue
        }
        throw fault === 'unique' || fault === 'partition' || fault === 'conflict' ? error : translate(error)
      }
    }
  }
}

/** A name is not there, or there already: refused before anything was done. */
function isAboutNames(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown }
  return code === '26000' || code === '42P05'
}

/** Statements inside one transaction. */
export interface Transaction {
  run<Params extends readonly unknown[], Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]>
  /** Text without parameters. */
  execute(text: string): Promise<void>
  /** A statement of the user's: rows by name, with values as node-postgres gives them. */
  query(text: string, values: readonly unknown[]): Promise<Record<string, unknown>[]>
}

// Nothing is parsed by the driver: bigint and json stay exact, and columns nobody reads cost nothing.
const TEXT_ONLY = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig

/** Waits; resolves early when the signal fires. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
  })
}
