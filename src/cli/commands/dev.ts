import type { Command } from 'commander'
import { SpillwayError } from '../../index.js'
import { runs, subcommand } from '../command.js'
import { loadWorker } from '../worker-module.js'
import { workUntilStopped } from './work.js'

/** Where the demo worker lies in this package; a variable, because it need not be there. */
const DEMO = new URL('../../demo/worker.js', import.meta.url)

/** `spillway dev` */
export function devCommand(program: Command): void {
  runs(
    subcommand(program, 'dev [module]', 'a database of this folder and a worker: the demo one, or yours'),
    async ({ client, out, close }, module) => {
      const config = module === undefined ? await demoWorker() : await loadWorker(module)
      const code = await workUntilStopped(client, out, config, true)
      await close()
      process.exit(code)
    },
  )
}

async function demoWorker() {
  try {
    return ((await import(DEMO.href)) as { default: Awaited<ReturnType<typeof loadWorker>> }).default
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new SpillwayError(
      'invalid_option',
      'the demo worker is not part of this installation; `spillway dev ./worker.mjs` runs yours on the database of this folder',
      { cause: error },
    )
  }
}
