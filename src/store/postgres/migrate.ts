import { readdir, readFile } from 'node:fs/promises'
import { SpillwayError } from '../../job/errors.js'
import type { MigrationReport, SchemaStatus } from '../store.js'
import type { Database } from './database.js'
import { faultOf, translate } from './errors.js'
import { channelOf } from './notices.js'
import { migrationQueries } from './queries/migrations.js'

const FOLDER = new URL('./migrations/', import.meta.url)

/** One step of the schema: a file `NNNN_what.sql`. */
export interface Migration {
  readonly version: number
  readonly name: string
  /** Its text with the schema's name filled in. */
  readonly text: string
}

/** Every step this version knows, in order, for the given schema. */
export async function migrations(schema: string): Promise<Migration[]> {
  const files = (await readdir(FOLDER)).filter((file) => /^\d{4}_.+\.sql$/.test(file)).sort()
  return Promise.all(
    files.map(async (file) => ({
      version: Number(file.slice(0, 4)),
      name: file.slice(0, -4),
      text: (await readFile(new URL(file, FOLDER), 'utf8'))
        .replaceAll('{{schema}}', `"${schema}"`)
        .replaceAll('{{channel}}', channelOf(schema)),
    })),
  )
}

/**
 * The steps as one script, for a DBA to read and run; `pending` names those that are left to do, without it the whole
 * schema. Each step is a transaction of its own, and like {@link migrate} waits 2 s for a lock at most.
 */
export async function migrationScript(schema: string, pending?: readonly string[]): Promise<string> {
  const { create, record, limitLockWait } = migrationQueries(schema)
  const steps = (await migrations(schema)).filter(({ name }) => pending?.includes(name) ?? true)
  if (steps.length === 0) return `-- schema "${schema}" is up to date`
  return steps
    .map(({ name, version, text }, n) =>
      [
        'begin;',
        `${limitLockWait.text};`,
        ...(n === 0 ? [`${create.text};`] : []),
        `-- ${name}`,
        text,
        `${record(version, name).text};`,
        'commit;',
      ].join('\n\n'),
    )
    .join('\n\n')
}

/**
 * Brings the schema to this version: all steps in one transaction, under a lock, so that one of many processes does the
 * work and the others wait for it. Interrupted, the schema is as it was.
 *
 * Safe beside live workers: a lock that a long transaction keeps from it is waited for 2 s, so that nobody queues up
 * behind it for longer, and then it is tried again, ten times.
 *
 * @throws `schema_newer` when the schema was migrated by a newer version; nothing is changed.
 */
export async function migrate(db: Database, schema: string): Promise<MigrationReport> {
  const queries = migrationQueries(schema)
  const steps = await migrations(schema)
  try {
    return await db.transaction(
      async (tx) => {
        await tx.run(queries.lock, [`spillway migrate ${schema}`])
        // After the lock, which may be waited for as long as another process takes to migrate.
        await tx.execute(queries.limitLockWait.text)
        await tx.execute(queries.create.text)
        const done = new Set((await tx.run(queries.applied, [])).map(([version]) => Number(version)))
        refuseNewer(Math.max(0, ...done), latestOf(steps), schema)
        const applied: string[] = []
        for (const { version, name, text } of steps) {
          if (done.has(version)) continue
          await tx.execute(text)
          await tx.execute(queries.record(version, name).text)
          applied.push(name)
        }
        return { applied, version: latestOf(steps) }
      },
      { repeatable: true },
    )
  } catch (error) {
    throw translate(error)
  }
}

/** Where the schema stands, without changing it. */
export async function schemaStatus(db: Database, schema: string): Promise<SchemaStatus> {
  const queries = migrationQueries(schema)
  const steps = await migrations(schema)
  const done = await db.runRaw(queries.applied, []).catch((error: unknown) => {
    const { code } = error as { code?: string }
    if (code === '42P01' || code === '3F000') return []
    if (faultOf(error) === 'unavailable') throw translate(error)
    throw translate(error)
  })
  const versions = new Set(done.map(([version]) => Number(version)))
  return {
    version: Math.max(0, ...versions),
    latest: latestOf(steps),
    pending: steps.filter(({ version }) => !versions.has(version)).map(({ name }) => name),
  }
}

/** @throws `schema_newer`, `schema_missing`: a program and a schema that do not fit do nothing together. */
export async function requireSchema(db: Database, schema: string): Promise<void> {
  const { version, latest, pending } = await schemaStatus(db, schema)
  refuseNewer(version, latest, schema)
  if (pending.length > 0) {
    const found =
      version === 0 ? `there is no schema "${schema}"` : `schema "${schema}" is at version ${version} of ${latest}`
    throw new SpillwayError(
      'schema_missing',
      `${found}; run \`spillway migrate\`, or call migrate() when the program starts`,
    )
  }
}

function latestOf(steps: readonly Migration[]): number {
  return steps.at(-1)?.version ?? 0
}

/** @throws `schema_newer` where the schema is newer than what this program knows. */
export function refuseNewer(version: number, latest: number, schema: string): void {
  if (version <= latest) return
  throw new SpillwayError(
    'schema_newer',
    `schema "${schema}" is at version ${version}, and this program knows ${latest}: update spillway here before using it`,
  )
}
