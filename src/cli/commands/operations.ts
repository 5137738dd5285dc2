import { type Command, InvalidArgumentError } from 'commander'
import { SpillwayError } from '../../job/errors.js'
import type { Operation } from '../../store/store.js'
import { whole } from '../arguments.js'
import { positive } from '../bulk-flags.js'
import { group, runs, subcommand } from '../command.js'
import { nextPageCommand } from '../next-page.js'
import { runHere } from '../operation-run.js'
import { sentenceOf, showOperation, showRows } from '../operation-views.js'
import { oneLine } from '../shown.js'

interface PageFlags {
  readonly limit?: number
  readonly cursor?: string
}

/** `spillway operations …` */
export function operationsCommand(program: Command): void {
  const operations = group(program, 'operations', 'bulk work, past and present')

  runs<PageFlags>(pageFlags(subcommand(operations, 'list', 'list them, newest first')), async (session) => {
    const { client, out, options } = session
    const page = await client.operations.list({ limit: options.limit, cursor: options.cursor })
    if (out.isJson) return out.document(page)
    const rows = page.items.map((it) => [
      it.id,
      it.dryRun ? `${it.action} (dry run)` : it.action,
      out.colors.bold(it.state),
      it.matched,
      it.succeeded,
      it.skipped,
      it.failed,
      out.time(it.createdAt),
      oneLine(it.createdBy, 30),
      oneLine(it.stateReason ?? it.reason ?? '', out.room(100)),
    ])
    const head = ['ID', 'ACTION', 'STATE', 'MATCHED', 'DONE', 'SKIPPED', 'REFUSED', 'CREATED', 'BY', 'REASON']
    out.table(head, rows, 'no operations')
    if (page.cursor !== null) out.line(`\nnext page: ${nextPageCommand(process.argv.slice(2), page.cursor)}`)
  })

  runs(subcommand(operations, 'get <id>', 'show one, and what its dry run found'), async ({ client, out }, id) =>
    showOperation(out, found(id!, await client.operations.get(id!))),
  )

  runs(
    subcommand(operations, 'watch <id>', 'follow one to its end, and go on with it where nobody else does'),
    async ({ client, out }, id) => {
      const operation = found(id!, await client.operations.get(id!))
      // Where its rows go is not on record: overrides of a retry are not shown.
      await runHere({ client, out }, client.operations.handle(operation), {})
    },
  )

  runs<PageFlags>(
    pageFlags(subcommand(operations, 'rows <id>', 'list the rows it did not do, and why')),
    async ({ client, out, options }, id) => {
      const page = await client.operations.rows(id!, { limit: options.limit, cursor: options.cursor })
      if (out.isJson) return out.document(page)
      showRows(out, page.items, 'it refused none')
      if (page.cursor !== null) out.line(`\nnext page: ${nextPageCommand(process.argv.slice(2), page.cursor)}`)
    },
  )

  runs<{ maxWaiting?: number; reason?: string }>(
    subcommand(operations, 'rate <id> <rows-per-second>', 'change its pace from the next batch on; none is no limit')
      .option('--max-waiting <number>', 'hold while so many of its jobs wait to be claimed; 0: never', whole)
      .option('--reason <text>', 'why; kept in the audit log')
      .addHelpText('after', '\nExample:\n  spillway operations rate 12 200'),
    async ({ client, out, options }, id, given) => {
      const { maxWaiting, reason } = options
      const rate = paceOf(given!)
      const changed = await client.operations.setRate(id!, { rate, maxWaiting, reason })
      if (out.isJson) return out.document(changed)
      const pace = changed.rate === null ? 'as fast as it can' : `${changed.rate} rows/s`
      out.line(`operation ${changed.id} goes on at ${pace}`)
    },
  )

  for (const [verb, summary] of CONTROLS) {
    runs<{ reason?: string }>(
      subcommand(operations, `${verb} <id>`, summary).option('--reason <text>', 'why; kept in the audit log'),
      async ({ client, out, options }, id) => {
        const operation = await client.operations[verb](id!, { reason: options.reason })
        if (out.isJson) return out.document(operation)
        out.line(sentenceOf(operation))
      },
    )
  }
}

const CONTROLS = [
  ['pause', 'hold it between two batches'],
  ['resume', 'let it go on; after failed canaries, let the rest follow all the same'],
  ['cancel', 'end it between two batches; what it moved stays moved, until `dlq undo`'],
] as const

function pageFlags(command: Command): Command {
  return command
    .option('--limit <rows>', 'rows of a page, up to 1000 (default: 50)', whole)
    .option('--cursor <cursor>', 'go on where the last page ended')
}

function paceOf(text: string): number | null {
  if (text === 'none') return null
  try {
    return positive(text)
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    throw new SpillwayError(
      'invalid_option',
      `cannot use ${oneLine(text, 40)} as a rate: a number above 0, or none, is accepted`,
    )
  }
}

function found(id: string, operation: Operation | undefined): Operation {
  if (operation) return operation
  throw new SpillwayError(
    'operation_not_found',
    `cannot find operation ${oneLine(id, 40)}; \`spillway operations list\` lists them`,
  )
}
