import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { emptyDatabase } from './support/database.js'
import { onServer } from './support/server.js'

const database = emptyDatabase()
const folder = mkdtempSync(join(tmpdir(), 'spillway-bench-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('npm run bench', () => {
  it('measures the rows it is asked for, and leaves nothing in the database', { timeout: 180_000 }, async () => {
    const json = join(folder, 'rows.json')
    const only = 'enqueue_bulk,drain,terminal_failure'

    const run = await bench('--quick', '--only', only, '--json', json)

    expect(run.status, run.stderr).toBe(0)
    const { rows } = JSON.parse(readFileSync(json, 'utf8')) as {
      rows: { name: string; value: number; met: boolean | null }[]
    }
    const calibration = ['raw_commits', 'raw_multirow_insert', 'raw_claim_delete']
    expect(rows.map((row) => row.name)).toEqual([...calibration, 'drain', 'enqueue_bulk', 'terminal_failure'])
    expect(rows.filter((row) => !(row.value > 0))).toEqual([])
    for (const row of rows) expect(run.stdout).toMatch(new RegExp(`^${row.name} `, 'm'))
    expect(await schemas()).toEqual(['public'])
  })

  it('refuses a row it does not have, naming those there are', { timeout: 60_000 }, async () => {
    const run = await bench('--only', 'drian')

    expect(run.status).toBe(2)
    expect(run.stderr).toContain('there is no row drian; there are raw_commits')
  })
})

/** From dist, which the tests have built. */
async function bench(...args: string[]) {
  const env = { ...process.env, DATABASE_URL: database.url }
  const child = spawn(process.execPath, ['scripts/bench.mjs', '--built', ...args], { env })
  const status = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { status: await status, stdout, stderr }
}

async function schemas(): Promise<string[]> {
  return onServer(database.url, async (client) => {
    const query = `select nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema' order by 1`
    return (await client.query<{ nspname: string }>(query)).rows.map((row) => row.nspname)
  })
}
