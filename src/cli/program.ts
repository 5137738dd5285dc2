import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { shared } from './command.js'
import { archiveCommand } from './commands/archive.js'
import { auditCommand } from './commands/audit.js'
import { callbacksCommand } from './commands/callbacks.js'
import { demoCommand } from './commands/demo.js'
import { devCommand } from './commands/dev.js'
import { dlqCommand } from './commands/dlq.js'
import { doctorCommand } from './commands/doctor.js'
import { dutiesCommand } from './commands/duties.js'
import { enqueueCommand } from './commands/enqueue.js'
import { eventsCommand } from './commands/events.js'
import { jobsCommand } from './commands/jobs.js'
import { maskingCommand } from './commands/masking.js'
import { migrateCommand } from './commands/migrate.js'
import { operationsCommand } from './commands/operations.js'
import { quarantineCommand } from './commands/quarantine.js'
import { queuesCommand } from './commands/queues.js'
import { ringsCommand } from './commands/rings.js'
import { rolesCommand } from './commands/roles.js'
import { serveCommand } from './commands/serve.js'
import { tokensCommand } from './commands/tokens.js'
import { undecodableCommand } from './commands/undecodable.js'
import { webhooksCommand } from './commands/webhooks.js'
import { workCommand } from './commands/work.js'
import { workersCommand } from './commands/workers.js'

const EXAMPLES = `
Examples:
  spillway work ./worker.mjs                 run jobs
  spillway dlq depth                         how many jobs were given up
  spillway dlq list --queue billing          which, and why
  spillway dlq retry 800042                  send one back to work
  spillway dlq retry-bulk --queue billing    send all of a queue back

Without --database-url and DATABASE_URL, every command uses the database in .spillway/ of the current folder.
Exit codes: 0 done, 1 error, 2 usage, 3 not found, 4 conflict or refused, 5 database unreachable.`

/** The whole command line. It throws instead of ending the process. */
export function createProgram(): Command {
  const program = new Command('spillway')
    .description('a durable job queue on PostgreSQL with a first-class dead-letter queue')
    .version(version(), '-V, --version')
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    // Errors are printed in one place, in text or as a document.
    .configureOutput({ outputError: () => {} })
    .exitOverride()
    .addHelpText('after', EXAMPLES)
  shared(program)
  for (const add of COMMANDS) add(program)
  return program
}

const COMMANDS = [
  demoCommand,
  devCommand,
  workCommand,
  serveCommand,
  migrateCommand,
  rolesCommand,
  doctorCommand,
  enqueueCommand,
  jobsCommand,
  dlqCommand,
  undecodableCommand,
  callbacksCommand,
  quarantineCommand,
  operationsCommand,
  queuesCommand,
  workersCommand,
  archiveCommand,
  dutiesCommand,
  ringsCommand,
  auditCommand,
  eventsCommand,
  webhooksCommand,
  tokensCommand,
  maskingCommand,
] as const

function version(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
