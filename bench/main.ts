import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { dirname } from 'node:path'
import type { Bench, Scenario } from './bench.js'
import { calibrate } from './calibration.js'
import { type Options, readOptions, USAGE } from './options.js'
import { peerScenarios } from './peers.js'
import {
  CALIBRATIONS,
  type Calibration,
  calibrationOf,
  ROWS,
  type Row,
  type RowName,
  report,
  rowOf,
  type Sample,
  short,
} from './rows.js'
import { drainLarge, drainSmall, snapshot, terminalFailure, terminalFailureLarge } from './scenarios/drain.js'
import { enqueues } from './scenarios/enqueue.js'
import { idle } from './scenarios/idle.js'
import { dueLateness, pickup } from './scenarios/latency.js'
import { deadLists } from './scenarios/lists.js'
import { redrive, redrivePickup } from './scenarios/redrive.js'
import { unserved } from './scenarios/unserved.js'
import { Scratch } from './scratch.js'
import { describeServer, openServer } from './server.js'
import { describe, table } from './table.js'

const SCENARIOS: readonly Scenario[] = [
  drainSmall,
  drainLarge,
  ...enqueues,
  pickup,
  terminalFailure,
  terminalFailureLarge,
  snapshot,
  dueLateness,
  idle,
  redrive,
  redrivePickup,
  unserved,
  deadLists,
]

process.exitCode = await main(process.argv.slice(2))

/** @returns the exit code: 1 when a bar was missed or a scenario failed, 2 for a wrong command line. */
async function main(args: readonly string[]): Promise<number> {
  let options: Options
  try {
    const read = readOptions(args)
    if (read === 'help') {
      console.log(USAGE)
      return 0
    }
    options = read
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`)
    return 2
  }

  const server = await openServer()
  const stop = once(() => server.stop())
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stop().then(() => process.exit(130)))
  try {
    const about = { ...machine(), where: server.where, repeat: options.repeat, ...(await describeServer(server.url)) }
    console.log(describe(about))
    const scratch = await Scratch.open(server.url)
    const { rows, failed } = await measure(scratch, options)
    await scratch.close()
    console.log(`\n${table(rows)}\n`)
    if (options.json) write(options.json, { at: new Date().toISOString(), about, rows, failed })
    return verdict(rows, failed)
  } finally {
    await stop()
  }
}

async function measure(scratch: Scratch, options: Options): Promise<{ rows: Row[]; failed: string[] }> {
  const wants = (name: RowName) => options.only.has(name)
  const bench: Bench = { scratch, quick: options.quick, wants }
  const peers = options.peers ? await peerScenarios(bench) : []
  const scenarios = [...SCENARIOS, ...peers].filter((it) => it.rows.some(wants))
  const samples: Sample[] = []
  const failed = new Set<string>()
  for (let round = 1; round <= options.repeat; round++) {
    console.log(`\nround ${round} of ${options.repeat}`)
    const raw = new Map<Calibration, Sample>()
    const addRaw = async (name: Calibration) => {
      raw.set(name, await calibrate(name, bench))
      samples.push(print(raw.get(name)!))
    }
    for (const name of CALIBRATIONS) await addRaw(name)
    let last: Calibration | undefined = CALIBRATIONS.at(-1)
    for (const scenario of scenarios) {
      const of = scenario.isPeer ? undefined : scenario.rows.map(calibrationOf).find((it) => it !== undefined)
      // Again, unless that was a moment ago: on a shared machine one minute is not like the last.
      if (of && of !== last && !options.quick) await addRaw(of)
      last = undefined
      try {
        const found = (await scenario.run(bench)).filter((it) => wants(rowOf(it.name)))
        for (const it of found) {
          const beside = scenario.isPeer ? undefined : calibrationOf(rowOf(it.name))
          samples.push(print(beside ? { ...it, raw: raw.get(beside)!.value } : it))
        }
      } catch (error) {
        // The others are still worth knowing; the exit code tells.
        for (const name of scenario.rows.filter(wants)) failed.add(name)
        console.error(`  ${scenario.rows.join(', ')} failed:`, error)
      }
    }
  }
  return { rows: report(samples, options.quick), failed: [...failed] }
}

function print(sample: Sample): Sample {
  const { name, value, settings } = sample
  const { unit } = ROWS[rowOf(name)]
  console.log(`  ${name.padEnd(26)} ${short(value).padStart(7)} ${unit.padEnd(9)}  ${describe(settings)}`)
  return sample
}

function verdict(rows: readonly Row[], failed: readonly string[]): number {
  const held = rows.filter((row) => row.met !== null)
  const missed = held.filter((row) => !row.met)
  if (held.length > 0) console.log(`${held.length - missed.length} of ${held.length} bars met`)
  if (missed.length > 0) console.log(`missed: ${missed.map((row) => row.name).join(', ')}`)
  if (failed.length > 0) console.log(`failed: ${failed.join(', ')}`)
  return missed.length + failed.length > 0 ? 1 : 0
}

function once<T>(call: () => Promise<T>): () => Promise<T> {
  let called: Promise<T> | undefined
  return () => {
    called ??= call()
    return called
  }
}

function machine() {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  const cpu = cpus()[0]?.model.trim() ?? 'unknown'
  return { spillway: version, node: process.version, cores: availableParallelism(), cpu }
}

function write(file: string, content: unknown): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`)
  console.log(`written to ${file}`)
}
