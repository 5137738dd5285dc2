import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from 'spillway/embedded'
import { until } from 'spillway/testing'
import { onServer } from './server.js'

export interface OwnServer {
  readonly url: string
  /** Ends the server, with everybody who is connected, and removes its folder. */
  stop(): Promise<void>
}

/** A server in a folder of its own. What it holds is thrown away, so the disk need not be waited for. */
export async function startOwnServer(settings: Readonly<Record<string, string>> = {}): Promise<OwnServer> {
  const dir = mkdtempSync(join(process.getuid?.() === 0 ? '/tmp' : tmpdir(), 'spillway-tests-'))
  // Where tests run as root, the server runs as somebody else, who has to get in.
  chmodSync(dir, 0o755)
  const database = await startEmbedded({ dir, settings: { fsync: 'off', autovacuum: 'on', ...settings } })
  const data = await onServer(database.url, async (client) => {
    const { rows } = await client.query<{ data_directory: string }>('show data_directory')
    return rows[0]?.data_directory as string
  })
  return {
    url: database.url,
    async stop() {
      const pidFile = join(data, 'postmaster.pid')
      const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8').split('\n')[0]) : undefined
      await database.release()
      // Not left to the keeper, which waits ten seconds for one more client.
      if (pid) {
        process.kill(pid, 'SIGINT')
        await until(() => !existsSync(pidFile), { within: '20s', what: 'the end of the test server' })
      }
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
