import { Fragment, Identifier, type Statement, sql, whole } from '../sql.js'

export function migrationQueries(schema: string) {
  const applied = new Identifier(schema, 'migrations')
  return {
    /** One process migrates at a time; released with the transaction. */
    lock: sql<[name: string], []>`
      select pg_advisory_xact_lock(hashtextextended($1, 0))`,

    /** Whoever waits for a table keeps everybody who comes later waiting too. */
    limitLockWait: sql`
      set local lock_timeout = '2s'`,

    create: sql`
      create schema if not exists ${new Identifier(schema)};
      create table if not exists ${applied} (
        version integer primary key,
        name text not null,
        applied_at timestamptz not null default now()
      )`,

    applied: sql<[], [version: string]>`
      select version from ${applied} order by version`,

    /** Notes a step. Part of the script a DBA runs, so its values stand in the text; both come from our own file names. */
    record: (version: number, name: string): Statement =>
      sql`insert into ${applied} (version, name) values (${whole(version)}, '${new Fragment(name.replace(/[^a-z0-9_]/g, ''))}')`,
  }
}
