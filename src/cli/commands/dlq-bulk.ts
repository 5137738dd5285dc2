import type { Command } from 'commander'
import type { ActOptions } from '../../client/act.js'
import type { BulkOptions } from '../../client/bulk-options.js'
import type { DeadLetters } from '../../client/dead-letters.js'
import type { OperationHandle } from '../../client/operations.js'
import type { Selector } from '../../job/selector.js'
import type { Acted, BulkResult } from '../../store/store.js'
import { showActed } from '../acted.js'
import {
  type BulkFlags,
  bulkFlags,
  bulkOptions,
  type RetryManyFlags,
  retryManyFlags,
  retryManyOptions,
  scopeOf,
} from '../bulk-flags.js'
import { runs, type Session, subcommand } from '../command.js'
import { canAsk, confirm } from '../confirm.js'
import { FILTERS, filterFlags } from '../dead-letter-filters.js'
import { runHere } from '../operation-run.js'
import { showRows } from '../operation-views.js'
import { Progress } from '../progress.js'
import { otherCommand, sameCommand } from '../same-command.js'

/** More ids than this are an operation. */
export const AT_ONCE = 1_000

const EVERY_RETRY = `
Examples:
  spillway dlq retry-bulk --queue billing --dry-run
  spillway dlq retry-bulk --queue billing --canary 3 --rate 50 --reason 'gateway is back'
  spillway dlq retry-bulk --all`

/** `spillway dlq retry-bulk|move|discard|purge|undo` */
export function bulkCommands(dlq: Command): void {
  runs<RetryManyFlags>(
    retryManyFlags(filterFlags(subcommand(dlq, 'retry-bulk', 'send everything that matches back to work'), ACTS)) //
      .addHelpText('after', EVERY_RETRY),
    async ({ client, out, options }) => {
      const selector = scopeOf(options)
      const handle = await client.dlq.retryMany(selector, retryManyOptions(options))
      const queue = options.toQueue ?? handle.started.selector.queue
      await runHere({ client, out }, handle, { detach: options.detach, queue, commandFor: commandOfPreview })
    },
  )

  act(dlq, {
    usage: 'move [ids...]',
    summary: 'bring failed jobs of queues without a dead-letter queue into it; --reason becomes their reason',
    example: 'spillway dlq move --queue billing --reason audit_2026_q2 --all',
    done: 'moved',
    one: (letters, id, options) => letters.move(id, options),
    some: (letters, ids, options) => letters.moveIds(ids, options),
    many: (letters, selector, options) => letters.moveMany(selector, options),
  })
  act(dlq, {
    usage: 'discard [ids...]',
    summary: 'put dead letters into the bin, where they lie for 7 days; undo brings them back',
    example: 'spillway dlq discard --cause 3f2a91c0 --reason duplicates',
    done: 'discarded',
    one: (letters, id, options) => letters.discard(id, options),
    some: (letters, ids, options) => letters.discardIds(ids, options),
    many: (letters, selector, options) => letters.discardMany(selector, options),
  })
  act(dlq, {
    usage: 'purge [ids...]',
    summary: 'delete dead letters for good, with everything kept about them; there is no way back',
    example: 'spillway dlq purge --queue billing --kind charge_card',
    done: 'purged',
    isFinal: true,
    one: (letters, id, options) => letters.purge(id, options),
    some: (letters, ids, options) => letters.purgeIds(ids, options),
    many: (letters, selector, options) => letters.purgeMany(selector, options),
  })

  runs<{ reason?: string; detach?: boolean }>(
    subcommand(dlq, 'undo <operation>', 'take back a retry (what has not started since) or a discard')
      .option('--reason <text>', 'why; kept in the audit log')
      .option('--detach', 'print the id of the operation and leave it to the workers'),
    async ({ client, out, options }, id) =>
      runHere({ client, out }, await client.dlq.undo(id!, { reason: options.reason }), { detach: options.detach }),
  )
}

const ACTS = { acts: true } as const

interface Action {
  readonly usage: string
  readonly summary: string
  readonly example: string
  /** The verb of a sentence about what was done. */
  readonly done: string
  /** Whether nothing brings it back: on a terminal it asks. */
  readonly isFinal?: boolean
  one(letters: DeadLetters, id: string, options: ActOptions): Promise<Acted>
  some(letters: DeadLetters, ids: readonly string[], options: BulkOptions): Promise<BulkResult>
  many(letters: DeadLetters, selector: Selector, options: BulkOptions): Promise<OperationHandle>
}

/** Of actions that are no operation, without one. */
type NamedResult = Omit<BulkResult, 'operation'> & Partial<Pick<BulkResult, 'operation'>>

interface ActionFlags extends BulkFlags {
  readonly yes?: boolean
}

function act(dlq: Command, action: Action): void {
  const command = bulkFlags(filterFlags(subcommand(dlq, action.usage, action.summary), ACTS)) //
    .addHelpText('after', `\nExample:\n  ${action.example}`)
  if (action.isFinal) command.option('--yes', 'on a terminal: do not ask')
  runs<ActionFlags>(command, async (session, given) => {
    const ids = given as unknown as readonly string[]
    const { client, out, options } = session
    const selector = scopeOf(options, ids)
    const mustAsk = action.isFinal && !options.yes && !options.dryRun && canAsk(out)
    if (ids.length === 0 || ids.length > AT_ONCE || options.dryRun || options.detach || options.rate !== undefined) {
      const look = (how: BulkOptions) => action.many(client.dlq, selector, { ...bulkOptions(options), ...how })
      const preview = mustAsk ? await asked(look) : {}
      const handle = await look(preview)
      return runHere({ client, out }, handle, { detach: options.detach, commandFor: commandOfPreview })
    }
    if (mustAsk) await confirm(`delete ${ids.length === 1 ? `job ${ids[0]}` : `${ids.length} jobs`} for good?`)
    const { reason } = options
    if (ids.length === 1) return showActed(out, action.done, await action.one(client.dlq, ids[0]!, { reason }))
    showResult(out, action.done, await action.some(client.dlq, ids, { reason }))
  })
}

/** Counts first, asks with the number, and is then bound to exactly what was counted. */
export async function asked(look: (how: BulkOptions) => Promise<OperationHandle>): Promise<{ preview: string }> {
  const looked = await look({ dryRun: true })
  const progress = new Progress()
  const { id, matched } = await looked.done({ onProgress: (operation) => progress.update(operation) })
  progress.end()
  await confirm(`delete ${matched} jobs for good?`)
  return { preview: id }
}

/** What an action on named ids did. */
export function showResult(out: Session<object>['out'], done: string, result: NamedResult): void {
  const { succeeded, failed, operation } = result
  if (failed.length > 0) process.exitCode = 4
  if (out.isJson) {
    out.document(result)
    return
  }
  out.line(`${done} ${succeeded.length} of ${succeeded.length + failed.length}`)
  if (failed.length > 0) showRows(out, failed, '')
  if (done === 'discarded' && succeeded.length > 0 && operation) {
    out.line(`undo it: ${otherCommand(process.argv.slice(2), 'dlq', 'undo', operation.id)}`)
  }
}

/** The line that was typed, for exactly the rows its dry run saw. */
export function commandOfPreview(preview: string): string {
  const without = { ...FILTERS, '--dry-run': false, '--preview': true, '--json': false }
  return sameCommand(process.argv.slice(2), without, '--preview', preview)
}
