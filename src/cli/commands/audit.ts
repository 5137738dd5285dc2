import type { Command } from 'commander'
import { timeAgo, whole } from '../arguments.js'
import { group, runs, subcommand } from '../command.js'
import { given } from '../dead-letter-filters.js'
import { nextPageCommand } from '../next-page.js'
import { json, oneLine } from '../shown.js'

interface AuditFlags {
  readonly action?: string
  readonly actor?: string
  readonly since?: Date
  readonly limit?: number
  readonly cursor?: string
}

/** `spillway audit …` */
export function auditCommand(program: Command): void {
  const audit = group(program, 'audit', 'who did what')

  runs<AuditFlags>(
    subcommand(audit, 'list', 'list the actions that changed something, newest first')
      .option('--action <action>', 'such as retry, purge, set_queue')
      .option('--actor <name>', 'done by them')
      .option('--since <time>', 'from there on: ISO text, or a duration ago as 2h', timeAgo)
      .option('--limit <rows>', 'rows of a page, up to 1000 (default: 50)', whole)
      .option('--cursor <cursor>', 'go on where the last page ended'),
    async ({ client, out, options }) => {
      const { action, actor, since, limit, cursor } = options
      const page = await client.audit.list(given({ action, actor, since }), { limit, cursor })
      if (out.isJson) return out.document(page)
      const rows = page.items.map((it) => [
        out.time(it.at),
        oneLine(it.actor, 30),
        it.action,
        oneLine(json(it.target), 60),
        oneLine(json(it.result), 60),
        oneLine(it.reason ?? '', out.room(150)),
      ])
      out.table(['WHEN', 'WHO', 'ACTION', 'TARGET', 'RESULT', 'REASON'], rows, 'nobody did anything')
      if (page.cursor !== null) out.line(`\nnext page: ${nextPageCommand(process.argv.slice(2), page.cursor)}`)
    },
  )
}
