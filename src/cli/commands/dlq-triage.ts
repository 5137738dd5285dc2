import type { Command } from 'commander'
import type { CauseTarget } from '../../client/triage.js'
import { SpillwayError } from '../../job/errors.js'
import type { Triage } from '../../store/store.js'
import { timeAhead } from '../arguments.js'
import { runs, subcommand } from '../command.js'
import type { Output } from '../output.js'
import { oneLine } from '../shown.js'
import { showTriage } from '../triage-views.js'

interface TargetFlags {
  readonly queue?: string
  readonly cause?: string
  readonly reason?: string
  readonly clear?: boolean
}

/** `spillway dlq ack|note|mute|resolve`, for one dead letter or for a cause in a queue. */
export function triageCommands(dlq: Command): void {
  runs<TargetFlags>(
    target(subcommand(dlq, 'ack [id]', 'say that you have looked at a dead letter, or at a cause'), 'ack'),
    async ({ client, out, options }, id) => {
      const { clear, reason } = options
      say(
        out,
        clear ? 'no longer acknowledged' : 'acknowledged',
        await client.dlq.ack(targetOf(options, id), { clear, reason }),
      )
    },
  )

  runs<TargetFlags & { text?: string }>(
    target(subcommand(dlq, 'note [id]', 'write down what you found out about it'), 'note').option(
      '--text <text>',
      'the note, in place of the one there is',
    ),
    async ({ client, out, options }, id) => {
      const { text, clear, reason } = options
      if ((text === undefined) === (clear !== true)) throw oneOf('--text', '--clear')
      say(out, 'noted', await client.dlq.note(targetOf(options, id), text ?? null, { reason }))
    },
  )

  runs<TargetFlags & { until?: Date }>(
    target(subcommand(dlq, 'mute [id]', 'mark it as known noise for a while'), 'mute').option(
      '--until <time>',
      'ISO text, or a duration from now as 7d',
      timeAhead,
    ),
    async ({ client, out, options }, id) => {
      const { until, clear, reason } = options
      if ((until === undefined) === (clear !== true)) throw oneOf('--until', '--clear')
      say(
        out,
        clear ? 'no longer muted' : 'muted',
        await client.dlq.mute(targetOf(options, id), until ?? null, { reason }),
      )
    },
  )

  runs<TargetFlags & { link?: string }>(
    target(
      subcommand(dlq, 'resolve [id]', 'say that it is fixed; a cause that fails again shows as regressed'),
      'resolve',
    ).option('--link <url>', 'where the fix is'),
    async ({ client, out, options }, id) => {
      const { link, clear, reason } = options
      say(
        out,
        clear ? 'no longer resolved' : 'resolved',
        await client.dlq.resolve(targetOf(options, id), { link, clear, reason }),
      )
    },
  )
}

function target(command: Command, verb: string): Command {
  return command
    .option('--cause <cause>', 'all of this cause, also those to come; `dlq groups` lists causes')
    .option('--queue <queue>', 'the queue of the cause')
    .option('--clear', 'take it back')
    .option('--reason <text>', 'why; kept in the audit log')
    .addHelpText(
      'after',
      `\nExamples:\n  spillway dlq ${verb} 800042${EXAMPLE[verb] ?? ''}\n  spillway dlq ${verb} --queue billing --cause 3f2a91c0d4e5b6a7${EXAMPLE[verb] ?? ''}`,
    )
}

const EXAMPLE: Readonly<Record<string, string>> = {
  note: " --text 'the card processor was down'",
  mute: ' --until 7d',
  resolve: ' --link https://example.com/pull/42',
}

/** @throws `invalid_option` where neither an id nor a whole cause is named, or both are. */
function targetOf({ queue, cause }: TargetFlags, id: string | undefined): string | CauseTarget {
  if (id !== undefined && queue === undefined && cause === undefined) return id
  if (id === undefined && queue !== undefined && cause !== undefined) return { queue, cause }
  throw new SpillwayError('invalid_option', 'cannot tell what is meant: name one ID, or --queue and --cause together')
}

function oneOf(value: string, clear: string): SpillwayError {
  return new SpillwayError('invalid_option', `cannot do nothing and not both: give ${value} or ${clear}`)
}

function say(out: Output, what: string, triage: Triage): void {
  if (!out.isJson) out.line(oneLine(what))
  showTriage(out, triage)
}
