import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { commandLine } from '../cli/spillway.js'
import { describeStore } from '../support/store.js'

const folder = mkdtempSync(join(tmpdir(), 'spillway-metrics-'))
const spillwayModule = pathToFileURL(join(import.meta.dirname, '../../dist/index.js')).href
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describeStore('spillway work --metrics-port', ({ given, url }) => {
  const spillway = commandLine(url, { cwd: folder })
  const file = join(folder, 'worker.mjs')
  writeFileSync(
    file,
    `import { defineJob } from '${spillwayModule}'
     export default { queues: { q: {} }, jobs: [defineJob({ kind: 'act', queue: 'q' }).handle(() => 1)] }`,
  )

  it('serves what the worker has counted, and whether it takes jobs, until it stops', async () => {
    await given.job({ id: '1', kind: 'act', queue: 'q' })

    const work = spillway.start('work', file, '--metrics-port', '0')
    const line = await work.line(/^serving /)
    await work.line(/completed {2}1 /)
    const base = line.replace(/^serving (.*)\/metrics$/, '$1')
    const text = await (await fetch(`${base}/metrics`)).text()
    const ready = await fetch(`${base}/readyz`)
    work.kill('SIGTERM')
    const { code } = await work.done

    expect(text).toMatch(/^spillway_claims_total\{queue="q"\} 1$/m)
    expect(text).toMatch(/^spillway_settles_total\{queue="q",outcome="completed"\} 1$/m)
    expect(ready.status).toBe(200)
    expect(code).toBe(0)
    await expect(fetch(`${base}/metrics`)).rejects.toThrow()
  })

  it.each(['99999', 'none'])('refuses port %s', async (port) => {
    const { code, document } = await spillway.json('work', file, '--metrics-port', port)

    expect({ code, document }).toMatchObject({
      code: 2,
      document: { error: { message: expect.stringMatching(/port|number/) } },
    })
  })
})
