import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { attach, attachOrMakeWay } from './attach.js'
import { type Binaries, findBinaries } from './binaries.js'
import { createDatabase, urlOf } from './connection.js'
import { dataFolderFor, ensureDataFolder, otherMajors } from './data-folder.js'
import {
  ensurePassword,
  forMajor,
  openFolder,
  type Place,
  readPlace,
  type VersionFolder,
  writePlace,
} from './folder.js'
import type { Hold } from './hold.js'
import { spawnKeeper } from './keeper.js'
import { chooseLauncher } from './launcher.js'
import { startServer } from './server.js'
import { ensureSocketFolder } from './socket-folder.js'
import { withStartLock } from './start-lock.js'

export interface EmbeddedOptions {
  /** The folder the database belongs to. Default: `SPILLWAY_DIR`, else `.spillway` in the current folder. */
  dir?: string
  /** More settings of PostgreSQL, as in postgresql.conf. They count for the call that starts the server. */
  settings?: Record<string, string>
  /** Told, in one sentence, what was found and dealt with, such as data put elsewhere. Default: nobody. */
  onNotice?: (message: string) => void
}

export interface EmbeddedDatabase {
  /** For `pg` and other clients: role and database spillway, through the private socket. Holds the password. */
  readonly url: string
  /** The folder, as a full path. */
  readonly dir: string
  /** Whether this call started the server; false when it was running. */
  readonly started: boolean
  /** Gives up this call's claim on the server. Connections made with {@link url} stay. May be called twice. */
  release(): Promise<void>
}

/** Enough for PostgreSQL to recover, after a crash, everything that `max_wal_size` lets pile up. */
const TIMEOUT_MS = 300_000

/**
 * Gives a durable PostgreSQL that belongs to a folder: the one running there, else starts it (and makes it, the first
 * time, in about two seconds).
 *
 * All processes that name the folder get the same server, whoever started it, also when that one was killed. It stops
 * ten seconds after the last client and the last claim are gone; the claim made here lasts until
 * {@link EmbeddedDatabase.release} or the end of the process, which it does not delay.
 *
 * May be called at the same time by any number of processes. A call that is cut short leaves a folder that the next
 * call can use.
 *
 * @throws `EmbeddedError` with code `embedded_unavailable` when there is no PostgreSQL to run here, when the one running
 *   will not have us, or when it does not come up (then with the end of its log).
 *
 * @example
 * const database = await startEmbedded()
 * const pool = new pg.Pool({ connectionString: database.url })
 */
export async function startEmbedded(options: EmbeddedOptions = {}): Promise<EmbeddedDatabase> {
  const { settings = {}, onNotice = () => {} } = options
  const base = openFolder(options.dir ?? (process.env.SPILLWAY_DIR || join(process.cwd(), '.spillway')))
  const binaries = findBinaries(base.links)
  const folder = forMajor(base, binaries.major)

  const { hold, started } =
    (await attachReady(folder)) ??
    (await withStartLock(folder.lock, TIMEOUT_MS, () => attachOrStart(binaries, folder, settings, onNotice)))
  if (!started && !hold.hasKeeper) spawnKeeper(folder, readPlace(folder).data, binaries)

  return {
    url: urlOf(hold.address, ensurePassword(folder)),
    dir: folder.dir,
    started,
    release: () => hold.close(),
  }
}

interface Claimed {
  hold: Hold
  started: boolean
}

/** The usual case, without the lock: everything is there. */
async function attachReady(folder: VersionFolder): Promise<Claimed | undefined> {
  const hold = await attach(folder, readPlace(folder))
  if (hold === undefined || hold.hasDatabase) return hold && { hold, started: false }
  // The starter is just about to create the database, or died before it could: the lock tells which.
  await hold.close()
  return undefined
}

async function attachOrStart(
  binaries: Binaries,
  folder: VersionFolder,
  settings: Record<string, string>,
  onNotice: (message: string) => void,
): Promise<Claimed> {
  const running = await attachOrMakeWay(folder, readPlace(folder), TIMEOUT_MS, onNotice)
  const claimed = running
    ? { hold: running, started: false }
    : { hold: await start(binaries, folder, settings, onNotice), started: true }
  try {
    if (!claimed.hold.hasDatabase) await createDatabase(claimed.hold.address, ensurePassword(folder))
  } catch (error) {
    await claimed.hold.close()
    throw error
  }
  return claimed
}

async function start(
  binaries: Binaries,
  folder: VersionFolder,
  settings: Record<string, string>,
  onNotice: (message: string) => void,
): Promise<Hold> {
  const launcher = chooseLauncher(binaries, folder.dir, onNotice)
  const last = readPlace(folder)
  const data = dataFolderFor(launcher, folder, last)
  const others = otherMajors(folder)
  if (!existsSync(data) && others.length > 0) {
    onNotice(
      `starting empty with PostgreSQL ${folder.major}: ${others.join(', ')} in ${folder.dir} is of another version`,
    )
  }

  const socketDir = process.platform === 'win32' ? undefined : ensureSocketFolder(last.socketDir, launcher)
  const place: Place = { ...last, data, ...(socketDir === undefined ? {} : { socketDir }) }
  // First of all, so that whoever comes after a crash of this process finds the same data and socket folder.
  writePlace(folder, place)
  await ensureDataFolder(launcher, folder, data, socketDir ?? folder.dir)

  const keeper = spawnKeeper(folder, data, binaries)
  try {
    const up = await startServer(launcher, folder, place, settings, TIMEOUT_MS)
    writePlace(folder, up.place)
    return up.hold
  } catch (error) {
    keeper.kill('SIGKILL')
    throw error
  }
}
