import { type ChildProcess, fork } from 'node:child_process'
import pc from 'picocolors'
import type { Spillway } from '../../index.js'
import type { Delivery } from './deliveries.js'
import { parseWebhook } from './parse.js'
import type { Stage } from './story.js'

/** Jobs of this part of the story, the poison among them. */
export const PARSED = 6

const PATIENCE_MS = 30_000

interface Place {
  readonly url: string
  readonly schema: string
}

/**
 * A webhook that kills whatever process reads it: its neighbours are hit once, then it is run alone, convicted, shown,
 * and let go when the parser is fixed.
 *
 * @returns whether it ended as it should: all of them read.
 */
export async function tellOfPoison(
  spillway: Spillway,
  place: Place,
  webhooks: readonly Delivery[],
  stage: Stage,
): Promise<boolean> {
  const entries = webhooks
    .slice(0, PARSED)
    .map((it, n) => ({ payload: n === 2 ? { ...it, poison: true as const } : it }))
  await spillway.enqueueMany(parseWebhook, entries)
  const killed = await untilHeld(spillway, place, stage)
  const [held] = (await spillway.quarantine.list()).items
  if (!held) return false
  const { crashLog = [] } = (await spillway.quarantine.get(held.fingerprint)) ?? {}
  stage.line(`   ${killed} processes died; ${pc.red('1 job is quarantined')}, ${PARSED - 1} were read all the same`)
  stage.line(`   ${pc.dim(`fingerprint ${held.fingerprint} (${held.kind})`)}`)
  for (const { worker, alone } of [...crashLog].reverse()) {
    stage.line(`   ${pc.dim(`killed ${worker}, ${alone ? 'alone' : 'in company of others'}`)}`)
  }

  const parser = startParser(place, true)
  await spillway.quarantine.release(held.fingerprint, { canary: true, reason: 'parser updated' })
  await until(async () => (await remaining(spillway)) === 0)
  parser.kill('SIGTERM')
  await exitOf(parser)
  stage.line(`   the parser is fixed, and a canary released: ${pc.green('all are read, nothing is quarantined')}`)
  return (await spillway.quarantine.list()).items.length === 0
}

/** Starts a parser again and again until what kills it is held and the rest is done; how many died. */
async function untilHeld(spillway: Spillway, place: Place, stage: Stage): Promise<number> {
  let killed = 0
  let parser = startParser(place, false)
  await until(async () => {
    if (parser.exitCode !== null || parser.signalCode !== null) {
      killed++
      parser = startParser(place, false)
    }
    stage.progress(`   ${killed} processes died`)
    // What is to be tried again after a crash waits for seconds; the story does not.
    for await (const { id } of spillway.jobs.list({ state: 'retryable', queue: parseWebhook.queue })) {
      await spillway.jobs.promote(id).catch(() => undefined)
    }
    return (await remaining(spillway)) === 1 && (await spillway.jobs.counts()).quarantined === 1
  })
  parser.kill('SIGTERM')
  await exitOf(parser)
  return killed
}

/** Jobs of the parsers that are not done. */
async function remaining(spillway: Spillway): Promise<number> {
  const { available, scheduled, retryable, running, quarantined } = await spillway.jobs.counts()
  return available + scheduled + retryable + running + quarantined
}

function startParser({ url, schema }: Place, isFixed: boolean): ChildProcess {
  const env = { SPILLWAY_DEMO_URL: url, SPILLWAY_DEMO_SCHEMA: schema, SPILLWAY_DEMO_FIXED: isFixed ? 'yes' : 'no' }
  return fork(new URL('./parser-program.js', import.meta.url), { stdio: 'ignore', env: { ...process.env, ...env } })
}

async function exitOf(parser: ChildProcess): Promise<void> {
  if (parser.exitCode !== null || parser.signalCode !== null) return
  await new Promise((resolve) => parser.once('exit', resolve))
}

/** @throws where it takes so long that the demo would not end in time. */
async function until(look: () => Promise<boolean>): Promise<void> {
  const patience = performance.now() + PATIENCE_MS
  while (!(await look())) {
    if (performance.now() > patience) throw new Error('the poisoned webhook was not dealt with in time')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
