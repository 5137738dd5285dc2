export const CALIBRATIONS = ['raw_commits', 'raw_multirow_insert', 'raw_claim_delete'] as const

export type Calibration = (typeof CALIBRATIONS)[number]

/** What a row of the table measures, and what it is held to. */
export interface RowSpec {
  readonly unit: string
  readonly better: 'more' | 'less'
  /** A ratio to what a calibration row was just before, or a plain limit. */
  readonly bar?: { readonly ratio: number; readonly of: Calibration } | { readonly limit: number }
  /** The bar and the aim in figures of the machine the design was measured on, on a quiet day. */
  readonly quiet?: number
  readonly aim?: number
}

const rate = (unit = 'jobs/s'): RowSpec => ({ unit, better: 'more' })

/** Every row there is, in the order of the table. Rows of 8 kB payloads have no bar yet. */
export const ROWS = {
  raw_commits: rate('commits/s'),
  raw_multirow_insert: rate('rows/s'),
  raw_claim_delete: rate('rows/s'),
  drain: { ...rate(), bar: { ratio: 0.35, of: 'raw_claim_delete' }, quiet: 50_000, aim: 75_000 },
  drain_8k: rate(),
  enqueue_single: { ...rate(), bar: { ratio: 1.6, of: 'raw_commits' }, quiet: 10_000, aim: 20_000 },
  enqueue_single_8k: rate(),
  enqueue_single_256: { ...rate(), bar: { ratio: 6.5, of: 'raw_commits' }, quiet: 40_000, aim: 60_000 },
  enqueue_single_256_8k: rate(),
  enqueue_bulk: { ...rate('rows/s'), bar: { ratio: 0.32, of: 'raw_multirow_insert' }, quiet: 60_000, aim: 120_000 },
  enqueue_bulk_8k: rate('rows/s'),
  pickup_p50: { unit: 'ms', better: 'less', bar: { limit: 3.5 }, aim: 2 },
  pickup_p99: { unit: 'ms', better: 'less', bar: { limit: 12 }, aim: 6 },
  terminal_failure: { ...rate(), bar: { ratio: 0.08, of: 'raw_claim_delete' }, quiet: 12_000, aim: 25_000 },
  terminal_failure_8k: rate(),
  snapshot_slowdown: { unit: 'x', better: 'less', bar: { limit: 1.2 }, aim: 1.05 },
  dead_tuples: { unit: 'rows', better: 'less', bar: { limit: 40_000 }, aim: 5_000 },
  due_lateness_p50: { unit: 'ms', better: 'less', bar: { limit: 100 } },
  due_lateness_p99: { unit: 'ms', better: 'less', bar: { limit: 1_000 } },
  idle_statements: { unit: '1/s', better: 'less', bar: { limit: 1 }, aim: 0.5 },
  redrive: { ...rate('rows/s'), bar: { ratio: 0.175, of: 'raw_claim_delete' }, quiet: 25_000, aim: 40_000 },
  redrive_answer: { unit: 'ms', better: 'less', bar: { limit: 1_000 } },
  redrive_memory: { unit: 'MiB', better: 'less', bar: { limit: 250 }, aim: 150 },
  redrive_slowest_statement: { unit: 'ms', better: 'less', bar: { limit: 1_000 } },
  redrive_pickup_p99_ratio: { unit: 'x', better: 'less', bar: { limit: 2 } },
  unserved_pickup_p99_ratio: { unit: 'x', better: 'less', bar: { limit: 2 } },
  unserved_drain_ratio: { unit: 'x', better: 'less', bar: { limit: 2 } },
  dlq_sdk_list_p95: { unit: 'ms', better: 'less', bar: { limit: 20 } },
  dlq_sdk_page_1000_p95: { unit: 'ms', better: 'less', bar: { limit: 20 } },
  dlq_list_p95: { unit: 'ms', better: 'less', bar: { limit: 50 }, aim: 15 },
  dlq_page_1000_p95: { unit: 'ms', better: 'less', bar: { limit: 50 }, aim: 15 },
  dlq_groups: { unit: 'ms', better: 'less', bar: { limit: 100 }, aim: 20 },
  dlq_depth: { unit: 'ms', better: 'less', bar: { limit: 100 }, aim: 20 },
  worker_memory: { unit: 'MiB', better: 'less', bar: { limit: 250 }, aim: 150 },
  worker_memory_8k: { unit: 'MiB', better: 'less' },
} as const satisfies Record<string, RowSpec>

