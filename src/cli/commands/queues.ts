import type { Command } from 'commander'
import type { PolicyInput } from '../../client/queues.js'
import type { Duration } from '../../job/duration.js'
import type { StoredQueue } from '../../store/store.js'
import { duration, flag, limit, retention, timeAgo, whole } from '../arguments.js'
import { group, runs, subcommand } from '../command.js'
import type { Cell, Output } from '../output.js'
import { pausedText } from '../paused.js'
import { oneLine, span } from '../shown.js'

interface SetFlags {
  readonly dlqEnabled?: boolean
  readonly dlqRetention?: Duration | null
  readonly completedRetention?: Duration | null
  readonly failedRetention?: Duration | null
  readonly cancelledRetention?: Duration | null
  readonly binRetention?: Duration | null
  readonly heldRetention?: Duration | null
  readonly archiveRetention?: Duration | null
  readonly dlqMaxRows?: number | null
  readonly keepUnreviewed?: boolean
  readonly coldArchive?: boolean
  readonly maxGenerations?: number
  readonly crashLimit?: number
  readonly crashWindow?: number
  readonly unservedAfter?: number
  readonly reason?: string
}

/** `spillway queues …` */
export function queuesCommand(program: Command): void {
  const queues = group(program, 'queues', 'queues, their policy, and their brakes')

  runs(subcommand(queues, 'list', 'list the queues that have jobs or a policy'), async ({ client, out }) => {
    const all = await client.queues.list()
    if (out.isJson) return out.document({ items: all })
    const rows = all.map((stored) => {
      const { queue, policy, counts = {}, activity } = stored
      return [
        oneLine(queue, 40),
        counts.available ?? 0,
        (counts.scheduled ?? 0) + (counts.retryable ?? 0),
        counts.running ?? 0,
        activity?.completedPerMinute,
        out.time(activity?.oldestAt ?? null),
        policy.dlqEnabled ? (counts.archived ?? 0) : 'off',
        keptFor(policy.retention.dlq),
        out.colors.yellow(oneLine(pausedText(out, stored), out.room(120))),
      ]
    })
    out.table(
      ['QUEUE', 'AVAILABLE', 'WAITING', 'RUNNING', 'A MINUTE', 'OLDEST', 'DEAD', 'DEAD KEPT', 'PAUSED'],
      rows,
      'no queues yet',
    )
  })

  runs(subcommand(queues, 'get <queue>', 'show the policy of a queue'), async ({ client, out }, queue) => {
    showQueue(out, await client.queues.get(queue!))
  })

  runs(
    subcommand(queues, 'unserved', 'list kinds whose jobs wait while no worker of their queue serves them'),
    async ({ client, out }) => {
      const all = await client.queues.unserved()
      if (out.isJson) return out.document({ items: all })
      const rows = all.map((it) => {
        const left = Math.max(0, it.limitMs - it.waitedMs)
        return [oneLine(it.queue, 40), oneLine(it.kind, 40), it.version, span(it.waitedMs), span(left)]
      })
      out.table(['QUEUE', 'KIND', 'VERSION', 'UNSERVED FOR', 'GIVEN UP IN'], rows, 'every kind that waits is served')
    },
  )

  runs<{ queue?: string; since?: Date }>(
    subcommand(queues, 'removed', 'how many jobs left for good, by retention, a cap, a purge, and for which reason')
      .option('--queue <queue>', 'of this queue only')
      .option('--since <time>', 'from there on: ISO text, or a duration ago, up to 90d (default: 24h)', timeAgo),
    async ({ client, out, options }) => {
      const { queue, since } = options
      const all = await client.queues.removed(given({ queue, since }))
      if (out.isJson) return out.document({ items: all })
      const rows = all.map((it) => [oneLine(it.queue, 40), it.why, oneLine(it.reason, 40), it.count])
      out.table(['QUEUE', 'WHY', 'REASON', 'JOBS'], rows, 'none has left')
    },
  )

  runs<SetFlags>(
    subcommand(queues, 'set <queue>', 'change the policy of a queue; what is not named stays')
      .option('--dlq-enabled <boolean>', 'whether jobs that are given up become dead letters: true or false', flag)
      .option('--dlq-retention <duration>', 'how long dead letters are kept: 30d, or none for good', retention)
      .option('--completed-retention <duration>', 'the same for completed jobs; 0 keeps none', retention)
      .option('--failed-retention <duration>', 'the same for failed jobs', retention)
      .option('--cancelled-retention <duration>', 'the same for cancelled jobs', retention)
      .option('--bin-retention <duration>', 'the same for discarded jobs', retention)
      .option('--held-retention <duration>', 'the same for held jobs', retention)
      .option('--archive-retention <duration>', 'the same in the cold archive, from when a job went there', retention)
      .option('--dlq-max-rows <number>', 'most dead letters kept, the oldest go first; or none for no limit', limit)
      .option('--keep-unreviewed <boolean>', 'dead letters nobody has looked at outlive their retention', flag)
      .option('--cold-archive <boolean>', 'copy what outlived its retention to the cold archive', flag)
      .option('--max-generations <number>', 'retries of one job before one needs --force', whole)
      .option('--crash-limit <number>', 'crashes of one fingerprint that quarantine it', whole)
      .option('--crash-window <duration>', 'within how long', duration)
      .option('--unserved-after <duration>', 'how long a job may wait that no worker of its queue can run', duration)
      .option('--reason <text>', 'why; kept in the audit')
      .addHelpText('after', '\nExample:\n  spillway queues set billing --dlq-enabled true --dlq-retention 30d'),
    async ({ client, out, options }, queue) => {
      showQueue(out, await client.queues.set(queue!, policyOf(options), { reason: options.reason }))
    },
  )

  runs<{ reason?: string }>(
    subcommand(queues, 'pause <queue>', 'stop new claims from a queue; what runs goes on').option(
      '--reason <text>',
      'why',
    ),
    async ({ client, out, options }, queue) => {
      const paused = await client.queues.pause(queue!, { reason: options.reason })
      if (out.isJson) return out.document(paused)
      out.line(`paused queue ${oneLine(queue!)}; \`spillway queues resume\` lets workers claim again`)
    },
  )

  runs<{ reason?: string }>(
    subcommand(queues, 'resume <queue>', 'let workers claim from a queue again').option('--reason <text>', 'why'),
    async ({ client, out, options }, queue) => {
      const resumed = await client.queues.resume(queue!, { reason: options.reason })
      if (out.isJson) return out.document(resumed)
      out.line(`resumed queue ${oneLine(queue!)}`)
    },
  )
}

