import type { Command } from 'commander'
import { exactJob } from '../../client/wire.js'
import type { Job } from '../../job/job.js'
import { showActed } from '../acted.js'
import { budget, timeAgo, whole } from '../arguments.js'
import { group, runs, subcommand } from '../command.js'
import { type FilterFlags, filterFlags, given } from '../dead-letter-filters.js'
import { attemptsOf, noDeadLetter, showJob, showPage } from '../job-views.js'
import { type RetryFlags, retryFlags, retryOptions } from '../retry-flags.js'
import { oneLine } from '../shown.js'
import { showTriage } from '../triage-views.js'
import { bulkCommands } from './dlq-bulk.js'
import { carryCommands } from './dlq-carry.js'
import { replayCommand } from './dlq-replay.js'
import { attentionCommands, reportCommands } from './dlq-reports.js'
import { triageCommands } from './dlq-triage.js'

interface ListFlags extends FilterFlags {
  readonly beforeId?: string
  readonly beforeDlqAt?: Date
  readonly limit?: number
  readonly cursor?: string
}

/** `spillway dlq …` */
export function dlqCommand(program: Command): void {
  const dlq = group(program, 'dlq', 'the dead-letter queue: jobs that were given up, and the way back')

  runs<{ queue?: string }>(
    subcommand(dlq, 'depth', 'count the dead letters, by queue').option('--queue <queue>', 'of this queue only'),
    async ({ client, out, options }) => {
      const queues = await client.dlq.depthByQueue(options.queue)
      for (const it of await client.dlq.capped()) {
        const isAsked = options.queue === undefined || options.queue === it.queue
        if (it.isNearlyFull && isAsked) out.note(`warning: ${nearlyFull(it)}`)
      }
      const total = queues.reduce((sum, it) => sum + it.depth, 0)
      if (out.isJson) return out.document({ total, queues })
      const rows = queues.map((it) => [oneLine(it.queue, 40), it.depth, out.time(it.oldestAt)])
      if (rows.length > 0) out.table(['QUEUE', 'DEPTH', 'OLDEST'], rows, '')
      out.line(`${rows.length > 0 ? '\n' : ''}${out.colors.bold('total')}  ${total}`)
    },
  )

  reportCommands(dlq)
  attentionCommands(dlq)

  runs<ListFlags>(
    filterFlags(subcommand(dlq, 'list', 'list dead letters, newest death first, without payloads'), { acts: false })
      .option('--before-dlq-at <time>', 'died before this time', timeAgo)
      .option('--before-id <id>', 'go on after this dead letter of the list')
      .option('--limit <rows>', 'rows of a page, up to 1000 (default: 50)', whole)
      .option('--cursor <cursor>', 'go on where the last page ended')
      .addHelpText(
        'after',
        '\nExamples:\n  spillway dlq list --queue billing --kind charge_card --since 2h\n  spillway dlq list --tag urgent --json',
      ),
    async ({ client, out, options }) => {
      const { queue, kind, tag, reason, cause, error, since, until, beforeId, beforeDlqAt, limit, cursor } = options
      const filter = given({ queue, kind, tag, reason, cause, error, since, until, beforeId, beforeDlqAt })
      const page = await client.dlq.list(filter, { limit, cursor })
      const head = ['ID', 'QUEUE', 'KIND', 'REASON', 'DIED', 'FAILED', 'GEN', 'ERROR']
      showPage(out, page, head, rowOf, 'no dead letters match')

      function rowOf(job: Job) {
        const start = [job.id, oneLine(job.queue, 24), oneLine(job.kind, 30), oneLine(job.dlq?.reason ?? '', 24)]
        const middle = [out.time(job.dlq?.dlqAt ?? null), attemptsOf(job), job.generation]
        const error = [job.dlq?.errorClass, job.dlq?.errorMessage].filter(Boolean).join(': ')
        return [...start, ...middle, oneLine(error, out.room(90))]
      }
    },
  )

  runs<{ payload: boolean }>(
    subcommand(dlq, 'get <id>', 'show one dead letter: why it died, each attempt, its payload').option(
      '--no-payload',
      'without the payload',
    ),
    async ({ client, out, options }, id) => {
      const job = await client.dlq.get(id!, { payload: options.payload })
      if (job === undefined) throw noDeadLetter(id!)
      const triage = await client.dlq.triageOf(id!)
      if (out.isJson) return out.document({ ...exactJob(job), triage: triage ?? null })
      showJob(out, job)
      if (triage) showTriage(out, triage)
    },
  )

  replayCommand(dlq)

  runs<RetryFlags>(
    retryFlags(subcommand(dlq, 'retry <id>', 'send a dead letter back to work, with a fresh budget'))
      .option('--budget <budget>', 'fresh, keep or extra:N (default: fresh)', budget)
      .addHelpText(
        'after',
        '\nExamples:\n  spillway dlq retry 800042\n  spillway dlq retry 800042 --queue billing-slow --run-at 10m --budget extra:3',
      ),
    async ({ client, out, options }, id) =>
      showActed(out, 'retried', await client.dlq.retry(id!, retryOptions(options))),
  )

  triageCommands(dlq)
  bulkCommands(dlq)
  carryCommands(dlq)
}

function nearlyFull({ queue, depth, maxRows }: { queue: string; depth: number; maxRows: number }): string {
  return `queue ${oneLine(queue, 40)} has ${depth} of at most ${maxRows} dead letters; above that the oldest are removed`
}
