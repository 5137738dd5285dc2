import type { Command } from 'commander'
import type { OnConflict } from '../../client/new-job.js'
import { collect, duration, jsonFrom, timeAhead, whole } from '../arguments.js'
import { runs, subcommand } from '../command.js'
import { oneLine } from '../shown.js'

interface EnqueueFlags {
  readonly payload?: string
  readonly queue?: string
  readonly priority?: number
  readonly runAt?: Date
  readonly delay?: number
  readonly deadline?: Date
  readonly timeout?: number
  readonly tag?: readonly string[]
  readonly unique?: string
  readonly onConflict?: OnConflict
  readonly park?: true
  readonly maxAttempts?: number
  readonly metadata?: string
  readonly payloadVersion?: number
}

/** `spillway enqueue KIND` */
export function enqueueCommand(program: Command): void {
  runs<EnqueueFlags>(
    subcommand(program, 'enqueue <kind>', 'put a job in')
      .option('--payload <json>', 'what it works on: JSON, @file or - for stdin (default: {})')
      .option('--queue <queue>', 'the queue (default: default)')
      .option('--priority <number>', '0 to 100, lower runs first (default: 50)', whole)
      .option('--run-at <time>', 'when it is due: ISO text, or a duration from now as 5m', timeAhead)
      .option('--delay <duration>', 'how long from now until it is due', duration)
      .option('--deadline <time>', 'until when it must be done: ISO text, or a duration from now', timeAhead)
      .option('--timeout <duration>', 'limit of one attempt (default: none)', duration)
      .option('--tag <tag>', 'may be given again', collect)
      .option('--unique <key>', 'only one job that has not ended has this key')
      .option('--on-conflict <what>', 'when another has it: skip, fail or replace (default: skip)')
      .option('--park', 'hold it with the others while its fingerprint is quarantined, instead of refusing it')
      .option('--max-attempts <number>', 'attempts that may fail (default: 20)', whole)
      .option('--metadata <json>', 'shown with the job: JSON, @file or - for stdin')
      .option('--payload-version <number>', "version of the payload's shape (default: 1)", whole)
      .addHelpText(
        'after',
        `\nExamples:\n  spillway enqueue charge_card --payload '{"customer":"c_1","cents":4200}' --queue billing --tag urgent\n  spillway enqueue send_report --payload @report.json --delay 5m`,
      ),
    async ({ client, out, options }, kind) => {
      const { payload = '{}', park = false, metadata, tag, unique, onConflict, payloadVersion, ...settings } = options
      const { queue, priority, runAt, delay, deadline, timeout, maxAttempts } = settings
      const {
        id,
        inserted,
        parked = false,
      } = await client.enqueue(kind!, jsonFrom(payload, 'payload'), {
        ...{ queue, priority, runAt, delay, deadline, timeout, maxAttempts, tags: tag, version: payloadVersion },
        ...(unique === undefined ? {} : { unique: { key: unique, onConflict } }),
        ...(park ? { onQuarantine: 'park' } : {}),
        ...(metadata === undefined ? {} : { metadata: jsonFrom(metadata, 'metadata') }),
      })
      if (out.isJson) return out.document({ id, inserted, ...(parked ? { parked } : {}) })
      if (parked) return out.line(`parked job ${id} (${oneLine(kind!)}): its fingerprint is quarantined`)
      out.line(inserted ? `enqueued job ${id} (${oneLine(kind!)})` : `nothing enqueued: job ${id} has the unique key`)
    },
  )
}
