import type { Command } from 'commander'
import { SpillwayError } from '../../job/errors.js'
import type { Acted } from '../../store/store.js'
import { showActed } from '../acted.js'
import { jsonFrom, timeAhead, whole } from '../arguments.js'
import { runs, subcommand } from '../command.js'
import { given } from '../dead-letter-filters.js'

interface EditFlags {
  readonly payload?: string
  readonly priority?: number
  readonly queue?: string
  readonly reason?: string
}

interface PayloadFlags extends EditFlags {
  readonly unchecked?: boolean
}

interface CloneFlags extends EditFlags {
  readonly runAt?: Date
  readonly maxAttempts?: number
  readonly deadline?: Date
}

/** `spillway jobs kill|purge|clone|edit` */
export function editCommands(jobs: Command): void {
  runs<{ reason?: string }>(
    subcommand(jobs, 'kill <id>', 'give up a job that waits or is held: it becomes a dead letter').option(
      '--reason <text>',
      'its dlq reason (default: manual)',
    ),
    async ({ client, out, options }, id) =>
      showActed(out, 'killed', await client.jobs.kill(id!, { reason: options.reason })),
  )

  runs<CloneFlags>(
    subcommand(jobs, 'clone <id>', 'make a new job of one that was completed or cancelled')
      .option('--queue <queue>', 'the queue it goes to')
      .option('--priority <number>', '0 to 100, lower runs first', whole)
      .option('--run-at <time>', 'run it then: ISO text, or a duration from now as 5m', timeAhead)
      .option('--max-attempts <number>', 'attempts that may fail', whole)
      .option('--deadline <time>', 'a deadline: ISO text, or a duration from now', timeAhead)
      .option('--payload <json>', 'in place of the stored payload: JSON, @file or - for stdin')
      .option('--reason <text>', 'why; kept in the audit log'),
    async ({ client, out, options }, id) => {
      const { queue, priority, runAt, maxAttempts, deadline, reason } = options
      const payload = options.payload === undefined ? {} : { payload: jsonFrom(options.payload, 'payload') }
      const settings = given({ queue, priority, runAt, maxAttempts, deadline, reason })
      const clone = await client.jobs.clone(id!, { ...settings, ...payload })
      if (out.isJson) return out.document(clone)
      out.line(`cloned job ${clone.originId}: job ${clone.id} is ${clone.state}`)
      for (const warning of clone.warnings ?? []) out.note(`warning: ${warning}`)
    },
  )

  runs<PayloadFlags>(
    subcommand(jobs, 'edit <id>', 'change the payload, priority or queue of a job, in the state it is in')
      .option('--payload <json>', 'JSON, @file or - for stdin; what it had before is kept')
      .option('--priority <number>', '0 to 100, lower runs first; of a job that waits', whole)
      .option('--queue <queue>', 'of a job that waits')
      .option('--unchecked', 'store the payload whatever the schema says that the workers publish')
      .option('--reason <text>', 'why; kept in the audit log')
      .addHelpText(
        'after',
        "\nExample:\n  spillway jobs edit 800042 --payload @repaired.json --reason 'amount in cents'",
      ),
    async ({ client, out, options }, id) => {
      const { priority, queue, reason, unchecked } = options
      const payload = options.payload === undefined ? undefined : { value: jsonFrom(options.payload, 'payload') }
      const place = given({ priority, queue })
      if (payload === undefined && Object.keys(place).length === 0) {
        throw new SpillwayError('invalid_option', 'cannot edit the job: name --payload, --priority or --queue')
      }
      // What has conditions goes first, so that a refusal leaves the job as it was.
      const moved = Object.keys(place).length === 0 ? {} : await client.jobs.edit(id!, place, { reason })
      const edited = payload && (await client.jobs.editPayload(id!, payload.value, { reason, unchecked }))
      showActed(out, 'edited', { ...moved, ...edited } as Acted)
      if (edited?.checked === false && !out.isJson)
        out.note('the payload was not checked: no worker publishes its schema')
    },
  )
}
