import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Spillway } from 'spillway'
import { type EmbeddedDatabase, startEmbedded } from 'spillway/embedded'
import { onePlace } from 'spillway/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Database } from '../../src/store/postgres/database.js'
import { effort } from '../support/effort.js'
import { until } from '../support/patience.js'
import { onServer } from '../support/server.js'
import { finished, hurry } from '../support/settling-down.js'
import { workerProcesses } from '../support/worker-process.js'

const WAVES = 6
const WAVE = 200

describe('a database server that is shot down under load', () => {
  const workers = workerProcesses()
  const dir = mkdtempSync(join(process.getuid?.() === 0 ? '/tmp' : tmpdir(), 'spillway-restart-'))
  let server: EmbeddedDatabase
  let data: string
  let spillway: Spillway
  let db: Database

  beforeAll(async () => {
    chmodSync(dir, 0o755)
    // With the settings of a real one: what was answered has to be on the disk.
    server = await startEmbedded({ dir })
    data = await onServer(server.url, async (client) => {
      const { rows } = await client.query<{ data_directory: string }>('show data_directory')
      return rows[0]?.data_directory as string
    })
    spillway = new Spillway({ url: server.url })
    db = new Database({ url: server.url, max: 2, prepare: false })
    await spillway.migrate()
  })
  afterAll(async () => {
    await workers.killAll()
    await spillway.close()
    await db.close()
    await server.release()
    await shoot('SIGINT')
    rmSync(dir, { recursive: true, force: true })
  })

  /** SIGQUIT is PostgreSQL's immediate stop: no checkpoint, no goodbye; it recovers when it starts again. */
  async function shoot(name: 'SIGQUIT' | 'SIGINT'): Promise<void> {
    const pidFile = join(data, 'postmaster.pid')
    if (!existsSync(pidFile)) return
    process.kill(Number(readFileSync(pidFile, 'utf8').split('\n')[0]), name)
    await until(() => !existsSync(pidFile), { within: '30s', what: 'the end of the server' })
  }

  async function restart(): Promise<void> {
    await shoot('SIGQUIT')
    const again = await startEmbedded({ dir })
    await server.release()
    server = again
  }

  it('has every job that was answered for, and the workers go on by themselves', async () => {
    const checker = onePlace(db, 'spillway')
    const settings = { url: server.url, concurrency: 50, heartbeat: 500, stale: 5_000 }
    const running = await Promise.all([workers.start(settings), workers.start(settings)])
    const calledOff = hurry(server.url)
    const ids: string[] = []

    const produce = async () => {
      for (let wave = 0; wave < WAVES * effort.restarts; wave++) {
        const asked = Array.from({ length: WAVE }, (_, n) => spillway.enqueue('work', { do: 'ok', wait: n % 20 }))
        ids.push(...(await Promise.all(asked)).map(({ id }) => id))
      }
    }
    const restartNowAndThen = async () => {
      for (let round = 0; round < effort.restarts; round++) {
        await until(() => ids.length >= WAVE * WAVES * round + WAVE, { within: '60s', what: 'some load' })
        await restart()
      }
    }
    await Promise.all([produce(), restartNowAndThen()])
    const census = await finished(checker, { within: '120s' })
    await calledOff()

    expect(census).toEqual({ completed: WAVE * WAVES * effort.restarts })
    await checker.expectExactly(ids)
    expect(running.map((worker) => worker.isAlive)).toEqual([true, true])
  })

  it('is listened to again after it came back', async () => {
    const worker = await workers.start({ url: server.url, announce: true, poll: 60_000 })
    await restart()
    await until(() =>
      onServer(server.url, async (client) => {
        const { rows } = await client.query(
          `select 1 from pg_stat_activity where query like 'listen%' or query like 'select pg_notify%'`,
        )
        return rows.length > 0
      }),
    )

    const { id } = await spillway.enqueue('work', { do: 'ok' })

    await until(async () => (await spillway.jobs.get(id))?.state === 'completed', { within: '20s' })
    expect(worker.isAlive).toBe(true)
  })
})
