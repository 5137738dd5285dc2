import pg from 'pg'
import { Spillway } from 'spillway'

/** The schema the engine is measured in, and the one that holds what the benchmark needs for itself. */
export const SCHEMA = 'spillway_bench'
const TOOLS = 'spillway_bench_tools'

/** The database everything is measured in. Touches only the two schemas above, and drops them at the end. */
export class Scratch {
  private constructor(
    readonly url: string,
    private readonly client: pg.Client,
    private readonly extensions: ReadonlyMap<string, string>,
  ) {}

  static async open(url: string): Promise<Scratch> {
    const client = await connect(url)
    await client.query(`drop schema if exists ${SCHEMA}, ${TOOLS} cascade`)
    await client.query(`create schema ${TOOLS}`)
    const extensions = new Map<string, string>()
    for (const name of ['pgstattuple', 'pg_stat_statements']) {
      // Where the server has it not, or the role may not: the rows that need it say so.
      await client.query(`create extension if not exists ${name} schema ${TOOLS}`).catch(() => {})
      const where = 'select extnamespace::regnamespace::text as schema from pg_extension where extname = $1'
      const { rows } = await client.query<{ schema: string }>(where, [name])
      if (rows[0]) extensions.set(name, rows[0].schema)
    }
    return new Scratch(url, client, extensions)
  }

  /** An empty schema of the newest version. `vacuum: false` turns autovacuum off for every table of it. */
  async fresh({ vacuum = true } = {}): Promise<void> {
    await this.drop()
    const spillway = new Spillway({ url: this.url, schema: SCHEMA })
    await spillway.migrate()
    await spillway.close()
    if (!vacuum) {
      for (const table of await this.tables()) {
        await this.query(`alter table ${table} set (autovacuum_enabled = false, toast.autovacuum_enabled = false)`)
      }
    }
    await this.checkpoint()
  }

  async drop(): Promise<void> {
    await this.query(`drop schema if exists ${SCHEMA} cascade`)
  }

  /** So that no measurement pays for what came before it. */
  async checkpoint(): Promise<void> {
    // A right of its own; without it the figures are a little worse.
    await this.client.query('checkpoint').catch(() => {})
  }

  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.client.query<Row>(text, values)).rows
  }

  async number(text: string): Promise<number> {
    const [row] = await this.query<{ n: string }>(text)
    return Number(row?.n)
  }

  /** Waits until nothing is runnable or running any more. */
  async empty(timeoutMs: number): Promise<void> {
    const text = `select (exists (select from ${SCHEMA}.ready_entries) or exists (select from ${SCHEMA}.leases))::int as n`
    const until = performance.now() + timeoutMs
    while ((await this.number(text)) !== 0) {
      if (performance.now() > until) throw new Error(`jobs are still live after ${timeoutMs / 1000} s`)
    }
  }

  async hasSchema(name: string): Promise<boolean> {
    return (await this.query('select 1 from pg_namespace where nspname = $1', [name])).length > 0
  }

  /** Whole tables and partitions, quoted. */
  async tables(): Promise<string[]> {
    const rows = await this.query<{ name: string }>(
      `select format('%I.%I', n.nspname, c.relname) as name
         from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and c.relkind = 'r' order by 1`,
      [SCHEMA],
    )
    return rows.map((it) => it.name)
  }

  /** Dead rows per table, where there are any; undefined without pgstattuple. */
  async deadTuples(): Promise<ReadonlyMap<string, number> | undefined> {
    const schema = this.extensions.get('pgstattuple')
    if (!schema) return undefined
    const dead = new Map<string, number>()
    for (const table of await this.tables()) {
      const n = await this.number(`select dead_tuple_count as n from ${schema}.pgstattuple('${table}')`)
      if (n > 0) dead.set(table.replace(`${SCHEMA}.`, ''), n)
    }
    return dead
  }

  /** Statements of this database so far; undefined where the server does not count them. */
  async statements(): Promise<number | undefined> {
    const schema = this.extensions.get('pg_stat_statements')
    const text = `select coalesce(sum(calls), 0) as n from ${schema}.pg_stat_statements
                   where dbid = (select oid from pg_database where datname = current_database())`
    return schema ? this.number(text).catch(() => undefined) : undefined
  }

  /**
   * From here on the slowest statement of this database is remembered: the answer tells for how long it ran, in ms;
   * undefined where the server does not time statements.
   */
  async slowestStatement(): Promise<() => Promise<number | undefined>> {
    const schema = this.extensions.get('pg_stat_statements')
    const here = '(select oid from pg_database where datname = current_database())'
    const begun =
      schema !== undefined &&
      (await this.query(`select ${schema}.pg_stat_statements_reset(0, ${here}, 0)`).then(
        () => true,
        () => false,
      ))
    if (!begun) return async () => undefined
    return () =>
      this.number(`select coalesce(max(max_exec_time), 0) as n from ${schema}.pg_stat_statements where dbid = ${here}`)
  }

  /** How far the server's clock is ahead of this machine's, in ms. */
  async clockOffset(): Promise<number> {
    const offsets: [roundTrip: number, offset: number][] = []
    for (let i = 0; i < 20; i++) {
      const before = Date.now()
      const theirs = await this.number(`select date_part('epoch', clock_timestamp()) * 1000 as n`)
      const after = Date.now()
      offsets.push([after - before, theirs - (before + after) / 2])
    }
    return offsets.sort((a, b) => a[0] - b[0])[0]![1]
  }

  /** A reader that has read every table, all slots included, and stays. */
  async reader(): Promise<{ end: () => Promise<void> }> {
    const client = await connect(this.url)
    await client.query('begin isolation level repeatable read')
    for (const table of await this.tables()) await client.query(`select 1 from ${table} limit 1`)
    return { end: () => client.end() }
  }

  async close(): Promise<void> {
    await this.query(`drop schema if exists ${SCHEMA}, ${TOOLS} cascade`)
    await this.client.end()
  }
}

/** A connection that says whose it is. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'spillway bench' })
  // A server that is stopped under it: its query rejects, and that is enough.
  client.on('error', () => {})
  await client.connect()
  return client
}
