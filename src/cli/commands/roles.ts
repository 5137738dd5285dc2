import type { Command } from 'commander'
import { rolesScript } from '../../store/postgres/roles.js'
import { subcommand } from '../command.js'
import type { SharedOptions } from '../connect.js'
import { Output } from '../output.js'

interface RolesFlags {
  readonly sql: boolean
  readonly prefix?: string
}

/** `spillway roles --sql` */
export function rolesCommand(program: Command): void {
  const command = subcommand(program, 'roles', 'least-privilege database roles: migrate, work, serve, read')
    .requiredOption('--sql', 'print the script that makes them, for a DBA; needs no database')
    .option('--prefix <name>', 'how their names begin (default: the name of the schema)')
    .addHelpText(
      'after',
      '\nExample:\n  spillway roles --sql | psql "$ADMIN_DATABASE_URL"\n\nIt may be run again, also after an upgrade.',
    )
  command.action(() => {
    const { schema = 'spillway', prefix, json } = command.optsWithGlobals<RolesFlags & SharedOptions>()
    const script = rolesScript(schema, prefix ?? schema)
    const out = new Output(json === true)
    if (out.isJson) out.document({ script })
    else out.line(script)
  })
}
