import type { Command } from 'commander'
import { runs, subcommand } from '../command.js'
import { noDeadLetter } from '../job-views.js'
import type { Output } from '../output.js'
import { type Replayed, replay } from '../replay.js'
import { block, json, span } from '../shown.js'
import { loadWorker } from '../worker-module.js'

/** `spillway dlq replay` */
export function replayCommand(dlq: Command): void {
  runs<{ local: string }>(
    subcommand(dlq, 'replay <id>', 'run the handler here, on a copy of the job; the store is not touched')
      .requiredOption('--local <module>', 'the worker module that has the handler')
      .addHelpText(
        'after',
        '\nExit codes: 0 where the attempt would do, 1 where it fails or gives the job up.\n\nExample:\n  spillway dlq replay 800042 --local ./worker.mjs',
      ),
    async ({ client, out, options, close }, id) => {
      const job = await client.dlq.get(id!)
      if (job === undefined) throw noDeadLetter(id!)
      const { jobs } = await loadWorker(options.local)
      // What the handler prints stays apart from the one document.
      if (out.isJson) process.stdout.write = process.stderr.write.bind(process.stderr)
      const replayed = await replay(job, jobs, (value) => out.note(`progress: ${json(value)}`))
      if (out.isJson) Reflect.deleteProperty(process.stdout, 'write')
      show(out, replayed)
      await close()
      // What the handler left open would keep the process.
      process.exit(replayed.failed ? 1 : 0)
    },
  )
}

function show(out: Output, { failed, ...replayed }: Replayed): void {
  if (out.isJson) {
    out.document(replayed)
    return
  }
  const { outcome, durationMs, error, details, result, delayMs, code } = replayed
  const color = failed ? out.colors.red : out.colors.green
  out.line(`${color(outcome)} after ${span(durationMs)}; the store was not touched`)
  if (code !== undefined) out.line(`code  ${block(code, '')}`)
  if (details !== undefined) out.line(`details\n${block(json(details, 2), '  ')}`)
  if (delayMs !== undefined) out.line(`it would come back in ${span(delayMs)}`)
  if (result !== undefined) out.line(`result\n${block(json(result, 2), '  ')}`)
  if (error === undefined) return
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  out.line(block([`${error.name}: ${error.message}`, ...frames].join('\n'), '  '))
  for (const cause of error.cause) out.line(block(`caused by ${cause.name}: ${cause.message}`, '  '))
}
