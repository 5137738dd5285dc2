import type { Command } from 'commander'
import { type Connection, connect, type SharedOptions } from './connect.js'
import { Output } from './output.js'

/** What a command works with: the store, where to say what it found, and its options. */
export interface Session<Options> extends Connection {
  readonly out: Output
  readonly options: Options & SharedOptions
}

export interface RunOptions<Options> {
  /** Whether a schema that is missing or does not fit is an error. Default: true. */
  readonly needsSchema?: boolean
  /** `database` for what no server can do. Default: `either`. */
  readonly needs?: 'database' | 'either'
  /** Tried before anything is connected; true when there is nothing left to do. */
  readonly instead?: (options: Options & SharedOptions) => Promise<boolean>
  /** Whether trouble that repairs itself is told of in a pipe too, as for what runs for long. Default: false. */
  readonly tellsTrouble?: boolean
}

/** A command under `parent`. */
export function subcommand(parent: Command, usage: string, summary: string): Command {
  return parent.command(usage).summary(summary).description(summary)
}

/** A group of commands: on its own it shows its help. */
export function group(parent: Command, name: string, summary: string): Command {
  return subcommand(parent, name, summary)
}

/** Adds what every command takes, before its name or after it. */
export function shared(program: Command): Command {
  return program
    .option('--database-url <url>', 'the database (default: DATABASE_URL, else the embedded one of this folder)')
    .option('--read-url <url>', 'a replica to read lists from (default: SPILLWAY_READ_URL, else none)')
    .option('--schema <name>', 'the schema its tables lie in (default: spillway)')
    .option('--api <url>', 'a server, in place of the database: what `spillway serve` prints (default: SPILLWAY_API)')
    .option('--token <token>', 'for --api (default: SPILLWAY_TOKEN, which no other process can see)')
    .option('--json', 'one JSON document instead of text')
}

/**
 * Runs `work` with a connection when the command is called, and gives the connection back whatever happens. What it
 * throws ends the process with the exit code of the error.
 */
export function runs<Options = object>(
  command: Command,
  work: (session: Session<Options>, ...args: string[]) => Promise<void>,
  { needsSchema = true, needs = 'either', instead, tellsTrouble = false }: RunOptions<Options> = {},
): Command {
  return command.action(async (...given: unknown[]) => {
    const options = command.optsWithGlobals<Options & SharedOptions>()
    if (await instead?.(options)) return
    const out = new Output(options.json === true)
    const notice = (message: string) => {
      if (tellsTrouble || (out.isTerminal && !out.isJson)) out.note(message)
    }
    const connection = await connect(options, notice, needsSchema, needs)
    try {
      // Commander hands over the arguments, then the options and the command itself.
      await work({ ...connection, out, options }, ...(given.slice(0, -2) as string[]))
    } finally {
      await connection.close()
    }
  })
}
