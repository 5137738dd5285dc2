import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { Scratch } from '../scratch.js'
import { describeServer, openServer } from '../server.js'
import { describe } from '../table.js'
import { type Check, FULL, isMet, line, load, QUICK, type Soak } from './checks.js'
import { expiry } from './expiry.js'
import { reader } from './reader.js'

const SOAKS = { expiry, reader }
type Name = keyof typeof SOAKS

const USAGE = `npm run soak -- [${Object.keys(SOAKS).join('|')} …] [--rows N] [--minutes N] [--json FILE] [--quick]

  expiry        dead letters that have outlived their retention go while jobs fail, and the leader is killed
  reader        a transaction that has read every table stays open while jobs fail
  --rows N      how many have, ${FULL.rows} by default
  --minutes N   for how long it stays, ${FULL.stayMs / 60_000} by default
  --json FILE   writes the figures
  --quick       small numbers and loose bars: shows that everything works

DATABASE_URL names a scratch database; without it an embedded server is started and thrown away.`

process.exitCode = await main(process.argv.slice(2))

/** @returns the exit code: 1 when a bar was missed, 2 for a wrong command line. */
async function main(args: readonly string[]): Promise<number> {
  let chosen: { readonly names: readonly Name[]; readonly soak: Soak; readonly json: string | undefined } | undefined
  try {
    chosen = read(args)
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`)
    return 2
  }
  if (!chosen) {
    console.log(USAGE)
    return 0
  }
  const server = await openServer()
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= server.stop()
    return stopping
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stop().then(() => process.exit(130)))
  try {
    const about = { cores: availableParallelism(), node: process.version, where: server.where, load: load() }
    console.log(describe({ ...about, ...(await describeServer(server.url)) }))
    const scratch = await Scratch.open(server.url)
    const checks: Check[] = []
    for (const name of chosen.names) {
      console.log(`\n${name}`)
      const found = await SOAKS[name](scratch, chosen.soak)
      for (const check of found) console.log(line(check))
      checks.push(...found)
    }
    await scratch.close()
    if (chosen.json) write(chosen.json, { at: new Date().toISOString(), about, checks })
    const missed = checks.filter((check) => !isMet(check)).map(({ name }) => name)
    console.log(missed.length === 0 ? '\nevery bar met' : `\nmissed: ${missed.join(', ')}`)
    return missed.length === 0 ? 0 : 1
  } finally {
    await stop()
  }
}

function read(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      rows: { type: 'string' },
      minutes: { type: 'string' },
      json: { type: 'string' },
      quick: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  for (const name of positionals) {
    if (!Object.hasOwn(SOAKS, name)) throw new Error(`there is no soak ${name}`)
  }
  const base = values.quick ? QUICK : FULL
  const soak: Soak = {
    ...base,
    rows: number('--rows', values.rows, base.rows),
    stayMs: number('--minutes', values.minutes, base.stayMs / 60_000) * 60_000,
    say: (text) => console.log(`  ${new Date().toISOString().slice(11, 19)} ${text}`),
  }
  const names = (positionals.length > 0 ? positionals : Object.keys(SOAKS)) as Name[]
  return { names, soak, json: values.json }
}

function number(option: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text)
  if (Number.isFinite(value) && value > 0) return value
  throw new Error(`${option} must be a number above 0, got ${text}`)
}

function write(file: string, content: unknown): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`)
  console.log(`written to ${file}`)
}
