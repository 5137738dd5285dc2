import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Spillway } from 'spillway'
import { SCHEMA, type Scratch } from '../scratch.js'
import { type Check, load, type Soak } from './checks.js'
import { type Pickup, pickupOf, Traffic } from './traffic.js'

const WARM_UP_MS = 5_000
const WINDOW_MS = 60_000
const READER = 'nightly report'
/** The doctor speaks of a transaction that is open for longer. */
const TOLD_AFTER_MS = 60_000

/**
 * A report that has read every table stays open while jobs fail: dead rows and slots pile up and cannot be removed. How
 * long fresh jobs wait beside it and without it; and whether the doctor says who it is and how to end it.
 */
export async function reader(scratch: Scratch, soak: Soak): Promise<Check[]> {
  const { say, stayMs } = soak
  await scratch.fresh()
  const spillway = new Spillway({ url: scratch.url, schema: SCHEMA })
  const traffic = await Traffic.open(scratch.url)
  try {
    await traffic.addWorker()
    await traffic.addWorker()
    await traffic.begin(soak.failingPerSecond, soak.freshPerSecond)
    await traffic.during(() => sleep(WARM_UP_MS))
    const alone = await traffic.during(() => sleep(soak.aloneMs))
    say(`without the reader: pickup p99 ${alone.p99.toFixed(1)} ms; load ${load()}`)

    const opened = await open(scratch)
    const windows: Pickup[] = []
    for (const begun = performance.now(); performance.now() - begun < stayMs; ) {
      const rest = stayMs - (performance.now() - begun)
      windows.push(await traffic.during(() => sleep(Math.min(WINDOW_MS, rest))))
      say(`beside the reader: pickup p99 ${windows.at(-1)!.p99.toFixed(1)} ms; load ${load()}`)
    }
    const beside = pickupOf(windows.flatMap(({ waits }) => waits))
    const worst = Math.max(...windows.map(({ p99 }) => p99))
    const told = await examined(spillway, opened.pid, stayMs)
    const ageS = await gauge(spillway)
    const slots = await scratch.number(
      `select count(*) as n from pg_class where relnamespace = '${SCHEMA}'::regnamespace
          and relname ~ '^(ready|leases)_[0-7]$' and pg_relation_size(oid) > 0`,
    )
    if (told.end) await scratch.query(told.end)
    const isEnded = await within(5_000, async () => !(await holds(spillway, opened.pid)))
    await opened.close()
    const sent = await traffic.halt()
    if (sent.troubles.length > 0) throw new Error(`enqueues failed: ${sent.troubles.slice(0, 3).join('; ')}`)
    await scratch.empty(60_000)

    const p99 = { 'p99 ms alone': Number(alone.p99.toFixed(1)), 'p99 ms beside': Number(beside.p99.toFixed(1)) }
    const settings = { 'minutes open': stayMs / 60_000, failing: soak.failingPerSecond, jobs: beside.waits.length }
    return [
      {
        name: 'reader_pickup_p99_ratio',
        value: beside.p99 / alone.p99,
        unit: 'x',
        bar: soak.ratio,
        settings: { ...p99, ...settings },
      },
      {
        name: 'reader_worst_window_ratio',
        value: worst / alone.p99,
        unit: 'x',
        bar: null,
        settings: { 'p99 ms': Number(worst.toFixed(1)) },
      },
      {
        name: 'reader_untold',
        value: told.missing.length,
        unit: 'facts',
        bar: 0,
        settings: { missing: told.missing.join(' ') || 'none' },
      },
      {
        name: 'reader_gauge_behind',
        value: Math.max(0, stayMs / 1000 - ageS),
        unit: 's',
        bar: 15,
        settings: { 'gauge s': Math.round(ageS) },
      },
      {
        name: 'reader_still_there',
        value: isEnded ? 0 : 1,
        unit: 'sessions',
        bar: 0,
        settings: { by: told.end ?? 'nothing' },
      },
      { name: 'reader_slots_with_rows', value: slots, unit: 'slots', bar: null, settings: { of: 16 } },
    ]
  } finally {
    await traffic.close()
    await spillway.close()
  }
}

async function open(scratch: Scratch): Promise<{ pid: number; close: () => Promise<void> }> {
  const client = new pg.Client({ connectionString: scratch.url, application_name: READER })
  // It is going to be terminated.
  client.on('error', () => {})
  await client.connect()
  await client.query('begin isolation level repeatable read')
  for (const table of await scratch.tables()) await client.query(`select 1 from ${table} limit 1`)
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return { pid: rows[0]!.pid, close: () => client.end().catch(() => undefined) }
}

/** What an operator has to be told of it, and is not; and the statement that ends it. */
async function examined(spillway: Spillway, pid: number, stayedMs: number) {
  const { findings, diagnosis } = await spillway.doctor()
  const held = findings.filter(({ code }) => code === 'horizon_held').find((it) => it.message.includes(String(pid)))
  const holder = diagnosis?.tables?.measures.horizon.find((it) => it.pid === pid)
  const end = /select pg_terminate_backend\(\d+\)/.exec(held?.fix ?? '')?.[0]
  const isDue = stayedMs > TOLD_AFTER_MS
  const facts: Record<string, boolean> = {
    pid: holder !== undefined,
    application: holder?.application === READER,
    ...(isDue && {
      finding: held !== undefined,
      name: held?.message.includes(READER) ?? false,
      command: end !== undefined,
    }),
  }
  const missing = Object.keys(facts).filter((name) => !facts[name])
  return { missing, end: isDue ? end : `select pg_terminate_backend(${pid})` }
}

async function holds(spillway: Spillway, pid: number): Promise<boolean> {
  const { diagnosis } = await spillway.doctor()
  return diagnosis?.tables?.measures.horizon.some((it) => it.pid === pid) ?? true
}

async function gauge(spillway: Spillway): Promise<number> {
  const text = await (await spillway.metrics()).text()
  return Number(/^spillway_horizon_holder_age_seconds (\S+)$/m.exec(text)?.[1] ?? 0)
}

async function within(ms: number, look: () => Promise<boolean>): Promise<boolean> {
  const until = performance.now() + ms
  while (!(await look())) {
    if (performance.now() > until) return false
    await sleep(100)
  }
  return true
}
