import { setTimeout as sleep } from 'node:timers/promises'
import { Spillway } from 'spillway'
import { fillDead } from '../fill-dead.js'
import { SCHEMA, type Scratch } from '../scratch.js'
import { type Check, load, type Soak } from './checks.js'
import { Freshness } from './freshness.js'
import { type Pickup, pickupOf, Traffic } from './traffic.js'

/** What every connection of the measured processes is held to, as on many a managed server. */
const STATEMENT_TIMEOUT_MS = 5_000
/** The duties that delete: stopped until it has been measured how it is without them. */
const SWEEPS = ['retain', 'retain_dlq', 'retain_held', 'evict'] as const
/** Those of {@link fillDead}. */
const QUEUES = ['old-queue', ...Array.from({ length: 20 }, (_, n) => `queue-${n}`)]
/** Entries of each history: what a row holds matters to the disk, and little to the statements that delete it. */
const HISTORY = 0
const WARM_UP_MS = 5_000
/** Measured without the sweeps and beside them so many times. */
const ROUNDS = 3
/** A pause is heard within a second, and the pass under way ends. */
const HEARD_MS = 5_000
const LONGEST_MS = 3_600_000
/** Jobs of a killed worker come back when it has been silent for 45 s, and wait a moment more. */
const SETTLED_MS = 180_000

/**
 * Very many expired dead letters are deleted while jobs fail and fresh ones come: how long these wait beside it and
 * without it, whether every duty keeps its rhythm, and whether a killed leader is replaced in the middle of it.
 */
export async function expiry(scratch: Scratch, soak: Soak): Promise<Check[]> {
  const { rows, say } = soak
  await scratch.fresh()
  const fill = performance.now()
  const onProgress = (done: number) => done % 500_000 === 0 && say(`filled ${done}`)
  await withoutIndexes(scratch, ['dlq_entries', 'dlq_tags'], () =>
    fillDead({ query: (text) => scratch.query(text) }, { rows, schema: SCHEMA, entries: HISTORY, onProgress }),
  )
  await scratch.query(`vacuum analyze ${SCHEMA}.dlq_entries, ${SCHEMA}.dlq_tags`)
  await scratch.checkpoint()
  say(`filled ${rows} dead letters in ${seconds(fill)} s; load ${load()}`)

  const url = limited(scratch.url)
  const spillway = new Spillway({ url, schema: SCHEMA })
  const traffic = await Traffic.open(url)
  const freshness = new Freshness(spillway)
  try {
    for (const duty of SWEEPS) await spillway.duties.pause(duty)
    for (const queue of QUEUES) await spillway.queues.set(queue, { dlqRetention: '1m' })
    const leader = await traffic.addWorker()
    const led = await holder(scratch)
    await traffic.addWorker()
    await traffic.begin(soak.failingPerSecond, soak.freshPerSecond)
    await traffic.during(() => sleep(WARM_UP_MS))

    const without: Pickup[] = []
    const during: Pickup[] = []
    let sweptMs = 0
    // In turns, because a machine that does other things too is not the same from minute to minute.
    for (let round = 1; round <= ROUNDS; round++) {
      for (const duty of SWEEPS) await spillway.duties.pause(duty)
      await traffic.during(() => sleep(HEARD_MS))
      without.push(await traffic.during(() => sleep(soak.aloneMs / ROUNDS)))
      for (const duty of SWEEPS) await spillway.duties.resume(duty)
      const resumed = performance.now()
      if (round === ROUNDS) freshness.watch()
      const target = (rows / 2 / ROUNDS) * round
      during.push(
        await traffic.during(async () => {
          const least = sleep(soak.aloneMs / ROUNDS)
          await reached(scratch, target)
          await least
        }),
      )
      sweptMs += performance.now() - resumed
      const [a, b] = [without.at(-1)!.p99, during.at(-1)!.p99]
      say(`pickup p99 ${a.toFixed(1)} ms without the duty, ${b.toFixed(1)} ms beside it; load ${load()}`)
    }
    const alone = pickupOf(without.flatMap(({ waits }) => waits))
    const beside = pickupOf(during.flatMap(({ waits }) => waits))
    const deleted = await expired(scratch)
    const perSecond = deleted / (sweptMs / 1000)
    say(`${deleted} deleted, ${Math.round(perSecond)}/s`)
    const silences = freshness.stop()

    if ((await holder(scratch)) !== led) throw new Error('the first worker does not lead any more')
    const killed = performance.now()
    await traffic.kill(leader)
    while ((await holder(scratch)) === led) await sleep(20)
    const replacedS = (performance.now() - killed) / 1000
    say(`the leader was killed, and replaced after ${replacedS.toFixed(1)} s`)
    freshness.watch()
    await reached(scratch, rows)
    const after = freshness.stop()
    const sent = await traffic.halt()
    if (sent.troubles.length > 0) throw new Error(`enqueues failed: ${sent.troubles.slice(0, 3).join('; ')}`)
    await settled(scratch)

    const failures = (await spillway.duties.list()).reduce((sum, it) => sum + it.failures, 0)
    const settings = { failing: soak.failingPerSecond, fresh: soak.freshPerSecond, jobs: beside.waits.length }
    const p99 = { 'p99 ms alone': Number(alone.p99.toFixed(1)), 'p99 ms beside': Number(beside.p99.toFixed(1)) }
    return [
      {
        name: 'expiry_rows_per_second',
        value: perSecond,
        unit: 'rows/s',
        bar: null,
        settings: { rows, history: HISTORY },
      },
      {
        name: 'expiry_pickup_p99_ratio',
        value: beside.p99 / alone.p99,
        unit: 'x',
        bar: soak.ratio,
        settings: { ...p99, ...settings },
      },
      {
        name: 'expiry_pickup_max',
        value: beside.max,
        unit: 'ms',
        bar: null,
        settings: { 'max ms alone': Math.round(alone.max) },
      },
      overdue('expiry_duty_overdue', silences),
      overdue('expiry_duty_overdue_after', after),
      {
        name: 'expiry_duty_failures',
        value: failures,
        unit: 'passes',
        bar: 0,
        settings: { statement_timeout: STATEMENT_TIMEOUT_MS },
      },
      { name: 'expiry_leader_replaced', value: replacedS, unit: 's', bar: 15 },
      { name: 'expiry_rows_left', value: await left(scratch), unit: 'rows', bar: 0 },
      {
        name: 'expiry_jobs_astray',
        value: await astray(scratch, sent),
        unit: 'jobs',
        bar: 0,
        settings: { failed: sent.boom, done: sent.noop },
      },
    ]
  } finally {
    freshness.stop()
    await traffic.close()
    await spillway.close()
  }
}

