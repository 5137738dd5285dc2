import type { Command } from 'commander'
import type { StoredRing } from '../../store/store.js'
import { duration, whole } from '../arguments.js'
import { group, runs, subcommand } from '../command.js'
import { given } from '../dead-letter-filters.js'
import type { Output } from '../output.js'
import { span } from '../shown.js'

interface RingFlags {
  readonly rotateRows?: number
  readonly rotateAfter?: number
  readonly reason?: string
}

/** `spillway rings …` */
export function ringsCommand(program: Command): void {
  const rings = group(program, 'rings', 'where live jobs lie, and when their space is given back')

  runs(subcommand(rings, 'list', 'list the rings and when they turn'), async ({ client, out }) => {
    show(out, await client.rings.list())
  })

  runs<RingFlags>(
    subcommand(rings, 'set <ring>', 'change when a ring (ready or leases) turns; no worker is restarted')
      .option('--rotate-rows <number>', 'after so many rows, 100 to 10000000 (default: 20000)', whole)
      .option('--rotate-after <duration>', 'after so long, 1s to 24h (default: 10s)', duration)
      .option('--reason <text>', 'why; kept in the audit log'),
    async ({ client, out, options }, ring) => {
      const { rotateRows, rotateAfter, reason } = options
      const set = await client.rings.set(ring!, given({ rotateRows, rotateAfter }), { reason })
      if (out.isJson) return out.document(set)
      show(out, [set])
    },
  )
}

function show(out: Output, rings: readonly StoredRing[]): void {
  if (out.isJson) {
    out.document({ items: rings })
    return
  }
  const rows = rings.map((it) => [it.ring, it.head, out.time(it.rotatedAt), it.rotateRows, span(it.rotateMs)])
  out.table(['RING', 'SLOT', 'SINCE', 'ROTATE ROWS', 'ROTATE AFTER'], rows, '')
}
