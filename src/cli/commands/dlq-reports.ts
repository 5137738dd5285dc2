import type { Command } from 'commander'
import type { GroupFilter } from '../../store/store.js'
import { duration, timeAgo, whole } from '../arguments.js'
import { runs, subcommand } from '../command.js'
import { given } from '../dead-letter-filters.js'
import { nextPageCommand } from '../next-page.js'
import { oneLine } from '../shown.js'

interface GroupFlags {
  readonly queue?: string
  readonly kind?: string
  readonly triage?: GroupFilter['triage']
  readonly limit?: number
  readonly cursor?: string
}

interface HistoryFlags {
  readonly queue?: string
  readonly since?: Date
  readonly by?: 'minute' | 'hour'
}

/** `spillway dlq groups|history` */
export function reportCommands(dlq: Command): void {
  runs<GroupFlags>(
    subcommand(dlq, 'groups', 'dead letters by cause, the largest group first')
      .option('--queue <queue>', 'of this queue')
      .option('--kind <kind>', 'of this kind')
      .option(
        '--triage <status>',
        'new, acknowledged, muted, resolved or regressed; unmuted: all but muted; unreviewed: with deaths nobody has looked at',
      )
      .option('--limit <rows>', 'rows of a page, up to 1000 (default: 50)', whole)
      .option('--cursor <cursor>', 'go on where the last page ended'),
    async ({ client, out, options }) => {
      const { queue, kind, triage, limit, cursor } = options
      const page = await client.dlq.groups(given({ queue, kind, triage }), { limit, cursor })
      if (out.isJson) return out.document(page)
      const rows = page.items.map((it) => [
        it.count,
        it.unreviewed,
        it.status === 'regressed' ? out.colors.red('regressed') : it.status,
        it.cause,
        oneLine(it.queue, 24),
        oneLine(it.kind, 30),
        oneLine(it.reason, 24),
        out.time(it.lastAt),
        sparks(it.trend),
        it.sampleId,
        oneLine(it.title ?? '', out.room(145)),
      ])
      const head = [
        'JOBS',
        'UNREVIEWED',
        'STATUS',
        'CAUSE',
        'QUEUE',
        'KIND',
        'REASON',
        'LAST',
        'LAST 24 H',
        'ONE OF THEM',
        'ERROR',
      ]
      out.table(head, rows, 'no dead letters')
      if (page.cursor !== null) out.line(`\nnext page: ${nextPageCommand(process.argv.slice(2), page.cursor)}`)
    },
  )

  runs<HistoryFlags>(
    subcommand(dlq, 'history', 'what came into the dead-letter queue and what left it')
      .option('--queue <queue>', 'of this queue')
      .option('--since <time>', 'from there on: ISO text, or a duration ago, up to 90d (default: 24h)', timeAgo)
      .option('--by <step>', 'minute or hour (default: hour)'),
    async ({ client, out, options }) => {
      const { queue, since, by } = options
      const flows = await client.dlq.history(given({ queue, since, by }))
      if (out.isJson) return out.document({ items: flows })
      const rows = flows.map((it) => [
        it.at.toISOString(),
        it.arrived,
        it.departed,
        counted(it.arrivedBy),
        counted(it.departedBy),
      ])
      out.table(['FROM', 'ARRIVED', 'LEFT', 'ARRIVED AS', 'LEFT AS'], rows, 'nothing came or left')
    },
  )
}

/** `spillway dlq expiring|unreviewed`: what to look at before it goes. */
export function attentionCommands(dlq: Command): void {
  runs<{ within?: number; queue?: string }>(
    subcommand(dlq, 'expiring', 'dead letters whose retention lapses soon, by queue')
      .option('--within <duration>', 'how soon (default: 7d)', duration)
      .option('--queue <queue>', 'of this queue only'),
    async ({ client, out, options }) => {
      const { within, queue } = options
      const items = await client.dlq.expiring(given({ within, queue }))
      if (out.isJson) return out.document({ items })
      const rows = items.map((it) => [oneLine(it.queue, 40), it.count, it.firstAt.toISOString()])
      out.table(['QUEUE', 'LEAVE', 'FIRST'], rows, 'none leaves so soon')
    },
  )

  runs<{ queue?: string }>(
    subcommand(dlq, 'unreviewed', 'dead letters nobody has looked at, by queue').option(
      '--queue <queue>',
      'of this queue only',
    ),
    async ({ client, out, options }) => {
      const items = await client.dlq.unreviewed(options.queue)
      if (out.isJson) return out.document({ items })
      const rows = items.map((it) => [oneLine(it.queue, 40), it.unreviewed])
      out.table(['QUEUE', 'UNREVIEWED'], rows, 'somebody has looked at all of them')
    },
  )
}

const BARS = '▁▂▃▄▅▆▇█'

/** One character an hour, the highest as high as the largest number. */
function sparks(trend: readonly number[]): string {
  const most = Math.max(1, ...trend)
  return trend.map((count) => (count === 0 ? '.' : BARS[Math.ceil((count / most) * 8) - 1])).join('')
}

function counted(by: Readonly<Record<string, number>>): string {
  return Object.entries(by)
    .map(([what, count]) => `${oneLine(what, 24)} ${count}`)
    .join(', ')
}
