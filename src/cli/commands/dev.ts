import type { Command } from 'commander'
import type { Listening } from '../../http/index.js'
import type { Spillway } from '../../index.js'
import { isSpillwayError } from '../../job/errors.js'
import { port } from '../arguments.js'
import { runs, subcommand } from '../command.js'
import { startTraffic } from '../demo/traffic.js'
import { loadWorker } from '../worker-module.js'
import { workUntilStopped } from './work.js'

/** `spillway dev`: something to look at, or one's own worker, on the database of this folder. */
export function devCommand(program: Command): void {
  runs<{ port?: number }>(
    subcommand(
      program,
      'dev [module]',
      'a database of this folder, the console, and a worker: yours, or one that delivers webhooks to a broken receiver',
    ).option('--port <port>', 'of the console and the API (default: 8080, or any free one)', port),
    async ({ database, out, options, close }, module) => {
      const client = database().spillway
      const server = await served(client, options.port)
      out.note(`the console is at ${server.url}, the API at ${server.url}/api/v1`)
      const traffic = module === undefined ? await startTraffic(client, (line) => out.note(line)) : undefined
      const config = traffic?.config ?? (await loadWorker(module!))
      const code = await workUntilStopped(client, out, config, module !== undefined)
      await traffic?.stop()
      await server.stop()
      await close()
      process.exit(code)
    },
    { needs: 'database' },
  )
}

const PORT = 8080

/** On the usual port; where that is taken and nobody asked for it, on any. */
async function served(spillway: Spillway, wanted: number | undefined): Promise<Listening> {
  const { listen } = await import('../../http/index.js')
  const on = (at: number) => listen({ spillway, access: 'open', port: at })
  try {
    return await on(wanted ?? PORT)
  } catch (error) {
    if (wanted === undefined && isSpillwayError(error) && error.code === 'invalid_option') return on(0)
    throw error
  }
}
