import { parseArgs } from 'node:util'
import { CALIBRATIONS, ROWS, type RowName } from './rows.js'

export interface Options {
  /** Rows to measure; calibration is always there. */
  readonly only: ReadonlySet<RowName>
  readonly repeat: number
  readonly json: string | undefined
  readonly peers: boolean
  readonly quick: boolean
}

export const USAGE = `npm run bench -- [--only NAME,…] [--repeat 3] [--json FILE] [--peers] [--quick]

  --only NAME,…   these rows alone; a name ending in * stands for all that begin so
  --repeat N      rounds, 3 by default; a row is the median of its rounds
  --json FILE     writes the rows, the versions and the settings
  --peers         other queues on the same machine in the same rounds, from the folder BENCH_PEERS_DIR
  --quick         small numbers, one round, no bars: shows that everything works

DATABASE_URL names a scratch database; without it an embedded server is started and thrown away.
Rows: ${Object.keys(ROWS).join(', ')}`

/** Reads the command line. @throws an error whose message says what would be accepted. */
export function readOptions(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      repeat: { type: 'string' },
      json: { type: 'string' },
      peers: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  const repeat = Number(values.repeat ?? (values.quick ? 1 : 3))
  if (!Number.isInteger(repeat) || repeat < 1) {
    throw new Error(`--repeat must be a whole number of at least 1, got ${values.repeat}`)
  }
  return { only: named(values.only), repeat, json: values.json, peers: values.peers, quick: values.quick }
}

function named(only: string | undefined): ReadonlySet<RowName> {
  const all = Object.keys(ROWS) as RowName[]
  if (only === undefined) return new Set(all)
  const chosen = only.split(',').flatMap((name) => {
    const found = all.filter((it) => (name.endsWith('*') ? it.startsWith(name.slice(0, -1)) : it === name))
    if (found.length === 0) throw new Error(`--only: there is no row ${name}; there are ${all.join(', ')}`)
    return found
  })
  return new Set([...chosen, ...CALIBRATIONS])
}
