import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ROLE } from './connection.js'
import { ensurePassword, type Place, type VersionFolder } from './folder.js'
import type { Launcher } from './launcher.js'

/**
 * Makes `data` a PostgreSQL data folder when it is none yet; else only sees to it that the launcher's user owns it.
 * To be called under the start lock. It appears whole: a killed initdb leaves a draft that the next call removes.
 *
 * Data of UTF-8 text, sorted by code point whatever the machine's language, with checksums; one role, {@link ROLE},
 * which needs its password on every way in.
 */
export async function ensureDataFolder(
  launcher: Launcher,
  folder: VersionFolder,
  data: string,
  scratch: string,
): Promise<void> {
  removeDrafts(data)
  if (existsSync(join(data, 'PG_VERSION'))) return launcher.own(data)

  const draft = `${data}.${process.pid}-${Date.now()}.new`
  mkdirSync(draft, { mode: 0o700 })
  launcher.own(draft)
  const passwordFile = join(scratch, 'password')
  writeFileSync(passwordFile, ensurePassword(folder), { mode: 0o600 })
  launcher.own(passwordFile)
  try {
    await launcher.run(launcher.binaries.initdb, [
      `--pgdata=${draft}`,
      `--username=${ROLE}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      // Sorts like C and knows upper and lower case of all letters; exists since 17.
      ...(launcher.binaries.major >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : []),
      '--data-checksums',
      '--no-instructions',
    ])
    renameSync(draft, data)
  } finally {
    rmSync(passwordFile, { force: true })
    rmSync(draft, { recursive: true, force: true })
  }
}

/**
 * Where the data is to be: where it was last, or in the launcher's refuge. Data that lies where the launcher's user
 * cannot reach it is copied to the refuge, whole or not at all; the old files stay, unused.
 */
export function dataFolderFor(launcher: Launcher, folder: VersionFolder, last: Place): string {
  if (launcher.refuge === undefined || last.data !== folder.data) return last.data
  const data = join(launcher.refuge, basename(folder.data))
  if (existsSync(join(folder.data, 'PG_VERSION')) && !existsSync(data)) {
    const draft = `${data}.${process.pid}-${Date.now()}.new`
    cpSync(folder.data, draft, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
    renameSync(draft, data)
  }
  return data
}

/** Names of data folders of other major versions, which the server to be started cannot read. */
export function otherMajors(folder: VersionFolder): string[] {
  return readdirSync(folder.dir).filter((name) => /^pg\d+$/.test(name) && name !== `pg${folder.major}`)
}

function removeDrafts(data: string): void {
  const prefix = `${basename(data)}.`
  for (const name of readdirSync(dirname(data))) {
    if (name.startsWith(prefix) && /^\d+-\d+\.new$/.test(name.slice(prefix.length))) {
      rmSync(join(dirname(data), name), { recursive: true, force: true })
    }
  }
}
