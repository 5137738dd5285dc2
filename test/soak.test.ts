import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { emptyDatabase } from './support/database.js'
import { onServer } from './support/server.js'

const database = emptyDatabase()
const folder = mkdtempSync(join(tmpdir(), 'spillway-soak-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('npm run soak', () => {
  it('deletes what expired while jobs fail and the leader is killed: no duty starves, fresh jobs are picked up', {
    timeout: 300_000,
  }, async () => {
    const { status, said, checks } = await soak('expiry')

    expect(status, said).toBe(0)
    expect(checks.get('expiry_rows_left')).toMatchObject({ value: 0, bar: 0 })
    expect(checks.get('expiry_jobs_astray')).toMatchObject({ value: 0, bar: 0 })
    expect(checks.get('expiry_duty_failures')).toMatchObject({ value: 0, bar: 0 })
    expect(checks.get('expiry_leader_replaced')?.value).toBeLessThanOrEqual(15)
    expect(checks.get('expiry_pickup_p99_ratio')?.value).toBeGreaterThan(0)
  })

  it('lets a report that has read every table stay open for 30 s while jobs fail: fresh ones are picked up, the doctor names it', {
    timeout: 200_000,
  }, async () => {
    const { status, said, checks } = await soak('reader')

    expect(status, said).toBe(0)
    expect(checks.get('reader_untold')).toMatchObject({ value: 0, bar: 0 })
    expect(checks.get('reader_still_there')).toMatchObject({ value: 0, bar: 0 })
    expect(checks.get('reader_pickup_p99_ratio')?.value).toBeGreaterThan(0)
  })

  it('leaves nothing in the database', async () => {
    const { rows } = await onServer(database.url, (client) =>
      client.query(`select nspname from pg_namespace where nspname like 'spillway%'`),
    )

    expect(rows).toEqual([])
  })

  it('refuses a command line it does not know, before it touches anything', { timeout: 60_000 }, async () => {
    const wrong = await run('fast')
    const odd = await run('--rows', 'many')

    expect([wrong.status, odd.status]).toEqual([2, 2])
    expect(wrong.stderr).toContain('there is no soak fast')
    expect(odd.stderr).toContain('--rows must be a number above 0')
  })
})

interface Figure {
  readonly name: string
  readonly value: number
  readonly bar: number | null
}

async function soak(name: string) {
  const json = join(folder, `${name}.json`)
  const { status, stdout, stderr } = await run(name, '--quick', '--json', json)
  if (!existsSync(json)) throw new Error(`it measured nothing:\n${stdout}${stderr}`)
  const { checks } = JSON.parse(readFileSync(json, 'utf8')) as { checks: Figure[] }
  return { status, said: stdout + stderr, checks: new Map(checks.map((check) => [check.name, check])) }
}

async function run(...args: string[]) {
  const script = join(import.meta.dirname, '../scripts/soak.mjs')
  const env = { ...process.env, DATABASE_URL: database.url }
  const child = spawn(process.execPath, [script, '--built', ...args], { env })
  const [stdout, stderr, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ])
  return { status, stdout, stderr }
}
