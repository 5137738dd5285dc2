import { type DlqFilter, Spillway } from 'spillway'
import { createApiClient, listen } from 'spillway/http'
import type { Bench, Scenario } from '../bench.js'
import { type DeadFilter, deadFilters } from '../dead-filters.js'
import { fillDead } from '../fill-dead.js'
import { quantile, type Sample } from '../rows.js'
import { SCHEMA } from '../scratch.js'

/** How many dead letters lie there: `BENCH_DEAD=1000000` is what the bars are about. */
const DEAD = Number(process.env.BENCH_DEAD ?? 200_000)
const LIMIT = 50

/** A list to be asked for, and the row that its page begins after. */
interface Place {
  readonly filter: DlqFilter
  readonly beforeId?: string
}
type Places = Readonly<Record<string, Place>>

/**
 * The lists of dead letters, as programs read them through the SDK and consoles over HTTP, with nothing shared between
 * requests. A row is the p95 of the slowest filter, which its settings name.
 */
export const deadLists: Scenario = {
  rows: ['dlq_sdk_list_p95', 'dlq_sdk_page_1000_p95', 'dlq_list_p95', 'dlq_page_1000_p95', 'dlq_groups', 'dlq_depth'],
  async run(bench) {
    const dead = bench.quick ? 2_000 : DEAD
    await fill(bench, dead)
    const firsts = await filtersOf(bench)
    const later = await placesOf(bench, firsts)
    const spillway = new Spillway({ url: bench.scratch.url, schema: SCHEMA })
    const server = await listen({ spillway, access: 'open', port: 0, freshMs: 0 })
    const api = createApiClient({ url: server.url })
    const rounds = bench.quick ? 2 : 40
    const inSdk = ({ filter, beforeId }: Place) =>
      spillway.dlq.list({ ...filter, ...(beforeId === undefined ? {} : { beforeId }) }, { limit: LIMIT })
    const overHttp = ({ filter: { since, until, ...equal }, beforeId }: Place) =>
      api.listDlq({
        query: {
          ...(equal as Record<string, string>),
          ...(since === undefined ? {} : { since: since.toISOString() }),
          ...(until === undefined ? {} : { until: until.toISOString() }),
          ...(beforeId === undefined ? {} : { before_id: beforeId }),
          limit: LIMIT,
        },
      })
    const settings = { dead, limit: LIMIT }
    const sample = (name: string, { value, filter }: Slowest, more: Sample['settings'] = {}): Sample => {
      return { name, value, settings: { ...settings, slowest: filter, ...more } }
    }
    const filters = (places: Places) => ({ filters: Object.keys(places).length })
    try {
      return [
        sample('dlq_sdk_list_p95', await slowest(rounds, firsts, inSdk), filters(firsts)),
        sample('dlq_sdk_page_1000_p95', await slowest(rounds, later, inSdk), filters(later)),
        sample('dlq_list_p95', await slowest(rounds, withoutIds(firsts), overHttp), filters(withoutIds(firsts))),
        sample('dlq_page_1000_p95', await slowest(rounds, withoutIds(later), overHttp), filters(withoutIds(later))),
        sample(
          'dlq_groups',
          await slowest(rounds, { all: {}, queue: { queue: 'queue-3' } }, (filter) =>
            api.dlqGroups({ query: { ...filter, limit: LIMIT } }),
          ),
        ),
        sample('dlq_depth', await slowest(rounds, { all: {} }, () => api.dlqDepth())),
      ]
    } finally {
      await server.stop()
      await spillway.close()
    }
  },
}

async function filtersOf({ scratch }: Bench): Promise<Readonly<Record<string, DeadFilter>>> {
  const rows = await scratch.query<{ id: string }>(`select id from ${SCHEMA}.dlq_entries order by dlq_at, id`)
  const [ended] = await scratch.query<{ at: Date }>(
    `select max(dlq_at) as at from ${SCHEMA}.dlq_entries where queue = 'old-queue'`,
  )
  return deadFilters(
    rows.map(({ id }) => id),
    ended?.at ?? new Date(),
  )
}

/** Page 1,000 of each filter; of what has fewer rows, the middle. */
async function placesOf({ scratch }: Bench, filters: Readonly<Record<string, DeadFilter>>): Promise<Places> {
  const places: Record<string, Place> = {}
  for (const [name, { filter, where }] of Object.entries(filters)) {
    const found = `from ${SCHEMA}.dlq_entries where ${where}`
    const skipped = Math.min(1_000 * LIMIT, Math.floor((await scratch.number(`select count(*) as n ${found}`)) / 2))
    const [row] = await scratch.query<{ id: string }>(
      `select id ${found} order by dlq_at desc, id desc offset ${skipped} limit 1`,
    )
    if (row !== undefined) places[name] = { filter, beforeId: row.id }
  }
  return places
}

/** Over HTTP a list is never narrowed by ids. */
function withoutIds(places: Places): Places {
  return Object.fromEntries(Object.entries(places).filter(([, { filter }]) => filter.ids === undefined))
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
    if (process.env.BENCH_EACH !== undefined) console.error(`${name}: ${value.toFixed(1)} ms`)
    if (value > found.value) found = { value, filter: name }
  }
  return found
}

async function fill({ scratch }: Bench, rows: number): Promise<void> {
  await scratch.fresh()
  await fillDead({ query: (text) => scratch.query(text) }, { rows, schema: SCHEMA })
  await scratch.checkpoint()
}
