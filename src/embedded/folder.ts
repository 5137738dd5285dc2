import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The names inside an embedded database's folder. One place, because other processes look for the same names. */
export interface Folder {
  readonly dir: string
  readonly lock: string
  readonly links: string
  readonly keeper: string
}

/** The names that depend on the major version of the PostgreSQL that runs. */
export interface VersionFolder extends Folder {
  readonly major: number
  /** Where the data is unless {@link Place.data} says otherwise. */
  readonly data: string
  readonly log: string
  readonly password: string
  readonly place: string
}

/** Where the server was last put: kept so that it comes back at the same address. */
export interface Place {
  readonly data: string
  readonly port?: number
  readonly socketDir?: string
}

/** A place as noted in the folder. `data` only when it lies outside of it, so that a folder may be moved. */
interface PlaceNote {
  dir: string
  data?: string
  port?: number
  socketDir?: string
}

/** Makes the folder when it is not there. It tells git to ignore it, so that no password is committed by accident. */
export function openFolder(dir: string): Folder {
  mkdirSync(dir, { recursive: true, mode: 0o755 })
  const real = realpathSync(resolve(dir))
  try {
    writeFileSync(join(real, '.gitignore'), '*\n', { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return { dir: real, lock: join(real, 'start.lock'), links: join(real, 'lib'), keeper: join(real, 'keeper.mjs') }
}

/** The same folder as seen by one major version. */
export function forMajor(folder: Folder, major: number): VersionFolder {
  const base = join(folder.dir, `pg${major}`)
  return { ...folder, major, data: base, log: `${base}.log`, password: `${base}.password`, place: `${base}.json` }
}

/** Where the server was last put; the default data folder when it never ran. */
export function readPlace(folder: VersionFolder): Place {
  const note = readNote(folder.place)
  const data = note?.data ?? folder.data
  // A copy of a folder must not take the socket folder from the original, whose server may be running.
  if (note?.dir !== folder.dir) return { data }
  return {
    data,
    ...(note.port === undefined ? {} : { port: note.port }),
    ...(note.socketDir === undefined ? {} : { socketDir: note.socketDir }),
  }
}

/** Notes where the server is. All or nothing. */
export function writePlace(folder: VersionFolder, { data, ...address }: Place): void {
  const note: PlaceNote = { dir: folder.dir, ...(data === folder.data ? {} : { data }), ...address }
  replaceFile(folder.place, `${JSON.stringify(note)}\n`, 0o644)
}

function readNote(path: string): PlaceNote | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as PlaceNote
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    // It is replaced whole and never half there. Guessing could make a second, empty database beside the real one.
    throw error
  }
}

/** The password of role spillway; undefined before the first start. */
export function readPassword(folder: VersionFolder): string | undefined {
  try {
    return readFileSync(folder.password, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The password of role spillway, invented and kept (mode 0600) on the first call. */
export function ensurePassword(folder: VersionFolder): string {
  const known = readPassword(folder)
  if (known !== undefined) return known
  const password = randomBytes(24).toString('hex')
  replaceFile(folder.password, `${password}\n`, 0o600)
  return password
}

/** Writes a whole file or leaves the old one; readers never see a part. */
export function replaceFile(path: string, text: string, mode: number): void {
  const draft = `${path}.${process.pid}.${randomBytes(3).toString('hex')}.new`
  writeFileSync(draft, text, { mode })
  renameSync(draft, path)
}
