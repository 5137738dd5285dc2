import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import type { BulkRequest } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'
import { commandLine } from './spillway.js'

const folder = mkdtempSync(join(tmpdir(), 'spillway-dlq-'))
const spillwayModule = pathToFileURL(join(import.meta.dirname, '../../dist/index.js')).href
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describeStore('spillway dlq export and import', ({ store, given, url }) => {
  it('carry dead letters over whole, whatever stands in them', async () => {
    const payloadText = '{"n":12345678901234567890,"text":"a\u2028b"}'
    await given.job({ state: 'archived', id: '1', queue: 'billing', payloadText, tags: ['eu'] })
    const exported = await commandLine(url)('dlq', 'export', '--queue', 'billing')
    await store.actOnIds(['1'], purge, { actor: 'test' })

    const back = commandLine(url, { input: `${exported.stdout}\nno line of an export\n` })
    const imported = await back('dlq', 'import', '-', '--reason', 'moved over')

    expect(exported.stdout.split('\n')).toHaveLength(2)
    expect(imported).toMatchObject({ code: 4, stdout: expect.stringMatching(/^imported 1 of 2\n {2}line 3: /) })
    const job = await store.getJob('1', { payload: true })
    expect(job).toMatchObject({ state: 'archived', queue: 'billing', tags: ['eu'], payloadText })
  })

  const purge: BulkRequest = {
    ...{ action: 'purge' as const, selector: { ids: ['1'] }, dryRun: false, rate: null, maxWaiting: 0, canary: null },
    ...{ abortAbove: 0, holdMs: 0, preview: null },
  }
})

describeStore('spillway dlq replay', ({ store, given, url }) => {
  const spillway = commandLine(url)

  it('runs the handler here on a copy, shows how it failed, and touches nothing', async () => {
    const module = write(`
      const job = defineJob({ kind: 'charge', queue: 'billing' })
      const run = async ({ cents }, ctx) => {
        console.log('charging')
        await ctx.progress({ cents })
        if (cents < 0) throw new RangeError('cannot charge ' + cents, { cause: new Error('gateway') })
        return { charged: cents, generation: ctx.job.generation }
      }
      export default { queues: { billing: {} }, jobs: [job.handle(run)] }`)
    await given.job({ state: 'archived', id: '1', kind: 'charge', payload: { cents: -5 } })
    await given.job({ state: 'archived', id: '2', kind: 'charge', payload: { cents: 5 } })
    await given.job({ state: 'archived', id: '3', kind: 'other' })
    const before = await store.getJob('1', { payload: true })

    const failed = await spillway('dlq', 'replay', '1', '--local', module)
    const done = await spillway.json('dlq', 'replay', '2', '--local', module)
    const unknown = await spillway('dlq', 'replay', '3', '--local', module)

    expect(failed.code).toBe(1)
    expect(failed.stdout).toMatch(/failed after \d+ms; the store was not touched\n {2}RangeError: cannot charge -5\n/)
    expect(failed.stdout).toMatch(/ at .*worker.mjs:\d+/)
    expect(failed.stdout).toContain('caused by Error: gateway')
    expect(done).toMatchObject({ code: 0, document: { outcome: 'completed', result: { charged: 5, generation: 1 } } })
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('no handler for other version 1') })
    expect(await store.getJob('1', { payload: true })).toEqual(before)
  })

  function write(body: string): string {
    const file = join(folder, 'worker.mjs')
    writeFileSync(file, `import { defineJob } from ${JSON.stringify(spillwayModule)}\n${body}`)
    return file
  }
})

describeStore('spillway jobs', ({ store, given, url }) => {
  const spillway = commandLine(url)

  it('edits a job that waits and kills it, and the reports and the audit log tell of it', async () => {
    await given.job({ state: 'retryable', id: '1', queue: 'billing', payload: { cents: 1 } })

    const edited = await spillway('jobs', 'edit', '1', '--payload', '{"cents":2}', '--priority', '7')
    const killed = await spillway('jobs', 'kill', '1', '--reason', 'hopeless')
    const groups = await spillway('dlq', 'groups', '--queue', 'billing')
    const history = await spillway.json('dlq', 'history')
    const audit = await spillway('audit', 'list')

    expect([edited.code, killed.code]).toEqual([0, 0])
    const job = await store.getJob('1', { payload: true })
    expect(job).toMatchObject({ state: 'archived', priority: 7, payload: { cents: 2 }, dlq: { reason: 'hopeless' } })
    expect(groups.stdout).toMatch(/\n1 +1 +new +\S+ +billing +test +hopeless .* 1 /)
    expect(history.document).toMatchObject({ items: [{ arrived: 1, departed: 0 }] })
    expect(audit.stdout.trim().split('\n')).toHaveLength(4)
  })

  it('clones a job that was completed', async () => {
    await given.job({ state: 'completed', id: '1', queue: 'billing', payload: { cents: 1 } })

    const { code, document } = await spillway.json('jobs', 'clone', '1', '--queue', 'slow')

    expect({ code, document }).toMatchObject({ code: 0, document: { origin_id: '1', state: 'available' } })
    const id = (document as { id: string }).id
    expect(await store.getJob(id, { payload: true })).toMatchObject({ queue: 'slow', payload: { cents: 1 } })
  })
})
