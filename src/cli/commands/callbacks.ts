import type { Command } from 'commander'
import type { Answered } from '../../store/store.js'
import { duration, jsonFrom } from '../arguments.js'
import { group, runs, subcommand } from '../command.js'
import type { Output } from '../output.js'
import { oneLine } from '../shown.js'

/** `spillway callbacks …` */
export function callbacksCommand(program: Command): void {
  const callbacks = group(program, 'callbacks', 'answer what jobs wait for, by the token their handler gave out')

  runs<{ value?: string }>(
    subcommand(callbacks, 'complete <token>', 'answer with a value: the job goes on')
      .option('--value <json>', 'JSON, @file or - for stdin, at most 64 KiB (default: null)')
      .addHelpText('after', '\nExample:\n  spillway callbacks complete "$TOKEN" --value \'{"ok":true}\''),
    async ({ client, out, options }, token) => {
      const value = options.value === undefined ? null : jsonFrom(options.value, 'value')
      showAnswered(out, 'completed', await client.callbacks.complete(token!, value))
    },
  )

  runs<{ error?: string; name?: string; code?: string }>(
    subcommand(callbacks, 'fail <token>', 'answer with a failure: the attempt has failed')
      .option('--error <text>', 'what went wrong')
      .option('--name <name>', 'its class (default: CallbackFailed)')
      .option('--code <code>', 'its code'),
    async ({ client, out, options }, token) => {
      const { error: message = 'the callback failed', name, code } = options
      showAnswered(out, 'failed', await client.callbacks.fail(token!, { message, name, code }))
    },
  )

  runs<{ timeout?: number }>(
    subcommand(callbacks, 'heartbeat <token>', 'move its time-out further away').option(
      '--timeout <duration>',
      'from now, as 10m (default: what it was made with)',
      duration,
    ),
    async ({ client, out, options }, token) => {
      const extended = await client.callbacks.heartbeat(token!, { timeout: options.timeout })
      if (out.isJson) return out.document(extended)
      const until = extended.waitsUntil === null ? 'for good' : `until ${out.longTime(extended.waitsUntil)}`
      out.line(`job ${extended.jobId} waits for callback ${oneLine(extended.name, 60)} ${until}`)
    },
  )
}

function showAnswered(out: Output, verb: string, answered: Answered): void {
  if (out.isJson) {
    out.document(answered)
    return
  }
  const { name, jobId, jobState } = answered
  out.line(`${verb} callback ${oneLine(name, 60)}: job ${jobId} is ${jobState}`)
}
