import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { emptyDatabase } from '../support/database.js'
import { describeStore } from '../support/store.js'
import { commandLine } from './spillway.js'

const folder = mkdtempSync(join(tmpdir(), 'spillway-work-'))
const spillwayModule = pathToFileURL(join(import.meta.dirname, '../../dist/index.js')).href
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describeStore('spillway work', ({ store, given, url }) => {
  const spillway = commandLine(url, { cwd: folder })

  it('runs the jobs of a module, tells of each, and stops in order at SIGTERM', async () => {
    const module = write(`
      const job = defineJob({ kind: 'charge', queue: 'billing' })
      export default {
        queues: { billing: { concurrency: 2 } },
        jobs: [job.handle(async ({ fail }) => { if (fail) throw new Error('gateway said no') })],
      }`)
    await given.job({ id: '1', kind: 'charge', queue: 'billing', payload: {} })
    await given.job({ id: '2', kind: 'charge', queue: 'billing', payload: { fail: true }, maxAttempts: 1 })

    const work = spillway.start('work', module)
    const lines = await Promise.all([work.line(/completed {2}1 /), work.line(/died {2}2 /)])
    work.kill('SIGTERM')
    const { code, stdout } = await work.done

    expect(code).toBe(0)
    expect(lines[1]).toMatch(/ charge \(billing\) archived: attempts_exhausted: gateway said no$/)
    expect(stdout).toMatch(/ stopped\n$/)
    expect(await store.listWorkers()).toEqual([])
  })

  it('waits at SIGINT for what runs', async () => {
    const module = write(`
      const job = defineJob({ kind: 'slow', queue: 'q' })
      const work = async () => { await new Promise((resolve) => setTimeout(resolve, 500)) }
      export default { queues: { q: {} }, jobs: [job.handle(work)] }`)
    await given.job({ id: '1', kind: 'slow', queue: 'q', payload: {} })

    const work = spillway.start('work', module, '--json', '--verbose')
    await work.line(/"event":"started"/)
    work.kill('SIGINT')
    const { code, stdout } = await work.done

    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string })
    expect(code).toBe(0)
    expect(events.map(({ event }) => event)).toEqual(['registered', 'started', 'completed', 'stopped'])
    expect((await store.getJob('1'))?.state).toBe('completed')
  })

  it('drains and exits with 1 when handlers that ignore their signal hold half the slots', async () => {
    const module = write(`
      const job = defineJob({ kind: 'deaf', queue: 'q', timeout: 100 })
      const work = async () => { await new Promise((resolve) => setTimeout(resolve, 3000)) }
      export default { queues: { q: { concurrency: 2 } }, jobs: [job.handle(work)] }`)
    await given.job({ id: '1', kind: 'deaf', queue: 'q', maxAttempts: 1 })

    const work = spillway.start('work', module)
    await work.line(/died {2}1 /)
    const { code } = await work.done

    expect(code).toBe(1)
    expect(await store.getJob('1')).toMatchObject({ state: 'archived', attempt: 1, history: [{ type: 'timeout' }] })
    expect(await store.listWorkers()).toEqual([])
  })

  it.each([
    ['there is no such file', undefined],
    ['its default export is missing', 'export const jobs = []'],
    ['its `queues` are missing', 'export default { jobs: [] }'],
    ['its `jobs` are no list', 'export default { queues: {}, jobs: [1] }'],
    ['broken on purpose', 'throw new Error("broken on purpose")'],
  ])('says what is wrong with a module: %s', async (problem, text) => {
    const module = text === undefined ? './nowhere.mjs' : write(text)

    const { code, document } = await spillway.json('work', module)

    expect({ code, document }).toMatchObject({
      code: 2,
      document: { error: { code: 'invalid_option', message: expect.stringContaining(problem) } },
    })
  })
})

describeMigrate()

function describeMigrate(): void {
  const { url } = emptyDatabase()
  const spillway = commandLine(url)

  it('spillway migrate makes the schema, once, and says where it stands', async () => {
    const before = await spillway.json('migrate', '--status')
    const made = await spillway.json('migrate')
    const again = await spillway.json('migrate')
    const after = await spillway('migrate', '--status')

    expect(before.document).toMatchObject({ version: 0, pending: expect.arrayContaining(['0001_planes']) })
    expect(made.document).toMatchObject({ applied: expect.arrayContaining(['0001_planes']) })
    expect(again.document).toMatchObject({ applied: [] })
    expect(after).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^the schema is at version \d+, this program at \d+\n$/),
    })
  })

  it('spillway migrate --sql prints the schema without a database', async () => {
    const { code, stdout } = await commandLine(undefined)('migrate', '--sql', '--schema', 'jobs_a')

    expect(code).toBe(0)
    expect(stdout).toContain('"jobs_a".ready_entries')
  })
}

let written = 0

function write(text: string): string {
  const file = join(folder, `worker-${++written}.mjs`)
  writeFileSync(file, `import { defineJob } from '${spillwayModule}'\n${text}`)
  return file
}
