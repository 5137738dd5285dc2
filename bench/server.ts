import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEmbedded } from 'spillway/embedded'
import { connect } from './scratch.js'

export interface Server {
  readonly url: string
  readonly where: string
  stop(): Promise<void>
}

/** The server of DATABASE_URL, else one of our own that loses nothing, in a folder that is removed at the end. */
export async function openServer(): Promise<Server> {
  const url = process.env.DATABASE_URL
  if (url) return { url, where: 'DATABASE_URL', stop: async () => {} }

  const dir = mkdtempSync(join(tmpdir(), 'spillway-bench-'))
  // Where this is root, the server runs as nobody, who must be able to pass; what is inside keeps its own rights.
  chmodSync(dir, 0o711)
  const settings = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on', max_connections: '100' }
  const database = await startEmbedded({ dir, settings })
  return {
    url: database.url,
    where: 'embedded',
    async stop() {
      const { pid, data } = await postmasterOf(database.url)
      await database.release()
      process.kill(pid, 'SIGINT')
      for (let i = 0; i < 200 && isAlive(pid); i++) await sleep(50)
      for (const folder of [data, dir]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** What decides how fast a server can be. */
export async function describeServer(url: string): Promise<Record<string, string>> {
  const names = [
    'server_version',
    'fsync',
    'synchronous_commit',
    'full_page_writes',
    'shared_buffers',
    'max_wal_size',
    'wal_compression',
  ]
  const client = await connect(url)
  const answer: Record<string, string> = {}
  for (const name of names) {
    const { rows } = await client.query<{ value: string }>('select current_setting($1) as value', [name])
    answer[name === 'server_version' ? 'postgresql' : name] = rows[0]?.value ?? ''
  }
  await client.end()
  return answer
}

/** Process and data folder of the server: the first lines of its postmaster.pid. */
async function postmasterOf(url: string): Promise<{ pid: number; data: string }> {
  const client = await connect(url)
  const { rows } = await client.query<{ file: string }>(`select pg_read_file('postmaster.pid') as file`)
  await client.end()
  const [pid, data] = rows[0]!.file.split('\n')
  return { pid: Number(pid), data: data! }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false // ESRCH: it is gone.
  }
}
