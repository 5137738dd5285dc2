import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { describeStore } from '../support/store.js'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const REAL = 1_200

describeStore('tens of thousands of ids on the command line', ({ given, url, checker }) => {
  /** Not with the helper of the other suites, which hands words on one by one: they are too many for that. */
  async function spillway(words: readonly string[]) {
    const child = spawn(process.execPath, [MAIN, ...words], { env: { ...process.env, DATABASE_URL: url } })
    const ended = new Promise((resolve) => child.once('close', resolve))
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    return { code: await ended, stdout, stderr }
  }

  /** Short ones: the system bounds the length of a line. */
  const unknown = (count: number) => Array.from({ length: count }, (_, n) => String(1_000_000 + n))

  it('are discarded where they are dead letters, and the others counted', async () => {
    const real = await given.jobs(REAL, { state: 'archived' })

    const ran = await spillway(['dlq', 'discard', ...real, ...unknown(65_536 - REAL), '--json'])

    expect(ran).toMatchObject({ code: 4, stderr: '' })
    expect(JSON.parse(ran.stdout)).toMatchObject({
      ...{ state: 'done', matched: 65_536, succeeded: REAL, failed: 65_536 - REAL },
      rows: Array.from({ length: 20 }, () => expect.objectContaining({ code: 'not_found' })),
    })
    expect(await checker.census()).toEqual({ discarded: REAL })
  }, 120_000)

  it('are refused above 100,000, with the limit', async () => {
    await given.jobs(REAL, { state: 'archived' })

    const { code, stdout, stderr } = await spillway(['dlq', 'purge', ...unknown(100_001)])

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/cannot select 100001 ids: the limit is 100000/)
    expect(await checker.census()).toEqual({ archived: REAL })
  })
})
