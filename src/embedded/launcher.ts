import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chownSync, cpSync, existsSync, lchownSync, lstatSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { type Binaries, libraryEnv, linkLibraries } from './binaries.js'
import { EmbeddedError } from './embedded-error.js'

/** How PostgreSQL's programs are run here: they refuse to run as root, so root runs them as somebody else. */
export interface Launcher {
  readonly binaries: Binaries
  /** A folder that may hold data, when the database's own folder cannot be reached by who runs the server. */
  readonly refuge?: string
  /** Starts a program of {@link binaries}, in a process group of its own. */
  spawn(program: string, args: string[], stdio: 'ignore' | ['ignore', number, number]): ChildProcess
  /** Runs a program to its end; rejects, with what it printed, when it fails. */
  run(program: string, args: string[]): Promise<void>
  /** Hands a file or folder, with all in it, to who runs the server. */
  own(path: string): void
}

/** "nobody" on every Linux; on macOS it is another number, but as good: it owns nothing. */
const NOBODY = 65_534
/** Outlives a restart of the machine, unlike /tmp. */
const REFUGE = '/var/tmp'

interface Way {
  readonly uid?: number
  readonly prefix?: readonly string[]
}

/**
 * Chooses how to run `binaries` on data inside `dir`: as this user; or, when this is root, as nobody if nobody can
 * read both, else in a user namespace where root is called nobody, else as nobody with copies in /var/tmp.
 *
 * @throws {@link EmbeddedError} `embedded_unavailable` when none of them works.
 */
export function chooseLauncher(binaries: Binaries, dir: string, onNotice: (message: string) => void): Launcher {
  const namespace: Way = { prefix: ['unshare', '--user', `--map-user=${NOBODY}`, '--'] }
  if (process.getuid?.() !== 0) {
    // initdb insists on a user with a name, which a container started with a number for user may lack.
    return launcher(binaries, userHasName() || !works(binaries, namespace, dir) ? {} : namespace)
  }
  const nobody: Way = { uid: NOBODY }
  if (works(binaries, nobody, dir)) return launcher(binaries, nobody)
  if (works(binaries, namespace, dir)) return launcher(binaries, namespace)

  const refuge = join(REFUGE, `spillway-${createHash('sha256').update(dir).digest('hex').slice(0, 12)}`)
  const copied = copyBinaries(binaries, refuge)
  if (works(copied, nobody, refuge)) {
    onNotice(
      `PostgreSQL refuses to run as root, and user nobody cannot reach ${dir}: programs and data lie in ${refuge} instead`,
    )
    return { ...launcher(copied, nobody), refuge }
  }
  throw new EmbeddedError(
    `cannot start the embedded database: PostgreSQL refuses to run as root, and neither user ${NOBODY} nor a user ` +
      `namespace can run ${binaries.postgres} on ${dir}. Run as an ordinary user, or set DATABASE_URL`,
  )
}

function launcher(binaries: Binaries, { uid, prefix = [] }: Way): Launcher {
  const command = (program: string, args: string[]): [string, string[]] => {
    const [first, ...rest] = [...prefix, program, ...args]
    return [first ?? program, rest]
  }
  // A folder everybody can be in: the caller's may be closed to who runs the server.
  const common = {
    cwd: '/',
    env: serverEnv(binaries),
    windowsHide: true,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  }
  return {
    binaries,
    spawn: (program, args, stdio) => spawn(...command(program, args), { ...common, detached: true, stdio }),
    run: (program, args) =>
      new Promise((resolve, reject) => {
        execFile(...command(program, args), { ...common, maxBuffer: 8e6 }, (error, stdout, stderr) => {
          if (error)
            reject(new Error(`${program} failed: ${(stderr || stdout || error.message).trim()}`, { cause: error }))
          else resolve()
        })
      }),
    own: (path) => {
      const owner = uid ?? process.getuid?.()
      if (owner !== undefined && process.getuid?.() === 0) chownTree(path, owner)
    },
  }
}

function userHasName(): boolean {
  try {
    return userInfo().username !== ''
  } catch {
    // How the system says that it has no such user.
    return false
  }
}

/** Tries for real: permissions have too many sources (modes, ACLs, mounts, seccomp) to be worked out. */
function works(binaries: Binaries, { uid, prefix = [] }: Way, dir: string): boolean {
  const probe = (...command: string[]): boolean => {
    const [first = '', ...rest] = [...prefix, ...command]
    const options = { cwd: '/', env: serverEnv(binaries), stdio: 'ignore' } as const
    return spawnSync(first, rest, uid === undefined ? options : { ...options, uid, gid: uid }).status === 0
  }
  const needed = [dir, ...(binaries.native ? [join(binaries.native, 'share', 'postgresql', 'postgres.bki')] : [])]
  return (
    probe(binaries.postgres, '--version') &&
    needed.every((path) => probe('/bin/sh', '-c', 'test -r "$1" && { ! test -d "$1" || test -x "$1"; }', 'sh', path))
  )
}

function copyBinaries(binaries: Binaries, refuge: string): Binaries {
  mkdirSync(refuge, { recursive: true, mode: 0o755 })
  if (lstatSync(refuge).uid !== 0) {
    throw new EmbeddedError(`cannot use ${refuge}: it belongs to another user; remove it`)
  }
  if (binaries.native === undefined) return binaries
  const native = join(refuge, `postgresql-${binaries.version}`)
  if (!existsSync(native)) {
    const draft = `${native}.${process.pid}.new`
    cpSync(binaries.native, draft, { recursive: true })
    renameSync(draft, native)
  }
  const links = join(refuge, 'lib')
  linkLibraries(native, links)
  const bin = join(native, 'bin')
  return {
    ...binaries,
    native,
    postgres: join(bin, 'postgres'),
    initdb: join(bin, 'initdb'),
    env: libraryEnv(native, links),
  }
}

/** The server gets nothing of the caller's settings for PostgreSQL and node, and speaks one language in its log. */
function serverEnv(binaries: Binaries): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|NODE_|VITEST|LC_|LANG)/.test(name))
  return { ...Object.fromEntries(kept), LC_ALL: 'C', ...binaries.env }
}

function chownTree(path: string, uid: number): void {
  const stat = lstatSync(path)
  if (stat.isDirectory()) {
    for (const name of readdirSync(path)) chownTree(join(path, name), uid)
  }
  if (stat.uid === uid) return
  if (stat.isSymbolicLink()) lchownSync(path, uid, uid)
  else chownSync(path, uid, uid)
}
