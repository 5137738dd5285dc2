import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { commandLine } from './spillway.js'

describeStore('spillway enqueue', ({ store, url }) => {
  const spillway = commandLine(url)

  it('stores a job with everything the line says', async () => {
    const payload = '{"customer":"c_1","cents":12345678901234567890}'
    const settings = ['--queue', 'billing', '--priority', '7', '--tag', 'urgent', '--tag', 'eu', '--max-attempts', '3']
    const more = ['--unique', 'k', '--metadata', '{"trace":"x"}', '--run-at', '2100-01-01T00:00:00Z']

    const { code, document } = await spillway.json('enqueue', 'charge_card', '--payload', payload, ...settings, ...more)

    expect({ code, document }).toEqual({ code: 0, document: { id: expect.stringMatching(/^\d+$/), inserted: true } })
    const job = await store.getJob(idOf({ document }), { payload: true })
    expect(job).toMatchObject({
      ...{ kind: 'charge_card', state: 'scheduled', queue: 'billing', priority: 7, tags: ['urgent', 'eu'] },
      ...{ maxAttempts: 3, uniqueKey: 'k', metadata: { trace: 'x' }, runAt: new Date('2100-01-01T00:00:00Z') },
    })
    expect(job?.payloadText).toBe(payload)
  })

  it('reads the payload from stdin and from a file', async () => {
    const file = join(tmpdir(), `spillway-payload-${process.pid}.json`)
    writeFileSync(file, '{"from":"file"}')

    const piped = await commandLine(url, { input: '{"from":"stdin"}' }).json('enqueue', 'k', '--payload', '-')
    const read = await spillway.json('enqueue', 'k', '--payload', `@${file}`)

    expect((await store.getJob(idOf(piped), { payload: true }))?.payload).toEqual({ from: 'stdin' })
    expect((await store.getJob(idOf(read), { payload: true }))?.payload).toEqual({ from: 'file' })
  })

  it('says in one line why a payload is refused, and exits with 2', async () => {
    const { code, stdout, stderr } = await spillway('enqueue', 'k', '--payload', '{')

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^spillway: cannot read the payload: it is no JSON: .*\n$/)
  })
})

describeStore('spillway jobs', ({ store, given, url }) => {
  const spillway = commandLine(url)

  it('lists what matches, and ends with the command for the next page', async () => {
    for (const id of ['1', '2', '3']) await given.job({ id, queue: 'billing', kind: 'charge card' })
    await given.job({ id: '4', queue: 'other' })

    const { code, stdout } = await spillway('jobs', 'list', '--queue', 'billing', '--limit', '2')
    const [command] = /spillway (jobs list .*)/.exec(stdout)?.slice(1) ?? []
    const next = await spillway(...command!.split(' '))

    expect(code).toBe(0)
    expect(stdout).toMatch(/^ID +STATE +QUEUE +KIND .*\n3 +available +billing +charge card .*\n2 +available/)
    expect(next.stdout).toMatch(/\n1 +available/)
    expect(next.stdout).not.toContain('next page')
  })

  it('prints one document with --json, in snake_case and with exact integers', async () => {
    const job = await given.job({ id: '7', payloadText: '{"camelCase":9007199254740993}', attempt: 1, tags: ['a'] })

    const { stdout, document } = await spillway.json('jobs', 'get', '7')

    expect(stdout).toContain('"payload":{"camelCase":9007199254740993}')
    expect(document).toMatchObject({
      id: '7',
      state: 'available',
      max_attempts: job.maxAttempts,
      run_lease: job.runLease,
    })
    expect(document).toMatchObject({ history: [{ type: 'error', started_at: expect.any(String) }], dlq: null })
  })

  it('retries, cancels, promotes and reschedules by id', async () => {
    await given.job({ id: '1', state: 'failed', attempt: 3, maxAttempts: 3 })
    await given.job({ id: '2' })
    await given.job({ id: '3', state: 'scheduled' })
    await given.job({ id: '4' })

    const said = [
      await spillway('jobs', 'retry', '1', '--budget', 'extra:2'),
      await spillway('jobs', 'cancel', '2', '--reason', 'twice'),
      await spillway('jobs', 'promote', '3'),
      await spillway('jobs', 'reschedule', '4', '--run-at', '1h'),
    ]

    expect(said.map(({ code, stdout }) => [code, stdout])).toEqual([
      [0, 'retried job 1: it is available\n'],
      [0, 'cancelled job 2\n'],
      [0, 'promoted job 3: it is available\n'],
      [0, 'rescheduled job 4: it is scheduled\n'],
    ])
    expect(await store.getJob('1')).toMatchObject({ attempt: 3, maxAttempts: 5 })
  })

  it('counts the jobs of every state', async () => {
    await given.job()
    await given.job({ state: 'archived' })

    const { document } = await spillway.json('jobs', 'counts')

    expect(document).toMatchObject({ available: 1, archived: 1, completed: 0 })
  })
})

describe('exit codes', () => {
  describeStore('of a line', ({ given, url }) => {
    const spillway = commandLine(url)

    it.each([
      [3, 'not_found', ['jobs', 'get', '42']],
      [3, 'not_found', ['jobs', 'cancel', 'abc']],
      [3, 'not_found', ['dlq', 'get', '1']],
      [4, 'invalid_state', ['dlq', 'retry', '1']],
      [2, 'usage', ['jobs', 'list', '--state', 'dead']],
      [2, 'usage', ['jobs', 'list', '--colour', 'red']],
      [2, 'usage', ['jobs', 'explode']],
      [2, 'usage', ['jobs', 'reschedule', '1']],
      [2, 'invalid_option', ['jobs', 'list', '--limit', '0']],
      [5, 'store_unavailable', ['jobs', 'list', '--database-url', 'postgres://127.0.0.1:1/none']],
      [1, 'schema_missing', ['jobs', 'list', '--schema', 'elsewhere']],
    ])('are %i for %s', async (exit, code, words) => {
      await given.job({ id: '1' })

      const { code: left, document, stderr } = await spillway.json(...words)

      expect({ left, document }).toMatchObject({
        left: exit,
        document: { error: { code, message: expect.any(String) } },
      })
      expect(stderr).toMatch(/^spillway: .+\n$/)
    })

    it.each([['--help'], ['--version'], ['dlq', 'list', '--help']])('are 0 for %s', async (...words) => {
      const { code, stdout, stderr } = await spillway(...words)

      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout.length).toBeGreaterThan(3)
    })
  })
})

function idOf({ document }: { readonly document: unknown }): string {
  return (document as { id: string }).id
}