export type RowName = keyof typeof ROWS

export type Settings = Readonly<Record<string, string | number | boolean>>

/** One measurement of one round. `name` is a row's, or that of a peer as in `drain@pg-boss`. */
export interface Sample {
  readonly name: string
  readonly value: number
  readonly settings: Settings
  /** What the calibration row of its bar was just before. */
  readonly raw?: number
}

/** One row of the report: the median of its rounds and their spread. */
export interface Row {
  readonly name: string
  readonly value: number
  readonly min: number
  readonly max: number
  readonly unit: string
  /** In the unit of the row; of a ratio, times the median of its calibration. */
  readonly bar: number | null
  readonly aim: number | null
  /** Of a ratio: whether the median of the samples' own ratios is at the bar. Null without a bar, and with `--quick`. */
  readonly met: boolean | null
  /** The bar in words. */
  readonly held: string
  readonly settings: Settings
}

/** The calibration that the bar of a row is a ratio to. */
export function calibrationOf(name: RowName): Calibration | undefined {
  const { bar }: RowSpec = ROWS[name]
  return bar !== undefined && 'of' in bar ? bar.of : undefined
}

/** Makes the rows of the report from the samples of all rounds. */
export function report(samples: readonly Sample[], quick: boolean): Row[] {
  const names = [...new Set(samples.map((it) => it.name))]
  const order = Object.keys(ROWS)
  const place = (name: string) => order.indexOf(rowOf(name)) * 2 + (name.includes('@') ? 1 : 0)
  return names.sort((a, b) => place(a) - place(b)).map((name) => row(name, samples, quick))
}

function row(name: string, samples: readonly Sample[], quick: boolean): Row {
  const spec: RowSpec = ROWS[rowOf(name)]
  const found = samples.filter((it) => it.name === name)
  const values = found.map((it) => it.value)
  const value = median(values)
  const base = {
    name,
    value,
    min: Math.min(...values),
    max: Math.max(...values),
    unit: spec.unit,
    settings: found[0]?.settings ?? {},
  }
  const { bar, quiet, aim = null } = spec
  if (name.includes('@') || bar === undefined) return { ...base, bar: null, aim: null, met: null, held: '' }
  if ('limit' in bar) {
    const met = quick ? null : spec.better === 'less' ? value <= bar.limit : value >= bar.limit
    return { ...base, bar: bar.limit, aim, met, held: `${spec.better === 'less' ? '≤' : '≥'} ${short(bar.limit)}` }
  }

  // Each beside its own calibration: a slow minute slows both.
  const ratio = median(found.map((it) => it.value / (it.raw ?? Number.NaN)))
  const limit = bar.ratio * median(found.map((it) => it.raw ?? Number.NaN))
  return {
    ...base,
    bar: limit,
    aim: aim !== null && quiet ? (limit * aim) / quiet : null,
    met: quick ? null : ratio >= bar.ratio,
    held: `≥ ${bar.ratio} × ${bar.of} = ${short(limit)}${quiet ? ` (${short(quiet)} quiet)` : ''}, is ${short(ratio)} ×`,
    settings: base.settings,
  }
}

/** The row that a sample is of, its peer's name taken away. */
export function rowOf(name: string): RowName {
  return name.split('@')[0] as RowName
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The value below which that share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Three figures, thousands as k: 41.2k, 3.4, 0.35. */
export function short(value: number): string {
  if (Math.abs(value) >= 1000) return `${Number((value / 1000).toPrecision(3))}k`
  return String(Number(value.toPrecision(3)))
}
