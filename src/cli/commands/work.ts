import { EventEmitter, once } from 'node:events'
import type { Command } from 'commander'
import type { Spillway, SpillwayWorkerOptions } from '../../index.js'
import { port } from '../arguments.js'
import { runs, subcommand } from '../command.js'
import type { Output } from '../output.js'
import { stopSignal } from '../stop-signal.js'
import { printEvents } from '../worker-events.js'
import { loadWorker } from '../worker-module.js'

/** `spillway work MODULE` */
export function workCommand(program: Command): void {
  runs<{ verbose?: boolean; metricsPort?: number; metricsHost?: string }>(
    subcommand(program, 'work <module>', 'run jobs until SIGINT or SIGTERM, then stop in order')
      .option('--verbose', 'tell of every start too')
      .option('--metrics-port <port>', 'serve /metrics, /healthz and /readyz there, such as 9464; 0 takes any', port)
      .option('--metrics-host <address>', 'the address it listens on (default: 127.0.0.1)')
      .addHelpText(
        'after',
        '\nThe module says `export default { queues, jobs: [definition.handle(…)], onDeath? }`.\n\nExample:\n  spillway work ./worker.mjs',
      ),
    async ({ database, out, options, close }, module) => {
      const { metricsPort, metricsHost } = options
      const config = await loadWorker(module!)
      const onListening = (url: string) => {
        if (out.isJson) out.record({ at: new Date(), event: 'serving', url })
        else out.line(`serving ${url}/metrics`)
      }
      const metrics = { port: metricsPort ?? 0, host: metricsHost, onListening }
      const served = metricsPort === undefined ? config : { ...config, metrics }
      const code = await workUntilStopped(database().spillway, out, served, options.verbose === true)
      await close()
      // A handler that ignores its signal would keep the process, and with it the job, for ever.
      process.exit(code)
    },
    { needs: 'database', tellsTrouble: true },
  )
}

/**
 * Runs a worker until a signal, then stops it in order.
 *
 * @returns the exit code: 0, or 1 when handlers that ignore their signal held half the slots.
 */
export async function workUntilStopped(
  client: Spillway,
  out: Output,
  config: SpillwayWorkerOptions,
  isVerbose: boolean,
): Promise<number> {
  let isStuck = false
  const told = new EventEmitter<{ stuck: [] }>()
  const worker = client.worker({
    ...config,
    onStuck(event) {
      isStuck = true
      config.onStuck?.(event)
      told.emit('stuck')
    },
  })
  const stuck = once(told, 'stuck')
  printEvents(worker, out, isVerbose)
  const stop = stopSignal(stuck)
  const started = worker.start()
  // A signal during the start stops it too.
  await Promise.race([started, stop])
  await stop
  await worker.stop()
  await started
  return isStuck ? 1 : 0
}
