import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { commandLine } from './spillway.js'

const folder = mkdtempSync(join(tmpdir(), 'spillway-undecodable-'))
const module = join(folder, 'worker.mjs')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeAll(() => {
  const spillway = pathToFileURL(join(import.meta.dirname, '../../dist/index.js')).href
  writeFileSync(
    module,
    `
    import { defineJob } from '${spillway}'
    const validate = (value) =>
      typeof value.to === 'string' ? { value } : { issues: [{ message: 'expected a text', path: ['to'] }] }
    const input = () => ({ type: 'object', properties: { to: { type: 'string' } } })
    const schema = { '~standard': { version: 1, vendor: 'own', validate, jsonSchema: { input, output: input } } }
    const job = defineJob({ kind: 'send_mail', schema })
    export default { queues: { mail: {} }, jobs: [job.handle(() => {})] }`,
  )
})

describeStore('spillway undecodable', ({ store, given, url }) => {
  const spillway = commandLine(url, { cwd: folder })
  const held = (id: string, payload: unknown, seed = {}) =>
    given.job({
      id,
      state: 'undecodable',
      queue: 'mail',
      kind: 'send_mail',
      heldReason: 'to: expected a text',
      payload,
      ...seed,
    })

  it('lists what is held and why, and shows one as it is stored', async () => {
    await held('1', { to: 7 })
    await held('2', { to: 8 }, { queue: 'other' })

    const list = await spillway('undecodable', 'list', '--queue', 'mail')
    const all = await spillway.json('undecodable', 'list', '--limit', '1')
    const one = await spillway('undecodable', 'get', '1')
    const none = await spillway('undecodable', 'get', '3')

    expect(list.stdout).toMatch(
      /^ID +STATE +QUEUE +KIND +VERSION +CREATED +WHY\n1 +undecodable +mail +send_mail +1 +\S+ +to: expected a text\n$/,
    )
    expect(all.document).toMatchObject({ items: [{ id: '2', state: 'undecodable' }], cursor: expect.any(String) })
    expect(one.stdout).toMatch(/payload\n {2}\{\n {4}"to": 7\n/)
    expect(none.code).toBe(3)
  })

  it('says how many would decode with a module, by kind and version, and unknown without one', async () => {
    await held('1', { to: 'ada' })
    await held('2', { to: 7 })

    const told = await spillway('undecodable', 'check', '--module', module)
    const document = (await spillway.json('undecodable', 'check', '--kind', 'send_mail', '--module', module)).document
    const unknown = await spillway('undecodable', 'check')

    expect(told.stdout).toMatch(/\nsend_mail +1 +2 +1 +1 +0\n/)
    expect(told.stdout).toMatch(/\n2 +send_mail v1 +to +expected a text\n/)
    expect(document).toMatchObject({
      total: 2,
      would_decode: 1,
      groups: [{ kind: 'send_mail', version: 1, would_decode: 1 }],
    })
    expect(unknown.stdout).toMatch(/\nsend_mail +1 +2 +unknown +0 +2\n/)
    expect(unknown.stderr).toContain('--module')
    expect((await store.countJobs()).undecodable).toBe(2)
  })

  it('releases what decodes now, lists what does not, and exits with 4', async () => {
    await held('1', { to: 'ada' })
    await held('2', { to: 7 })

    const { code, stdout } = await spillway(
      'undecodable',
      'release',
      '--all',
      '--module',
      module,
      '--reason',
      'deployed',
    )
    const forced = await spillway.json('undecodable', 'release', '2', '--force')
    const nothing = await spillway.json('undecodable', 'release')

    expect(code).toBe(4)
    expect(stdout).toMatch(
      /^released 1 jobs, left 1 where they are:\nID +CODE +WHY\n2 +undecodable +cannot release job 2: to: expected a text/,
    )
    expect(forced).toMatchObject({ code: 0, document: { succeeded: ['2'], failed: [] } })
    expect(nothing).toMatchObject({ code: 2, document: { error: { code: 'selector_refused' } } })
    expect((await store.countJobs()).available).toBe(2)
  })

  it('asks a worker that runs, whose schema also checks edits', async () => {
    await held('1', { to: 7 })
    const work = spillway.start('work', module, '--json')
    await work.line(/"event":"registered"/)

    const before = await spillway.json('undecodable', 'check')
    const refused = await spillway.json('jobs', 'edit', '1', '--payload', '{"to":8}')
    const edited = await spillway.json('jobs', 'edit', '1', '--payload', '{"to":"ada"}')
    const released = await spillway.json('undecodable', 'release', '1')
    await work.line(/"event":"completed"/)
    work.kill('SIGTERM')
    await work.done

    expect(before.document).toMatchObject({ total: 1, would_decode: 0, refused: 1, unknown: 0 })
    expect(refused).toMatchObject({ code: 2, document: { error: { code: 'payload_refused' } } })
    expect(edited.document).toMatchObject({ version: 2, checked: true })
    expect(released.document).toMatchObject({ succeeded: ['1'] })
    expect((await store.getJob('1'))?.state).toBe('completed')
  })
})

describeStore('spillway queues unserved', ({ store, given, url }) => {
  const spillway = commandLine(url)

  it('lists kinds that wait while no worker of their queue serves them', async () => {
    await given.worker({ queues: ['mail'], kinds: ['send_mail@1'] })
    await given.job({ queue: 'mail', kind: 'send_mail', version: 2 })
    await store.judgeUnserved(45_000, 1_000)

    const { stdout } = await spillway('queues', 'unserved')
    const { document } = await spillway.json('queues', 'unserved')

    expect(stdout).toMatch(/^QUEUE +KIND +VERSION +UNSERVED FOR +GIVEN UP IN\nmail +send_mail +2 +0ms +1h\n$/)
    expect(document).toEqual({
      items: [{ queue: 'mail', kind: 'send_mail', version: 2, waited_ms: 0, limit_ms: 3_600_000 }],
    })
  })
})
