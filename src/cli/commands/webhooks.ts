import type { Command } from 'commander'
import type { WebhookOptions } from '../../client/webhook-options.js'
import type { Webhook, WebhookChanges } from '../../client/webhooks.js'
import { SpillwayError } from '../../job/errors.js'
import type { EventType } from '../../job/event-types.js'
import type { Delivery } from '../../store/store.js'
import { collect, duration, flag, whole } from '../arguments.js'
import { group, runs, subcommand } from '../command.js'
import { given } from '../dead-letter-filters.js'
import { nextPageCommand } from '../next-page.js'
import type { Output } from '../output.js'
import { oneLine, span } from '../shown.js'

interface SettingsFlags {
  readonly type?: readonly EventType[]
  readonly queue?: readonly string[]
  readonly kind?: readonly string[]
  readonly dlqReason?: readonly string[]
  readonly digest?: number | 'none'
  readonly digestEvents?: number
  readonly description?: string
  readonly reason?: string
}

interface UpdateFlags extends SettingsFlags {
  readonly url?: string
  readonly paused?: boolean
  readonly rotateSecret?: number | true
  readonly all?: readonly string[]
}

/** `spillway webhooks …` */
export function webhooksCommand(program: Command): void {
  const webhooks = group(program, 'webhooks', 'requests to a url of yours for what happens')

  runs<SettingsFlags>(
    settingsFlags(subcommand(webhooks, 'create <url>', 'be told of what happens from now on')).addHelpText(
      'after',
      '\nThe secret is shown this once. Workers send; without a filter they send every event.\n\nExample:\n  spillway webhooks create https://ops.example.com/dead --type died --digest 5m',
    ),
    async ({ client, out, options }, url) => {
      const made = await client.webhooks.create({ ...settingsOf(options), url: url! }, { reason: options.reason })
      if (out.isJson) return out.document(made)
      show(out, made)
      out.line(`\nsecret, shown only now: ${made.secret}`)
    },
  )

  runs(subcommand(webhooks, 'list', 'list them'), async ({ client, out }) => {
    const items = await client.webhooks.list()
    if (out.isJson) return out.document({ items, cursor: null })
    const rows = items.map((it) => [
      ...[
        it.id,
        out.colors.bold(it.state),
        oneLine(it.url, 60),
        it.digestMs === null ? 'each' : `digest ${span(it.digestMs)}`,
      ],
      ...[some(it.pending), some(it.dead), oneLine(it.stateReason ?? it.lastError ?? '', out.room(120))],
    ])
    out.table(['ID', 'STATE', 'URL', 'SENDS', 'PENDING', 'DEAD', 'WHY'], rows, 'no webhooks')
  })

  runs(subcommand(webhooks, 'get <id>', 'show one'), async ({ client, out }, id) => {
    const webhook = await client.webhooks.get(id!)
    if (webhook === undefined) {
      throw new SpillwayError(
        'not_found',
        `cannot find webhook ${oneLine(id!, 40)}; \`spillway webhooks list\` shows which there are`,
      )
    }
    if (out.isJson) return out.document(webhook)
    show(out, webhook)
  })

  runs<UpdateFlags>(
    settingsFlags(subcommand(webhooks, 'update <id>', 'change what is named'))
      .option('--url <url>', 'where it sends to')
      .option('--paused <true|false>', 'hold it, or let it go on', flag)
      .option('--rotate-secret [keep]', 'a new secret; the old one holds so much longer (default: 24h; 0: not)', keepOf)
      .option('--all <filter>', 'drop a filter: types, queues, kinds or reasons; may be given again', collect),
    async ({ client, out, options }, id) => {
      const changes: WebhookChanges = {
        ...settingsOf(options),
        ...Object.fromEntries((options.all ?? []).map((filter) => [filterNamed(filter), null])),
        ...given({ url: options.url, paused: options.paused }),
        ...(options.rotateSecret === undefined ? {} : { rotateSecret: options.rotateSecret }),
      }
      const changed = await client.webhooks.update(id!, changes, { reason: options.reason })
      if (out.isJson) return out.document(changed)
      show(out, changed)
      if ('secret' in changed) out.line(`\nsecret, shown only now: ${changed.secret}`)
    },
  )

  runs<{ reason?: string }>(
    subcommand(webhooks, 'delete <id>', 'remove it with its deliveries').option(
      '--reason <text>',
      'why; kept in the audit log',
    ),
    async ({ client, out, options }, id) => {
      await client.webhooks.delete(id!, { reason: options.reason })
      if (out.isJson) return out.document({ id, deleted: true })
      out.line(`webhook ${id} is gone`)
    },
  )

  runs(
    subcommand(webhooks, 'test <id>', 'send it a message about nothing, and say what became of it'),
    async (session, id) => tell(session.out, await session.client.webhooks.test(id!)),
  )

  runs<{ state?: Delivery['state']; limit?: number; cursor?: string }>(
    subcommand(webhooks, 'deliveries [id]', 'list what was sent or is to be sent, newest first')
      .option('--state <state>', 'pending, delivered or dead')
      .option('--limit <rows>', 'rows of a page, up to 1000 (default: 50)', whole)
      .option('--cursor <cursor>', 'go on where the last page ended'),
    async ({ client, out, options }, id) => {
      const { state, limit, cursor } = options
      const page = await client.webhooks.deliveries(given({ webhookId: id, state }), { limit, cursor })
      if (out.isJson) return out.document(page)
      const rows = page.items.map((it) => [
        ...[it.id, it.webhookId, it.messageId, out.colors.bold(it.state), it.attempts, out.time(it.createdAt)],
        ...[it.lastStatus, out.time(it.nextAt), oneLine(it.lastError ?? '', out.room(120))],
      ])
      const head = ['ID', 'WEBHOOK', 'MESSAGE', 'STATE', 'TRIES', 'CREATED', 'STATUS', 'NEXT TRY', 'ERROR']
      out.table(head, rows, 'no deliveries')
      if (page.cursor !== null) out.line(`\nnext page: ${nextPageCommand(process.argv.slice(2), page.cursor)}`)
    },
  )

  runs<{ reason?: string }>(
    subcommand(webhooks, 'redeliver <delivery>', 'send one more time, under the same message id').option(
      '--reason <text>',
      'why; kept in the audit log',
    ),
    async ({ client, out, options }, id) => tell(out, await client.webhooks.redeliver(id!, { reason: options.reason })),
  )
}

