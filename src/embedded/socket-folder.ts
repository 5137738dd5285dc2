import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Launcher } from './launcher.js'

/** A socket's path may have 107 bytes (103 on macOS), of which its name takes up to 17. */
const MAX_BYTES = 103 - '/.s.PGSQL.65535'.length - 2

/**
 * A private folder (mode 0700) for the server's socket, with a short name: `last` if it still is, or can be made
 * again as, a folder of ours; else a new one under the temp folder. Emptied of what a dead server has left, so it is
 * to be called under the start lock, while no server runs.
 */
export function ensureSocketFolder(last: string | undefined, launcher: Launcher): string {
  const mark = `.start-${randomBytes(6).toString('hex')}`
  const folder = last !== undefined && isPrivate(last) && tryMark(last, mark) ? last : makeFolder()
  tryMark(folder, mark)
  for (const name of readdirSync(folder)) {
    if (name !== mark) rmSync(join(folder, name), { force: true, recursive: true })
  }
  launcher.own(folder)
  return folder
}

/** The last server's keeper removes its folder when it is empty, perhaps right now. The mark keeps it from that. */
function tryMark(folder: string, mark: string): boolean {
  try {
    writeFileSync(join(folder, mark), '')
    return true
  } catch {
    // It was faster: another folder, then.
    return false
  }
}

function makeFolder(): string {
  // Root's own temp folder may be closed to the user that root runs the server as.
  const parent = process.getuid?.() === 0 ? '/tmp' : tmpdir()
  const prefix = join(parent, 'spillway-')
  return mkdtempSync(Buffer.byteLength(prefix) + 6 <= MAX_BYTES ? prefix : '/tmp/spillway-')
}

/** Everybody can make folders under /tmp, so a name we used once proves nothing: it must be ours, and closed. */
function isPrivate(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 })
    return true
  } catch {
    // There already (looked at below), or its parent is gone (then the look fails, and a new one is made).
  }
  try {
    const stat = lstatSync(folder)
    // Root may have given it to nobody; then it must be empty of trust but is still closed to all others.
    const owners = process.getuid?.() === 0 ? [0, 65_534] : [process.getuid?.() ?? stat.uid]
    return stat.isDirectory() && owners.includes(stat.uid) && (stat.mode & 0o077) === 0
  } catch {
    // Gone.
    return false
  }
}
