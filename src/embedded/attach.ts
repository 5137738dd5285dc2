import { renameSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { addressOf } from './connection.js'
import { EmbeddedError } from './embedded-error.js'
import { type Place, readPassword, type VersionFolder } from './folder.js'
import { type Hold, openHold } from './hold.js'
import { ownershipOf, pidFile, readPostmaster } from './postmaster.js'
import { isIdTaken } from './process-identity.js'

/** Answers of a server that will not change by waiting, and what they mean here. */
const FINAL: Record<string, string> = {
  '28P01': 'its password is not the one kept in the folder',
  '28000': 'it does not accept role spillway',
  '53300': 'all its connections are taken',
  EACCES: 'it was started by another user, and only that user (or root) may use it',
}

/**
 * Claims the server that runs on this folder's data, if one does and accepts connections; undefined otherwise.
 *
 * @throws {@link EmbeddedError} `embedded_unavailable` when there is one that will not have us.
 */
export async function attach(folder: VersionFolder, place: Place): Promise<Hold | undefined> {
  try {
    const postmaster = readPostmaster(place.data)
    const address = postmaster?.isReady ? addressOf(postmaster) : undefined
    const password = readPassword(folder)
    if (address === undefined || password === undefined) return undefined
    return await openHold(address, password, place.data)
  } catch (error) {
    const meaning = FINAL[(error as { code?: string }).code ?? '']
    // The rest is a server that is starting, stopping or gone; which, is for the caller to find out under the lock.
    if (meaning === undefined) return undefined
    throw new EmbeddedError(
      `cannot use the embedded database in ${folder.dir}: ${meaning}. Use another folder (SPILLWAY_DIR), or end what is in the way`,
      { cause: error },
    )
  }
}

/**
 * Claims the running server, waiting for one that is starting or stopping; undefined when no server runs and the
 * way is free to start one. To be called under the start lock.
 *
 * A postmaster.pid whose process is certainly another program is moved aside, because PostgreSQL itself would take
 * that program for its server and refuse to start.
 */
export async function attachOrMakeWay(
  folder: VersionFolder,
  place: Place,
  timeoutMs: number,
  onNotice: (message: string) => void,
): Promise<Hold | undefined> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const hold = await attach(folder, place)
    if (hold !== undefined) return hold
    const postmaster = readPostmaster(place.data)
    if (postmaster === undefined) return undefined
    const ownership = ownershipOf(postmaster.pid, place.data)
    if (ownership === 'gone') {
      // A zombie, which a container without an init process keeps for ever, looks alive to PostgreSQL. Should some of
      // the dead server's own processes still run, PostgreSQL sees it by their shared memory and refuses.
      if (isIdTaken(postmaster.pid)) rmSync(pidFile(place.data), { force: true })
      return undefined
    }
    if (ownership === 'alien') {
      const aside = `${pidFile(place.data)}.not-ours-${postmaster.pid}`
      renameSync(pidFile(place.data), aside)
      onNotice(
        `process ${postmaster.pid} in ${pidFile(place.data)} is not this folder's server: file moved to ${aside}`,
      )
      return undefined
    }
    if (Date.now() > deadline) {
      throw new EmbeddedError(
        `cannot use the embedded database in ${folder.dir}: its server (process ${postmaster.pid}) neither accepts ` +
          `connections nor ends; see ${folder.log}`,
      )
    }
    await sleep(50)
  }
}