function settingsFlags(command: Command): Command {
  return command
    .option('--type <type>', 'of this type of event; may be given again', collect)
    .option('--queue <name>', 'of this queue; may be given again', collect)
    .option('--kind <name>', 'of this kind; may be given again', collect)
    .option('--dlq-reason <reason>', 'of this reason; may be given again', collect)
    .option('--digest <duration>', 'one request for all events of this time; none: one for each', digestOf)
    .option('--digest-events <number>', 'how many events a digest shows (default: 10)', whole)
    .option('--description <text>', 'what it is for; none for nothing')
    .option('--reason <text>', 'why; kept in the audit log')
}

function settingsOf(flags: SettingsFlags): Partial<WebhookOptions> {
  const { type, queue, kind, dlqReason, digest, digestEvents, description } = flags
  return given({
    types: type,
    queues: queue,
    kinds: kind,
    reasons: dlqReason,
    digestEvents,
    ...(description !== undefined && { description: description === 'none' ? null : description }),
    ...(digest && { digest: digest === 'none' ? null : digest }),
  })
}

/** Null would be taken for a value that is missing. */
function digestOf(text: string): number | 'none' {
  return text === 'none' ? text : duration(text)
}

function keepOf(text: string): number {
  return text === '0' ? 0 : duration(text)
}

function filterNamed(filter: string): string {
  if (['types', 'queues', 'kinds', 'reasons'].includes(filter)) return filter
  throw new SpillwayError(
    'invalid_option',
    `cannot drop filter ${oneLine(filter, 40)}: types, queues, kinds and reasons are accepted`,
  )
}

function show(out: Output, webhook: Webhook): void {
  const list = (texts: readonly string[] | null) => (texts === null ? 'all' : oneLine(texts.join(', '), 200))
  out.pairs([
    ['id', webhook.id],
    ['url', oneLine(webhook.url, 200)],
    ['description', webhook.description && oneLine(webhook.description, 200)],
    ['state', webhook.state],
    ['why', webhook.stateReason && oneLine(webhook.stateReason, 200)],
    ['types', list(webhook.types)],
    ['queues', list(webhook.queues)],
    ['kinds', list(webhook.kinds)],
    ['reasons', list(webhook.reasons)],
    ['sends', webhook.digestMs === null ? 'each event' : `a digest of ${span(webhook.digestMs)}`],
    [
      'secrets',
      webhook.secrets
        .map(({ ending, until }) => (until ? `${ending} until ${until.toISOString()}` : ending))
        .join(', '),
    ],
    ['position', webhook.position],
    ['pending', some(webhook.pending)],
    ['dead', some(webhook.dead)],
    ['failures', webhook.failures],
    ['last error', webhook.lastError && oneLine(webhook.lastError, 200)],
    ['created', `${out.longTime(webhook.createdAt)} by ${oneLine(webhook.createdBy, 60)}`],
  ])
}

/** Counted no further than this. */
function some(n: number): string {
  return n > 1_000 ? 'more than 1000' : String(n)
}

/** A delivery that did not arrive is a failure of the command. */
function tell(out: Output, delivery: Delivery): void {
  const { messageId, state, lastStatus, lastError } = delivery
  if (out.isJson) out.document(delivery)
  else if (state === 'delivered') out.line(`${messageId} was delivered (${lastStatus})`)
  else if (lastError !== null) out.line(`${messageId} was not delivered: ${oneLine(lastError, 200)}`)
  else out.line(`${messageId} waits to be sent`)
  if (state !== 'delivered') process.exitCode = 1
}
