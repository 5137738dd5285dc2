import type { Command } from 'commander'
import { group, runs, subcommand } from '../command.js'
import { oneLine } from '../shown.js'

/** `spillway masking …` */
export function maskingCommand(program: Command): void {
  const masking = group(program, 'masking', 'places of payloads that the HTTP API shows to nobody')

  runs(
    subcommand(masking, 'list', 'list the hidden places; keys that look like secrets are hidden besides'),
    async ({ client, out }) => {
      const items = await client.masking.list()
      if (out.isJson) return out.document({ items })
      const rows = items.map((it) => [oneLine(it.path, 80), out.time(it.createdAt), oneLine(it.createdBy, 30)])
      out.table(['PATH', 'SINCE', 'BY'], rows, 'no places but the built-in ones')
    },
  )

  runs<{ reason?: string }>(
    subcommand(masking, 'add <path>', 'hide a place: keys joined by dots, * for any key, ** for any number of them')
      .option('--reason <text>', 'why; kept in the audit log')
      .addHelpText('after', "\nExample:\n  spillway masking add '**.card.number'"),
    async ({ client, out, options }, path) => {
      const changed = await client.masking.add(path!, { reason: options.reason })
      if (out.isJson) return out.document({ path, changed })
      out.line(changed ? `${oneLine(path!)} is hidden` : `${oneLine(path!)} was hidden already`)
    },
  )

  runs<{ reason?: string }>(
    subcommand(masking, 'remove <path>', 'show a place again').option('--reason <text>', 'why; kept in the audit log'),
    async ({ client, out, options }, path) => {
      await client.masking.remove(path!, { reason: options.reason })
      if (out.isJson) return out.document({ path, changed: true })
      out.line(`${oneLine(path!)} is shown again`)
    },
  )
}
