import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Binaries } from './binaries.js'
import { KEEPER_PRESENT, SERVER_IN_USE } from './connection.js'
import { replaceFile, type VersionFolder } from './folder.js'
import { KEEPER_PROGRAM } from './keeper-program.js'

/** How long the server stays without a client. */
const IDLE_MS = 10_000

/**
 * Starts a keeper for the server on `data`. It may be started before the server (it waits for it), so that a starter
 * killed in between leaves no server without a keeper; and beside another keeper (one of them ends at once).
 */
export function spawnKeeper(folder: VersionFolder, data: string, binaries: Binaries): ChildProcess {
  replaceFile(folder.keeper, KEEPER_PROGRAM, 0o644)
  const pgUrl = pathToFileURL(createRequire(import.meta.url).resolve('pg')).href
  const numbers = [IDLE_MS, SERVER_IN_USE, KEEPER_PRESENT].map(String)
  const keeper = spawn(process.execPath, [folder.keeper, pgUrl, data, folder.password, ...numbers], {
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
    cwd: folder.dir,
    env: keeperEnv(binaries),
  })
  // Spawning node from node fails only when the machine is out of processes, and then the server fails as well.
  keeper.on('error', () => {})
  keeper.unref()
  return keeper
}

/** Not the starter's settings for node and pg: its debugger port, its test runner's hooks, its PGOPTIONS. */
function keeperEnv(binaries: Binaries): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|NODE_|VITEST)/.test(name))
  return { ...Object.fromEntries(kept), SPILLWAY_PG_CTL: join(dirname(binaries.postgres), 'pg_ctl') }
}
