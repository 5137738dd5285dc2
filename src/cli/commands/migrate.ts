import type { Command } from 'commander'
import type { SchemaStatus } from '../../index.js'
import { migrationScript, refuseNewer } from '../../store/postgres/migrate.js'
import { runs, subcommand } from '../command.js'
import type { SharedOptions } from '../connect.js'
import { Output } from '../output.js'

const WAITING_MS = 3_000
const WAITING = 'waiting: for PostgreSQL to answer, or for another process that migrates'

interface MigrateFlags {
  readonly status?: boolean
  readonly sql?: boolean
}

/** `spillway migrate` */
export function migrateCommand(program: Command): void {
  const command = subcommand(program, 'migrate', "bring the database's schema to this version")
    .option('--status', 'say where the schema stands, and change nothing')
    .option('--sql', 'print what is pending as one script, for a DBA; without a database, the whole schema')
    .addHelpText(
      'after',
      '\nExamples:\n  spillway migrate --database-url postgres://localhost/app\n  spillway migrate --sql > schema.sql',
    )
  runs<MigrateFlags>(
    command,
    async ({ database, out, options }) => {
      const client = database().spillway
      if (options.sql) return printPending(out, options.schema ?? 'spillway', await client.schemaStatus())
      if (options.status) return showStatus(out, await client.schemaStatus())
      const patience = setTimeout(() => out.note(WAITING), WAITING_MS)
      const { applied, version } = await client.migrate().finally(() => clearTimeout(patience))
      if (out.isJson) return out.document({ applied, version })
      for (const name of applied) out.line(`applied ${name}`)
      out.line(
        `schema "${options.schema ?? 'spillway'}" is at version ${version}${applied.length === 0 ? '; nothing was to be done' : ''}`,
      )
    },
    { needsSchema: false, needs: 'database', instead: printScript },
  )
}

/** Without a database: true where that was what was asked for. */
async function printScript(options: MigrateFlags & SharedOptions): Promise<boolean> {
  if (options.sql !== true || options.databaseUrl !== undefined || process.env.DATABASE_URL) return false
  print(new Output(options.json === true), await migrationScript(options.schema ?? 'spillway'))
  return true
}

/** @throws `schema_newer` */
async function printPending(out: Output, schema: string, { version, latest, pending }: SchemaStatus): Promise<void> {
  refuseNewer(version, latest, schema)
  print(out, await migrationScript(schema, pending))
}

function print(out: Output, sql: string): void {
  if (out.isJson) out.document({ sql })
  else out.line(sql)
}

function showStatus(out: Output, status: SchemaStatus): void {
  if (out.isJson) {
    out.document(status)
    return
  }
  const { version, latest, pending } = status
  out.line(
    version === 0
      ? `there is no schema yet; this program is at version ${latest}`
      : `the schema is at version ${version}, this program at ${latest}`,
  )
  for (const name of pending) out.line(`pending ${name}`)
  if (version > latest) out.line('the schema is newer than this program: update spillway here before using it')
}
