import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { commandLine } from './spillway.js'

const folder = mkdtempSync(join(tmpdir(), 'spillway-pipes-'))
const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const spillwayModule = pathToFileURL(join(import.meta.dirname, '../../dist/index.js')).href
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describeStore('a pipe whose reader goes away', ({ store, given, url }) => {
  const spillway = commandLine(url, { cwd: folder })

  it('leaves a server at work where it was that of its notes', async () => {
    const running = spillway.start('serve', '--port', '0', '--json', '--verbose')
    const { url: at } = JSON.parse(await running.line(/"url"/)) as { url: string }

    running.hangUp('stderr')
    const answers: number[] = []
    for (let n = 0; n < 5; n++) answers.push((await fetch(`${at}/healthz`)).status)
    running.kill('SIGTERM')
    const { code } = await running.done

    expect(answers).toEqual([200, 200, 200, 200, 200])
    expect(code).toBe(0)
  })

  it('leaves an exit code as it is', async () => {
    const running = spillway.start('jobs', 'get', '1')
    running.hangUp('stderr')

    expect((await running.done).code).toBe(3)
  })

  it('stops a worker in order', async () => {
    const module = join(folder, 'worker.mjs')
    writeFileSync(
      module,
      `import { defineJob } from ${JSON.stringify(spillwayModule)}
      const job = defineJob({ kind: 'slow', queue: 'q' })
      const work = async () => { await new Promise((resolve) => setTimeout(resolve, 1500)) }
      export default { queues: { q: {} }, jobs: [job.handle(work)] }`,
    )
    const work = spillway.start('work', module, '--verbose')
    await work.line(/registered/)

    work.hangUp('stdout')
    const { id } = await given.job({ kind: 'slow', queue: 'q', payload: {} })
    const { code, stderr } = await work.done

    expect({ code, stderr }).toMatchObject({ code: 0, stderr: '' })
    expect(await store.getJob(id)).toMatchObject({ state: 'completed' })
    expect(await store.listWorkers()).toEqual([])
  })

  it('ends a list, and is no error', async () => {
    await given.jobs(1_000, { queue: 'a'.repeat(200) })
    const listing = spillway.start('jobs', 'list', '--limit', '1000')
    await listing.line(/aaa/)

    listing.hangUp('stdout')

    expect(await listing.done).toMatchObject({ code: 0, stderr: '' })
  })

  it.runIf(existsSync('/dev/full'))('says in one line that nothing more can be written', async () => {
    const line = `exec "${process.execPath}" "${main}" jobs counts > /dev/full`
    const failed = await promisify(execFile)('sh', ['-c', line], { env: { ...process.env, DATABASE_URL: url } }).catch(
      (error: { code: number; stderr: string }) => error,
    )

    expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(/^spillway: cannot write [^\n]+\n$/) })
  })
})