function policyOf(flags: SetFlags): PolicyInput {
  const kept = given({
    dlq: flags.dlqRetention,
    completed: flags.completedRetention,
    failed: flags.failedRetention,
    cancelled: flags.cancelledRetention,
    bin: flags.binRetention,
    held: flags.heldRetention,
    archive: flags.archiveRetention,
  })
  const policy = given({
    dlqEnabled: flags.dlqEnabled,
    dlqMaxRows: flags.dlqMaxRows,
    keepUnreviewed: flags.keepUnreviewed,
    coldArchive: flags.coldArchive,
    maxGenerations: flags.maxGenerations,
    crashLimit: flags.crashLimit,
    crashWindowMs: flags.crashWindow,
    noHandlerAfterMs: flags.unservedAfter,
  })
  return (Object.keys(kept).length === 0 ? policy : { ...policy, retention: kept }) as PolicyInput
}

/** What was given. Where a parser answers null, for `none`, commander puts an empty text. */
function given(flags: Record<string, unknown>): Record<string, unknown> {
  const there = Object.entries(flags).filter(([, value]) => value !== undefined)
  return Object.fromEntries(there.map(([name, value]) => [name, value === '' ? null : value]))
}

function showQueue(out: Output, stored: StoredQueue): void {
  if (out.isJson) {
    out.document(stored)
    return
  }
  const { policy } = stored
  out.pairs([
    ['queue', oneLine(stored.queue)],
    ['paused', oneLine(pausedText(out, stored))],
    ['dead-letter queue', policy.dlqEnabled ? 'on' : 'off: jobs that are given up become failed'],
    ...Object.entries(policy.retention).map(([what, ms]) => [`${what} kept`, keptFor(ms)] as const),
    ['dead letters at most', capShown(policy.dlqMaxRows, stored.counts?.archived ?? 0)],
    ['keep unreviewed', policy.keepUnreviewed ? 'yes' : 'no'],
    ['cold archive', policy.coldArchive ? 'yes' : 'no'],
    ['generations at most', policy.maxGenerations],
    ['crash limit', `${policy.crashLimit} within ${span(policy.crashWindowMs)}`],
    ['unserved after', span(policy.noHandlerAfterMs)],
    ['changed', out.longTime(stored.updatedAt)],
    ...Object.entries(stored.counts ?? {}).map(([state, count]) => [state, count] as const),
    ['oldest available', stored.activity && out.longTime(stored.activity.oldestAt)],
    ['completed a minute', stored.activity?.completedPerMinute],
  ])
}

/** From 80 % on it says so. */
function capShown(maxRows: number | null, depth: number): Cell {
  if (maxRows === null) return 'no limit'
  return depth >= 0.8 * maxRows ? `${maxRows}, nearly full: there are ${depth}` : maxRows
}

function keptFor(ms: number | null): string {
  if (ms === null) return 'for good'
  return ms === 0 ? 'not at all' : span(ms)
}
