import { expect, it, onTestFinished } from 'vitest'
import type { NewJob } from '../../src/store/store.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'
import { commandLine } from './spillway.js'

const DEAD = { state: 'archived', queue: 'billing', kind: 'charge_card' } as const

describeStore('bulk work on the command line', ({ store, given, url }) => {
  const spillway = commandLine(url)
  const statesOf = async (...ids: string[]) =>
    Promise.all(ids.map(async (id) => (await store.getJob(id, { payload: false }))?.state ?? 'gone'))

  it.each([
    [['dlq', 'retry-bulk', '--to-queue', 'slow'], 'selector is empty'],
    [['dlq', 'purge', '--preview', '7', '--all'], 'both --preview and the filter all'],
  ])('refuses %j, and touches nothing', async (words, why) => {
    await given.job({ ...DEAD, id: '1' })

    const { code, stdout, stderr } = await spillway(...words)

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(why)
    expect(await statesOf('1')).toEqual(['archived'])
    expect((await store.listOperations({ limit: 1 })).items).toEqual([])
  })

  it('prints what a dry run found, and the command for exactly these rows', async () => {
    await given.job({ ...DEAD, id: '1', errorMessage: 'connection refused' })
    await given.job({ ...DEAD, id: '2', generation: 10 })

    const { code, stdout } = await spillway(
      'dlq',
      'retry-bulk',
      '--queue',
      'billing',
      '--to-queue',
      'it is',
      '--dry-run',
    )

    expect(code).toBe(0)
    expect(stdout).toMatch(/^2 match; nothing was changed\n/)
    expect(stdout).toMatch(/would refuse\nJOBS +CODE\n1 +generation_cap\n/)
    expect(stdout).toMatch(/samples\n.*\n[12] .*\n/)
    expect(stdout).toContain('connection refused')
    expect(await statesOf('1', '2')).toEqual(['archived', 'archived'])

    await given.job({ ...DEAD, id: '3' })
    const [, command] = /to retry exactly these: spillway (.*)\n$/.exec(stdout) ?? []
    expect(command).toMatch(/^dlq retry-bulk --to-queue 'it is' --preview \d+$/)
    const again = await spillway(...(command ?? '').match(/'[^']*'|\S+/g)!.map((word) => word.replaceAll("'", '')))

    expect(again.code).toBe(4)
    expect(await statesOf('1', '2', '3')).toEqual(['available', 'archived', 'archived'])
    expect((await store.getJob('1', { payload: false }))?.queue).toBe('it is')
  })

  it('lists the rows that were refused, and exits with 4', async () => {
    await store.enqueue([{ ...newJob, uniqueKey: 'taken' }])
    await given.job({ ...DEAD, id: '901', uniqueKey: 'taken' })
    await given.job({ ...DEAD, id: '902' })

    const { code, stdout } = await spillway('dlq', 'retry-bulk', '--kind', 'charge_card')

    expect(code).toBe(4)
    expect(stdout).toMatch(/^operation \d+ is done: retried 1 of 2 .*; 1 refused\n/)
    expect(stdout).toMatch(/\n901 +unique_conflict +.*taken/)
    expect(stdout).toMatch(/undo it: spillway dlq undo \d+\n$/)
  })

  it('discards by id and by filter, and says of each id what became of it', async () => {
    for (const id of ['1', '2']) await given.job({ ...DEAD, id })
    await given.job({ ...DEAD, id: '3', tags: ['urgent'] })

    const some = await spillway('dlq', 'discard', '1', '2', 'x')
    const none = await spillway('dlq', 'discard', '77')
    const undone = await spillway(.../undo it: spillway (.*)\n/.exec(some.stdout)![1]!.split(' '))

    expect(some).toMatchObject({ code: 4, stdout: expect.stringMatching(/^discarded 2 of 3\n.*\nx +not_found /) })
    expect(none.code).toBe(3)
    expect(undone).toMatchObject({ code: 0, stdout: expect.stringMatching(/^operation \d+ is done: took back 2 of 2/) })
    expect(await statesOf('1', '2', '3')).toEqual(['archived', 'archived', 'archived'])
  })

  it('leaves an operation alone when told to, and goes on with it when watched', async () => {
    await given.job({ ...DEAD, id: '1' })

    const started = await spillway('dlq', 'retry-bulk', '--queue', 'billing', '--detach')
    const before = await statesOf('1')
    const watched = await spillway.json('operations', 'watch', started.stdout.trim())

    expect({ ...started, before }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\n$/),
      before: ['archived'],
    })
    expect(started.stderr).toContain(`spillway operations watch ${started.stdout.trim()}`)
    expect(watched).toMatchObject({ code: 0, document: { state: 'done', succeeded: 1, newer_left_alone: 0 } })
    expect(await statesOf('1')).toEqual(['available'])
  })

  it('at Ctrl-C says that it goes on elsewhere, and how to follow, cancel and undo it', async () => {
    await given.jobs(20, DEAD)

    const bulk = spillway.start('dlq', 'retry-bulk', '--all', '--rate', '0.1')
    onTestFinished(() => bulk.kill('SIGKILL'))
    const hasMoved = async () => (await store.listOperations({ limit: 1 })).items.some((it) => it.succeeded > 0)
    await until(hasMoved, { what: 'the first row' })
    bulk.kill('SIGINT')
    const { code, stdout, stderr } = await bulk.done
    const id = stdout.trim()
    const changed = await spillway('operations', 'rate', id, '500')
    const cancelled = await spillway('operations', 'cancel', id)

    expect(code).toBe(130)
    for (const command of ['operations watch', 'operations cancel', 'dlq undo']) {
      expect(stderr).toContain(`spillway ${command} ${id}`)
    }
    expect(changed).toMatchObject({ code: 0, stdout: `operation ${id} goes on at 500 rows/s\n` })
    expect(cancelled).toMatchObject({ code: 0, stdout: expect.stringContaining('is cancelled: retried 1 of 20') })
  })

  it('with no live worker for ten seconds says so and leaves the canaries to the next one', async () => {
    await given.jobs(3, DEAD)
    await given.worker({ queues: ['mail'] })

    const { code, stdout, stderr } = await spillway('dlq', 'retry-bulk', '--queue', 'billing', '--canary', '1')

    expect(code).toBe(0)
    expect(stdout).toMatch(/^\d+\n$/)
    expect(stderr).toContain('no live worker takes from queue billing')
    expect((await store.getOperation(stdout.trim()))?.state).toBe('running')
  })

  const newJob: NewJob = {
    ...{ queue: 'billing', kind: 'charge_card', version: 1, payload: '{}', priority: 50, maxAttempts: 3, runAt: null },
    ...{ deadline: null, timeoutMs: null, tags: [], metadata: null, retention: null, uniqueKey: null },
    onConflict: 'fail',
  }
})
