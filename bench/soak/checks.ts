import { loadavg } from 'node:os'
import { short } from '../rows.js'
import { describe } from '../table.js'

/** One figure, and what it is held to. */
export interface Check {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** At most this; null where the figure is only told. */
  readonly bar: number | null
  readonly settings?: Readonly<Record<string, string | number | boolean>>
}

/** What a soak is given. */
export interface Soak {
  /** Rows that have outlived their retention. */
  readonly rows: number
  readonly failingPerSecond: number
  readonly freshPerSecond: number
  /** Without what is measured; and how long the reader stays. */
  readonly aloneMs: number
  readonly stayMs: number
  /** By how much the pickup of fresh jobs may be slower than alone. */
  readonly ratio: number
  readonly say: (text: string) => void
}

export const FULL = {
  ...{ rows: 5_000_000, failingPerSecond: 500, freshPerSecond: 50 },
  ...{ aloneMs: 30_000, stayMs: 600_000, ratio: 2 },
}

/** Shows in a minute that everything works, on a machine that does other things too. */
export const QUICK = {
  ...{ rows: 20_000, failingPerSecond: 200, freshPerSecond: 50 },
  ...{ aloneMs: 8_000, stayMs: 30_000, ratio: 10 },
}

export const isMet = ({ value, bar }: Check): boolean => bar === null || value <= bar

export function line(check: Check): string {
  const { name, value, unit, bar, settings = {} } = check
  const held = bar === null ? '' : `≤ ${short(bar)} ${isMet(check) ? 'met' : 'MISSED'}`
  return `  ${name.padEnd(30)} ${short(value).padStart(7)} ${unit.padEnd(7)} ${held.padEnd(16)} ${describe(settings)}`
}

/** How busy the machine is with everything, in processes: over the last minute, five and fifteen. */
export function load(): string {
  return loadavg()
    .map((it) => it.toFixed(1))
    .join(' ')
}
