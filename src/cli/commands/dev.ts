import type { Command } from 'commander'
import { runs, subcommand } from '../command.js'
import { startTraffic } from '../demo/traffic.js'
import { loadWorker } from '../worker-module.js'
import { workUntilStopped } from './work.js'

/** `spillway dev`: something to look at, or one's own worker, on the database of this folder. */
export function devCommand(program: Command): void {
  runs(
    subcommand(
      program,
      'dev [module]',
      'a database of this folder and a worker on it: yours, or one that delivers webhooks to a broken receiver',
    ),
    async ({ database, out, close }, module) => {
      const client = database().spillway
      const traffic = module === undefined ? await startTraffic(client, (line) => out.note(line)) : undefined
      const config = traffic?.config ?? (await loadWorker(module!))
      const code = await workUntilStopped(client, out, config, module !== undefined)
      await traffic?.stop()
      await close()
      process.exit(code)
    },
    { needs: 'database' },
  )
}
