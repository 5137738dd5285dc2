import { expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { commandLine } from './spillway.js'

const ESCAPE = '\u001b'

describeStore('spillway dlq', ({ store, given, url }) => {
  const spillway = commandLine(url)

  it('tells how many there are, by queue', async () => {
    await given.job({ state: 'archived', queue: 'billing', dlqAt: new Date('2026-01-01T00:00:00Z') })
    await given.job({ state: 'archived', queue: 'billing' })
    await given.job({ state: 'archived', queue: 'mail' })

    const all = await spillway('dlq', 'depth')
    const one = await spillway.json('dlq', 'depth', '--queue', 'billing')

    expect(all.stdout).toMatch(/^QUEUE +DEPTH +OLDEST\nbilling +2 +2026-01-01T00:00:00.000Z\nmail +1 .*\n\ntotal +3\n$/)
    expect(one.document).toEqual({
      total: 2,
      queues: [{ queue: 'billing', depth: 2, oldest_at: '2026-01-01T00:00:00.000Z' }],
    })
  })

  it.each([
    [
      ['--queue', 'billing'],
      ['3', '1'],
    ],
    [['--kind', 'mail'], ['2']],
    [['--tag', 'urgent'], ['3']],
    [['--reason', 'skipped'], ['2']],
    [['--error', 'card expired'], ['1']],
    [['--since', '2026-01-02T00:00:00Z', '--until', '2026-01-03T00:00:00Z'], ['2']],
    [['--before-dlq-at', '2026-01-02T00:00:00Z'], ['1']],
    [
      ['--before-id', '3'],
      ['2', '1'],
    ],
    [['--queue', 'billing', '--tag', 'none'], []],
    [[], ['3', '2', '1']],
  ])('lists by %j', async (filters, ids) => {
    const at = (day: number) => ({
      state: 'archived' as const,
      id: String(day),
      dlqAt: new Date(Date.UTC(2026, 0, day)),
    })
    await given.job({ ...at(1), queue: 'billing', cause: 'c1', errorMessage: 'the card expired' })
    await given.job({ ...at(2), queue: 'out', kind: 'mail', dlqReason: 'skipped' })
    await given.job({ ...at(3), queue: 'billing', tags: ['urgent'] })

    const { code, document } = await spillway.json('dlq', 'list', ...filters)

    expect(code).toBe(0)
    expect((document as { items: { id: string }[] }).items.map(({ id }) => id)).toEqual(ids)
  })

  it('shows one with every attempt, and lets nothing of it steer the terminal', async () => {
    await given.job({
      state: 'archived',
      id: '1',
      queue: 'billing',
      attempt: 2,
      maxAttempts: 2,
      payload: { customer: 'c_1' },
      errorMessage: `red ${ESCAPE}[31m`,
      tags: [`tag${ESCAPE}]0;title`],
    })

    const { code, stdout } = await spillway('dlq', 'get', '1')

    expect(code).toBe(0)
    expect(stdout).toMatch(/^job +1\nstate +archived\nreason +attempts_exhausted\n/)
    expect(stdout).toMatch(/attempts +2 of 2 failed\n/)
    expect(stdout).toContain('"customer": "c_1"')
    expect(stdout.match(/^ {2}\S+ {2}error /gm)).toHaveLength(2)
    expect(stdout).not.toContain(ESCAPE)
  })

  it('sends one back with what the line changes', async () => {
    await given.job({ state: 'archived', id: '1', queue: 'billing', attempt: 5, maxAttempts: 5 })
    const changes = ['--queue', 'slow', '--priority', '9', '--max-attempts', '8', '--payload', '{"fixed":true}']

    const { code, document } = await spillway.json('dlq', 'retry', '1', ...changes, '--reason', 'gateway is back')

    expect({ code, document }).toMatchObject({ code: 0, document: { id: '1', state: 'available', changed: true } })
    const job = await store.getJob('1', { payload: true })
    expect(job).toMatchObject({ queue: 'slow', priority: 9, maxAttempts: 8, attempt: 0, payload: { fixed: true } })
    expect(job?.history?.at(-1)).toMatchObject({
      type: 'retried',
      why: 'gateway is back',
      by: expect.stringMatching(/.@./),
    })
  })

  it('warns on stderr when nobody works on the queue it goes to', async () => {
    await given.job({ state: 'archived', id: '1', queue: 'billing' })

    const { code, stdout, stderr } = await spillway('dlq', 'retry', '1')

    expect({ code, stdout }).toEqual({ code: 0, stdout: 'retried job 1: it is available\n' })
    expect(stderr).toMatch(/^spillway: warning: .*billing/)
  })

  it('keeps the passwords of urls out of the command for the next page', async () => {
    for (const id of ['1', '2']) await given.job({ state: 'archived', id })
    const secret = new URL(url)
    secret.password ||= 'hunter2'

    const { stdout } = await spillway('dlq', 'list', '--limit', '1', '--database-url', secret.href)

    expect(stdout).toContain('next page: spillway dlq list --limit 1 --database-url "$DATABASE_URL" --cursor ')
    expect(stdout).not.toContain(secret.password)
  })
})

describeStore('spillway queues', ({ store, given, url }) => {
  const spillway = commandLine(url)

  it('sets what the line names', async () => {
    const { code, document } = await spillway.json(
      'queues',
      'set',
      'billing',
      '--dlq-enabled',
      'false',
      '--dlq-retention',
      '90d',
    )

    expect(code).toBe(0)
    expect(document).toMatchObject({
      queue: 'billing',
      policy: { dlq_enabled: false, retention: { dlq: 7_776_000_000 } },
    })
    expect((await store.getQueue('billing')).policy.dlqEnabled).toBe(false)
  })

  it('refuses a line that names nothing', async () => {
    const { code, document } = await spillway.json('queues', 'set', 'billing')

    expect({ code, document }).toMatchObject({ code: 2, document: { error: { code: 'invalid_option' } } })
  })

  it('pauses, lists and resumes', async () => {
    await given.job({ queue: 'billing' })

    await spillway('queues', 'pause', 'billing', '--reason', 'gateway is down')
    const listed = await spillway('queues', 'list')
    await spillway('queues', 'resume', 'billing')

    expect(listed.stdout).toMatch(/billing +1 .*: gateway is down/)
    expect((await store.getQueue('billing')).pausedAt).toBeNull()
  })

  it('lists the workers', async () => {
    await given.worker({ name: 'w1', queues: ['billing'] })

    const { document } = await spillway.json('workers', 'list')

    expect(document).toMatchObject({ items: [{ name: 'w1', queues: ['billing'], state: 'running' }] })
  })
})