/**
 * Built at the end, over all rows: sorted once, they take a fraction of the time. Those of constraints stay, and the one
 * by which causes are counted.
 */
async function withoutIndexes(scratch: Scratch, tables: readonly string[], fill: () => Promise<void>): Promise<void> {
  const found = await scratch.query<{ name: string; definition: string }>(
    `select c.oid::regclass::text as name, pg_get_indexdef(c.oid) as definition
       from pg_index i
       join pg_class c on c.oid = i.indexrelid
      where i.indrelid = any ($1::regclass[]) and c.relname <> 'dlq_by_cause'
        and not exists (select from pg_constraint where conindid = c.oid)`,
    [tables.map((table) => `${SCHEMA}.${table}`)],
  )
  for (const { name } of found) await scratch.query(`drop index ${name}`)
  await fill()
  for (const { definition } of found) await scratch.query(definition)
}

function overdue(name: string, silences: ReturnType<Freshness['stop']>): Check {
  const worst = Math.max(...silences.map(({ overdueS }) => overdueS))
  const settings = Object.fromEntries(silences.map(({ duty, silentS }) => [duty, `${silentS.toFixed(0)} s`]))
  return { name, value: worst, unit: 's', bar: 20, settings }
}

async function holder(scratch: Scratch): Promise<string | undefined> {
  const [row] = await scratch.query<{ holder: string }>(
    `select holder from ${SCHEMA}.leaders where name = 'maintenance' and expires_at > now()`,
  )
  return row?.holder
}

function expired(scratch: Scratch): Promise<number> {
  return scratch.number(`select coalesce(sum(n), 0) as n from ${SCHEMA}.counters where what = 'expired'`)
}

async function reached(scratch: Scratch, rows: number): Promise<void> {
  const until = performance.now() + LONGEST_MS
  for (let seen = await expired(scratch); seen < rows; seen = await expired(scratch)) {
    if (performance.now() > until)
      throw new Error(`${seen} of ${rows} rows are deleted after ${LONGEST_MS / 60_000} min`)
    await sleep(500)
  }
}

async function settled(scratch: Scratch): Promise<void> {
  const live = ['ready_entries', 'leases', 'deferred_jobs'].map((table) => `(select count(*) from ${SCHEMA}.${table})`)
  const until = performance.now() + SETTLED_MS
  for (;;) {
    const n = await scratch.number(`select ${live.join(' + ')} as n`)
    if (n === 0) return
    if (performance.now() > until) throw new Error(`${n} jobs have not ended`)
    await sleep(500)
  }
}

function left(scratch: Scratch): Promise<number> {
  return scratch.number(`select count(*) as n from ${SCHEMA}.dlq_entries where queue <> 'bench'`)
}

/** Jobs that are not where they belong: what failed is dead, what did not is done. */
async function astray(scratch: Scratch, sent: { readonly boom: number; readonly noop: number }): Promise<number> {
  const dead = await scratch.number(`select count(*) as n from ${SCHEMA}.dlq_entries where queue = 'bench'`)
  const done = await scratch.number(`select count(*) as n from ${SCHEMA}.terminal_entries where state = 'completed'`)
  return Math.abs(dead - sent.boom) + Math.abs(done - sent.noop)
}

function limited(url: string): string {
  const changed = new URL(url)
  changed.searchParams.set('options', `-c statement_timeout=${STATEMENT_TIMEOUT_MS}`)
  return changed.href
}

function seconds(since: number): number {
  return Number(((performance.now() - since) / 1000).toFixed(1))
}
