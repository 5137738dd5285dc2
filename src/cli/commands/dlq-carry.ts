import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import type { Command } from 'commander'
import type { ImportReport } from '../../client/import.js'
import { isSpillwayError, SpillwayError } from '../../job/errors.js'
import { runs, type Session, subcommand } from '../command.js'
import { type FilterFlags, filterFlags, given } from '../dead-letter-filters.js'
import { linesOf } from '../lines.js'
import { oneLine } from '../shown.js'

const LISTED = 20

/** `spillway dlq export|import` */
export function carryCommands(dlq: Command): void {
  runs<FilterFlags>(
    filterFlags(subcommand(dlq, 'export', 'write dead letters to stdout, whole, one JSON document a line'), {
      acts: false,
    }).addHelpText('after', '\nExample:\n  spillway dlq export --queue billing > billing.ndjson'),
    async ({ client, options }) => {
      const { queue, kind, tag, reason, cause, error, since, until } = options
      for await (const line of client.dlq.export(given({ queue, kind, tag, reason, cause, error, since, until }))) {
        if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain')
      }
    },
  )

  runs<{ reason?: string }>(
    subcommand(dlq, 'import [file]', 'store the lines of an export as dead letters, under their ids; - is stdin')
      .option('--reason <text>', 'why; kept in their history')
      .addHelpText('after', '\nExample:\n  spillway dlq import billing.ndjson'),
    async ({ client, out, options }, file = '-') => {
      showImported(out, await client.dlq.import(linesOf(streamOf(file)), { reason: options.reason }))
    },
  )
}

async function* streamOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* file === '-' ? process.stdin : createReadStream(file)
  } catch (error) {
    if (isSpillwayError(error)) throw error
    throw new SpillwayError('invalid_option', `cannot read ${oneLine(file)}: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

function showImported(out: Session<object>['out'], report: ImportReport): void {
  const { imported, refused } = report
  if (refused.length > 0) process.exitCode = 4
  if (out.isJson) {
    out.document(report)
    return
  }
  out.line(`imported ${imported} of ${imported + refused.length}`)
  for (const { message } of refused.slice(0, LISTED)) out.line(`  ${oneLine(message)}`)
  if (refused.length > LISTED) out.line(`  and ${refused.length - LISTED} more; --json lists every one`)
}
