import { Spillway } from 'spillway'
import { createApiClient, listen } from 'spillway/http'
import type { Bench, Scenario } from '../bench.js'
import { fillDead } from '../fill-dead.js'
import { quantile, type Sample } from '../rows.js'
import { SCHEMA } from '../scratch.js'

/** How many dead letters lie there: `BENCH_DEAD=1000000` is what the bars are about. */
const DEAD = Number(process.env.BENCH_DEAD ?? 200_000)
const LIMIT = 50

interface Filter {
  readonly query: Readonly<Record<string, string>>
  /** The same in SQL, to find the row before a page. */
  readonly where: string
}

const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
const equal = (column: string, value: string, key = column): Filter => ({
  query: { [key]: value },
  where: `${column} = '${value}'`,
})
const tagged = (tag: string): Filter => ({ query: { tag }, where: `tags @> array['${tag}']` })

/** Each by itself: common and rare values, and what lies at the old end of the list. */
const FILTERS: Readonly<Record<string, Filter>> = {
  none: { query: {}, where: 'true' },
  queue: equal('queue', 'queue-3'),
  'old queue': equal('queue', 'old-queue'),
  kind: equal('kind', 'billing.charge7'),
  'old kind': equal('kind', 'old.kind'),
  reason: equal('dlq_reason', 'skipped', 'reason'),
  'old reason': equal('dlq_reason', 'old reason', 'reason'),
  'old cause': equal('cause', '00000000000000ff'),
  tag: tagged('urgent'),
  'rare tag': tagged('customer-730'),
  'old tag': tagged('old'),
  error: { query: { error: 'upstream 7 ' }, where: `error_message ilike '%upstream 7 %'` },
  since: { query: { since: ago(7) }, where: `dlq_at >= '${ago(7)}'` },
  until: { query: { until: ago(20) }, where: `dlq_at < '${ago(20)}'` },
}

/**
 * The lists of dead letters as a console reads them: over HTTP, and nothing shared between requests. A row is the p95 of
 * the slowest filter, which its settings name.
 */
export const deadLists: Scenario = {
  rows: ['dlq_list_p95', 'dlq_page_1000_p95', 'dlq_groups', 'dlq_depth'],
  async run(bench) {
    const dead = bench.quick ? 2_000 : DEAD
    await fill(bench, dead)
    const spillway = new Spillway({ url: bench.scratch.url, schema: SCHEMA })
    const server = await listen({ spillway, access: 'open', port: 0, freshMs: 0 })
    const api = createApiClient({ url: server.url })
    const rounds = bench.quick ? 2 : 20
    try {
      const list = ({ query }: Filter) => api.listDlq({ query: { ...query, limit: LIMIT } })
      const first = await slowest(rounds, FILTERS, list)
      const places = await placesOf(bench)
      const later = await slowest(rounds, places, list)
      const groups = await slowest(rounds, { all: {}, queue: { queue: 'queue-3' } }, (filter) =>
        api.dlqGroups({ query: { ...filter, limit: LIMIT } }),
      )
      const depth = await slowest(rounds, { all: {} }, () => api.dlqDepth())
      const settings = { dead, limit: LIMIT, over: 'http' }
      const sample = (name: string, { value, filter }: Slowest, more: Sample['settings'] = {}): Sample => {
        return { name, value, settings: { ...settings, slowest: filter, ...more } }
      }
      return [
        sample('dlq_list_p95', first, { filters: Object.keys(FILTERS).length }),
        sample('dlq_page_1000_p95', later, { filters: Object.keys(places).length }),
        sample('dlq_groups', groups),
        sample('dlq_depth', depth),
      ]
    } finally {
      await server.stop()
      await spillway.close()
    }
  },
}

/** The queries for page 1,000 of each filter; of what has fewer rows, for the middle. */
async function placesOf({ scratch }: Bench): Promise<Record<string, Filter>> {
  const places: Record<string, Filter> = {}
  for (const [name, { query, where }] of Object.entries(FILTERS)) {
    const found = `from ${SCHEMA}.dlq_entries where ${where}`
    const skipped = Math.min(1_000 * LIMIT, Math.floor((await scratch.number(`select count(*) as n ${found}`)) / 2))
    const [row] = await scratch.query<{ id: string }>(
      `select id ${found} order by dlq_at desc, id desc offset ${skipped} limit 1`,
    )
    if (row !== undefined) places[name] = { query: { ...query, before_id: row.id }, where }
  }
  return places
}

interface Slowest {
  readonly value: number
  readonly filter: string
}

/** The p95 of each by itself, and which is the largest. */
async function slowest<T>(
  rounds: number,
  filters: Readonly<Record<string, T>>,
  ask: (filter: T) => PromiseLike<unknown>,
): Promise<Slowest> {
  let found: Slowest = { value: 0, filter: '' }
  for (const [name, filter] of Object.entries(filters)) {
    const times: number[] = []
    await ask(filter)
    for (let round = 0; round < rounds; round++) {
      const begin = performance.now()
      await ask(filter)
      times.push(performance.now() - begin)
    }
    const value = quantile(times, 0.95)
    if (value > found.value) found = { value, filter: name }
  }
  return found
}

async function fill({ scratch }: Bench, rows: number): Promise<void> {
  await scratch.fresh()
  await fillDead({ query: (text) => scratch.query(text) }, { rows, schema: SCHEMA })
  await scratch.checkpoint()
}
