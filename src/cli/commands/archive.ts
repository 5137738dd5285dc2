import { once } from 'node:events'
import type { Command } from 'commander'
import { exactJob } from '../../client/wire.js'
import { SpillwayError } from '../../job/errors.js'
import type { ColdFilter, ColdJob, Page } from '../../store/store.js'
import { showActed } from '../acted.js'
import { timeAgo, whole } from '../arguments.js'
import { group, runs, subcommand } from '../command.js'
import { canAsk, confirm } from '../confirm.js'
import { given } from '../dead-letter-filters.js'
import { showJob } from '../job-views.js'
import { nextPageCommand } from '../next-page.js'
import type { Output } from '../output.js'
import { oneLine } from '../shown.js'

interface ColdFlags {
  readonly queue?: string
  readonly kind?: string
  readonly state?: ColdFilter['state']
  readonly tag?: string
  readonly cause?: string
  readonly reason?: string
  readonly since?: Date
  readonly until?: Date
  readonly limit?: number
  readonly cursor?: string
}

/** `spillway archive …` */
export function archiveCommand(program: Command): void {
  const archive = group(program, 'archive', 'jobs that outlived their retention, of queues that keep them for audits')

  runs<ColdFlags>(
    pages(filters(subcommand(archive, 'list', 'list archived jobs, newest first, without payloads'))),
    async ({ client, out, options }) => {
      const { limit, cursor } = options
      showPage(out, await client.archive.list(filterOf(options), { limit, cursor }))
    },
  )

  runs<ColdFlags>(
    pages(filters(subcommand(archive, 'search <text>', 'the same with this text in the error'))),
    async ({ client, out, options }, text) => {
      const { limit, cursor } = options
      showPage(out, await client.archive.search(text!, filterOf(options), { limit, cursor }))
    },
  )

  runs(subcommand(archive, 'get <id>', 'show one archived job, whole'), async ({ client, out }, id) => {
    const job = await client.archive.get(id!)
    if (job === undefined) throw notThere(id!)
    showJob(out, job)
    if (out.isJson) return
    out.line('')
    out.pairs([
      ['archived', out.longTime(job.archivedAt)],
      ['because', WHY[job.why]],
      ['kept until', job.keepUntil === null ? 'for good' : out.longTime(job.keepUntil)],
    ])
  })

  runs(
    subcommand(archive, 'months', 'list the months of the archive, and which may be pruned'),
    async ({ client, out }) => {
      const items = await client.archive.months()
      if (out.isJson) return out.document({ items })
      const rows = items.map((it) => [
        it.month,
        it.rows,
        it.keepUntil === null ? 'for good' : it.keepUntil.toISOString(),
        it.isPrunable ? 'yes' : 'no',
      ])
      out.table(['MONTH', 'JOBS', 'KEPT UNTIL', 'PRUNABLE'], rows, 'the archive is empty')
    },
  )

  runs<ColdFlags>(
    filters(subcommand(archive, 'export', 'write archived jobs to stdout, whole, one JSON document a line')),
    async ({ client, options }) => {
      for await (const line of client.archive.export(filterOf(options))) {
        if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain')
      }
    },
  )

  runs<{ reason?: string }>(
    subcommand(archive, 'restore <id>', 'bring an archived dead letter back into the dead-letter queue').option(
      '--reason <text>',
      'why; kept in its history and in the audit log',
    ),
    async ({ client, out, options }, id) =>
      showActed(out, 'restored', await client.archive.restore(id!, { reason: options.reason })),
  )

  runs<{ reason?: string; yes?: boolean }>(
    subcommand(
      archive,
      'prune <month>',
      'remove a month for good, if every job in it has outlived its archive retention',
    )
      .option('--reason <text>', 'why; kept in the audit log')
      .option('--yes', 'on a terminal: do not ask')
      .addHelpText('after', '\nExample:\n  spillway archive prune 2026-01'),
    async ({ client, out, options }, month) => {
      if (!options.yes && canAsk(out)) await confirm(`remove ${oneLine(month!, 20)} from the archive for good?`)
      const pruned = await client.archive.prune(month!, { reason: options.reason })
      if (out.isJson) return out.document(pruned)
      out.line(`removed ${pruned.month}: ${pruned.rows} jobs`)
    },
  )
}

const WHY = { expired: 'its retention lapsed', evicted: 'the cap of its queue on dead letters was reached' } as const

function filters(command: Command): Command {
  return command
    .option('--queue <queue>', 'of this queue')
    .option('--kind <kind>', 'of this kind')
    .option('--state <state>', 'that were completed, failed, cancelled, archived, discarded, …')
    .option('--tag <tag>', 'that have this tag')
    .option('--cause <cause>', 'that died of this cause')
    .option('--reason <reason>', 'that ended for this reason')
    .option('--since <time>', 'archived at or after: ISO text, or a duration ago as 30d', timeAgo)
    .option('--until <time>', 'archived before', timeAgo)
}

function pages(command: Command): Command {
  return command
    .option('--limit <rows>', 'rows of a page, up to 1000 (default: 50)', whole)
    .option('--cursor <cursor>', 'go on where the last page ended')
}

function filterOf({ queue, kind, state, tag, cause, reason, since, until }: ColdFlags): ColdFilter {
  return given({ queue, kind, state, tag, cause, reason, since, until })
}

function showPage(out: Output, page: Page<ColdJob>): void {
  if (out.isJson) {
    out.document({ ...page, items: page.items.map(exactJob) })
    return
  }
  const rows = page.items.map((job) => [
    job.id,
    oneLine(job.queue, 24),
    oneLine(job.kind, 30),
    job.state,
    oneLine(job.dlq?.reason ?? job.reason ?? '', 24),
    out.time(job.archivedAt),
    job.keepUntil === null ? 'for good' : out.time(job.keepUntil),
    oneLine([job.dlq?.errorClass, job.dlq?.errorMessage].filter(Boolean).join(': '), out.room(120)),
  ])
  const head = ['ID', 'QUEUE', 'KIND', 'WAS', 'REASON', 'ARCHIVED', 'KEPT UNTIL', 'ERROR']
  out.table(head, rows, page.partial ? 'none of the rows looked at matches' : 'no archived jobs match')
  if (page.cursor !== null) out.line(`\nnext page: ${nextPageCommand(process.argv.slice(2), page.cursor)}`)
}

function notThere(id: string): SpillwayError {
  return new SpillwayError(
    'not_found',
    `no archived job ${oneLine(id, 40)}; \`spillway jobs get\` finds a job that is not archived`,
  )
}
