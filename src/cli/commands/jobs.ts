import { type Command, InvalidArgumentError } from 'commander'
import { SpillwayError } from '../../job/errors.js'
import type { Job } from '../../job/job.js'
import { isJobState, JOB_STATES, type JobState } from '../../job/states.js'
import { showActed } from '../acted.js'
import { budget, timeAhead, whole } from '../arguments.js'
import { group, runs, subcommand } from '../command.js'
import { attemptsOf, showJob, showPage } from '../job-views.js'
import { type RetryFlags, retryFlags, retryOptions } from '../retry-flags.js'
import { oneLine } from '../shown.js'
import { jobsBulkCommands } from './jobs-bulk.js'
import { editCommands } from './jobs-edit.js'
import { whyCommand } from './jobs-why.js'

const WAITS: ReadonlySet<JobState> = new Set(['available', 'scheduled', 'retryable'] as const)

/** `spillway jobs …` */
export function jobsCommand(program: Command): void {
  const jobs = group(program, 'jobs', 'look at jobs in every state, and steer them')

  runs<{ state?: JobState; queue?: string; kind?: string; limit?: number; cursor?: string }>(
    subcommand(jobs, 'list', 'list jobs, newest first, without payloads')
      .option('--state <state>', `one of ${JOB_STATES.join(', ')}`, state)
      .option('--queue <queue>', 'of this queue only')
      .option('--kind <kind>', 'of this kind only')
      .option('--limit <rows>', 'rows of a page, up to 1000 (default: 50)', whole)
      .option('--cursor <cursor>', 'go on where the last page ended')
      .addHelpText('after', '\nExample:\n  spillway jobs list --state retryable --queue billing'),
    async ({ client, out, options }) => {
      const { state, queue, kind, limit, cursor } = options
      const filter = {
        ...(state && { state }),
        ...(queue !== undefined && { queue }),
        ...(kind !== undefined && { kind }),
      }
      const page = await client.jobs.list(filter, { limit, cursor })
      const head = ['ID', 'STATE', 'QUEUE', 'KIND', 'PRIORITY', 'FAILED', 'CREATED', 'DUE']
      showPage(out, page, head, rowOf, 'no jobs match')

      function rowOf(job: Job) {
        const isLater = job.state === 'scheduled' || job.state === 'retryable'
        const due = isLater ? out.time(job.runAt) : out.time(job.callback?.waitsUntil ?? null)
        return [
          job.id,
          job.state,
          oneLine(job.queue, 30),
          oneLine(job.kind, 40),
          job.priority,
          attemptsOf(job),
          out.time(job.createdAt),
          due,
        ]
      }
    },
  )

  runs<{ payload: boolean }>(
    subcommand(jobs, 'get <id>', 'show one job, wherever it is, with its history').option(
      '--no-payload',
      'without the payload',
    ),
    async ({ client, out, options }, id) => {
      const job = await client.jobs.get(id!, { payload: options.payload })
      if (job === undefined)
        throw new SpillwayError('not_found', `no job ${oneLine(id!, 40)}: it was never there, or is gone`)
      // What waits may wait because of its queue.
      const queue = WAITS.has(job.state) ? await client.queues.get(job.queue) : undefined
      showJob(out, job, queue?.pausedAt ? queue : undefined)
    },
  )

  runs(subcommand(jobs, 'counts', 'count the jobs of each state'), async ({ client, out }) => {
    const counts = await client.jobs.counts()
    if (out.isJson) return out.document(counts)
    out.table(['STATE', 'JOBS'], Object.entries(counts), '')
  })

  runs<RetryFlags>(
    retryFlags(
      subcommand(jobs, 'retry <id>', 'send a given-up job back to work, with the attempts it has left'),
    ).option('--budget <budget>', 'fresh, keep or extra:N (default: keep)', budget),
    async ({ client, out, options }, id) =>
      showActed(out, 'retried', await client.jobs.retry(id!, retryOptions(options))),
  )

  runs<{ reason?: string }>(
    subcommand(jobs, 'cancel <id>', 'end a job that has not ended; a running one is aborted').option(
      '--reason <text>',
      'why; kept with the job',
    ),
    async ({ client, out, options }, id) =>
      showActed(out, 'cancelled', await client.jobs.cancel(id!, { reason: options.reason })),
  )

  runs<{ reason?: string }>(
    subcommand(jobs, 'promote <id>', 'make a scheduled or retryable job available now').option(
      '--reason <text>',
      'why',
    ),
    async ({ client, out, options }, id) =>
      showActed(out, 'promoted', await client.jobs.promote(id!, { reason: options.reason })),
  )

  runs<{ runAt: Date; reason?: string }>(
    subcommand(jobs, 'reschedule <id>', 'give a waiting job another due time')
      .requiredOption('--run-at <time>', 'when it is due: ISO text, or a duration from now as 5m', timeAhead)
      .option('--reason <text>', 'why')
      .addHelpText('after', '\nExample:\n  spillway jobs reschedule 42 --run-at 2030-01-01T09:00:00Z'),
    async ({ client, out, options }, id) => {
      const acted = await client.jobs.reschedule(id!, options.runAt, { reason: options.reason })
      showActed(out, 'rescheduled', acted)
    },
  )

  whyCommand(jobs)
  editCommands(jobs)
  jobsBulkCommands(jobs)
}

function state(text: string): JobState {
  if (isJobState(text)) return text
  throw new InvalidArgumentError(`Accepted are ${JOB_STATES.join(', ')}.`)
}
