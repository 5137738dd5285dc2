/**
 * The keeper: a small program that runs beside the server in a process of its own, outlives whoever started it, and
 * stops the server when nobody has been connected for a while. Then it ends too.
 *
 * A text, because it must run as plain JavaScript also where this library runs from its TypeScript sources; it is
 * written into the folder, which also shows in `ps` whose keeper it is.
 *
 * Arguments: file URL of `pg`, data folder, password file, milliseconds without clients, the numbers of the advisory
 * locks "server in use" and "keeper present".
 */
export const KEEPER_PROGRAM = String.raw`
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const [pgUrl, data, passwordFile, idle, inUse, present] = process.argv.slice(2)
const pg = (await import(pgUrl)).default
const WAIT_FOR_SERVER_MS = 90_000
const WAIT_AS_ORPHAN_MS = 5000
const starter = process.ppid

// A zombie is gone: in a container without an init process nobody may ever collect it.
const isAlive = (pid) => {
  try {
    process.kill(pid, 0)
    if (process.platform !== 'linux') return true
    return !/^.*\) Z /s.test(readFileSync('/proc/' + pid + '/stat', 'utf8'))
  } catch (error) {
    return error.code === 'EPERM'
  }
}

const postmaster = () => {
  try {
    const lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
    const host = process.platform === 'win32' ? lines[5].trim() : lines[4].trim()
    return { pid: Number(lines[0]), port: Number(lines[3]), socketDir: lines[4].trim(), host, isReady: lines[7].trim() === 'ready' }
  } catch {
    return undefined // Not up yet, or gone.
  }
}

// What the starter put into the socket folder to keep it from being removed.
const marksIn = (folder) => {
  try {
    return folder ? readdirSync(folder).filter((name) => name.startsWith('.start-')) : []
  } catch {
    return [] // Removed by somebody who cleans the temp folder.
  }
}

let known
let refused = 0

const connect = async () => {
  const server = postmaster()
  if (!server?.isReady) return undefined
  const password = readFileSync(passwordFile, 'utf8').trim()
  const client = new pg.Client({
    host: server.host, port: server.port, user: 'spillway', password, database: 'postgres', ssl: false,
    application_name: 'spillway embedded keeper', connectionTimeoutMillis: 5000,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query('select pg_try_advisory_lock($1) as ok', [present])
    if (rows[0].ok) return { ...server, client, marks: marksIn(server.socketDir) }
    // Another keeper is there; or this one's own last session, which an operator terminated, is still ending.
    if (!known || ++refused > 20) process.exit(0)
    await client.end()
    return undefined
  } catch {
    await client.end().catch(() => {})
    return undefined // Still starting, or recovering from a crash.
  }
}

// Sessions are counted too, so that a client that came and went between two looks is seen.
const look = async (client) => {
  const { rows } = await client.query(
    "select (select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid())" +
    "::int as clients, (select sum(sessions) from pg_stat_database)::text as sessions")
  return rows[0]
}

// True when the server was told to stop. Taking the lock decides between us and a process that attaches just now:
// it waits for the same lock, and either we see it here, or it sees its connection end and starts the server anew.
const stopIfUnused = async ({ client, pid }) => {
  const { rows } = await client.query('select pg_try_advisory_lock($1) as ok', [inUse])
  if (!rows[0].ok) return false
  if ((await look(client)).clients > 0) {
    await client.query('select pg_advisory_unlock($1)', [inUse])
    return false
  }
  if (process.platform === 'win32') execFileSync(process.env.SPILLWAY_PG_CTL, ['kill', 'INT', String(pid)])
  else process.kill(pid, 'SIGINT')
  return true
}

// Watches until the connection breaks (false) or the server was told to stop (true).
const watch = async (server) => {
  let idleSince
  let sessions
  for (;;) {
    const seen = await look(server.client)
    if (seen.clients > 0 || seen.sessions !== sessions) idleSince = undefined
    sessions = seen.sessions
    if (seen.clients === 0) idleSince ??= Date.now()
    const leftMs = idleSince === undefined ? 2000 : idleSince + Number(idle) - Date.now()
    if (leftMs <= 0 && (await stopIfUnused(server))) return true
    await sleep(Math.min(Math.max(leftMs, 100), idleSince === undefined ? 2000 : 1000))
  }
}

let waitingSince = Date.now()
for (;;) {
  const server = await connect()
  if (server) {
    known = server
    refused = 0
    if (await watch(server).catch(() => false)) break
    waitingSince = Date.now()
  }
  // It was there and its process is gone: whoever starts it again brings a keeper of their own.
  if (known && !isAlive(known.pid)) break
  // Recovery after a crash takes what it takes, and the server has to be watched when it is through.
  const starting = postmaster()
  if (starting && isAlive(starting.pid)) waitingSince = Date.now()
  const orphaned = !known && process.ppid !== starter
  if (Date.now() - waitingSince > (orphaned ? WAIT_AS_ORPHAN_MS : WAIT_FOR_SERVER_MS)) break
  await sleep(50)
}
for (const end = Date.now() + 60_000; known && isAlive(known.pid) && Date.now() < end; ) await sleep(50)
try {
  for (const name of known?.marks ?? []) rmSync(join(known.socketDir, name), { force: true })
  if (known?.socketDir) rmdirSync(known.socketDir)
} catch {
  // Not empty: the next server is being started there already, or this one was killed and the next start tidies up.
}
process.exit(0)
`
