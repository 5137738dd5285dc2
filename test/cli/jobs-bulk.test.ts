import { expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { commandLine } from './spillway.js'

const AT = { queue: 'billing', kind: 'charge' } as const

describeStore('jobs in bulk on the command line', ({ store, given, url, checker }) => {
  const spillway = commandLine(url)
  const stateOf = async (id: string) => (await store.getJob(id, { payload: false }))?.state ?? 'gone'

  it('are purged by id in whatever state, and a live one is refused by name', async () => {
    await given.job({ ...AT, id: '1', state: 'completed' })
    await given.job({ ...AT, id: '2', state: 'undecodable' })
    await given.job({ ...AT, id: '3', state: 'available' })

    const one = await spillway('jobs', 'purge', '1', '--reason', 'asked for')
    const some = await spillway('jobs', 'purge', '2', '3', '--json')

    expect(one).toMatchObject({ code: 0, stdout: 'purged job 1: it is gone\n' })
    expect(some.code).toBe(4)
    expect(JSON.parse(some.stdout)).toMatchObject({ succeeded: ['2'], failed: [{ id: '3', code: 'invalid_state' }] })
    expect(await checker.census()).toEqual({ available: 1 })
  })

  it('are retried with the attempts they have left, by filter and by id', async () => {
    await given.job({ ...AT, id: '1', state: 'archived', attempt: 3 })
    await given.job({ ...AT, id: '2', state: 'archived', attempt: 3, queue: 'mail' })

    const filtered = await spillway('jobs', 'bulk', 'retry', '--queue', 'billing', '--state', 'archived')
    const named = await spillway('jobs', 'bulk', 'retry', '2', '--budget', 'fresh')

    expect(filtered.stdout).toMatch(/is done: retried 1 of 1/)
    expect(named).toMatchObject({ code: 0, stdout: 'retried 1 of 1\n' })
    expect(await store.getJob('1', { payload: false })).toMatchObject({ state: 'available', attempt: 3 })
    expect(await store.getJob('2', { payload: false })).toMatchObject({ state: 'available', attempt: 0 })
  })

  it('that are held are discarded by state, and the line to undo it brings them back', async () => {
    for (const id of ['1', '2']) await given.job({ ...AT, id, state: 'quarantined' })
    await given.job({ ...AT, id: '3', state: 'archived' })

    const { code, stdout } = await spillway('jobs', 'bulk', 'discard', '--state', 'quarantined', '--queue', 'billing')

    expect(code).toBe(0)
    expect(stdout).toMatch(/discarded 2 of 2/)
    expect(await checker.census()).toEqual({ discarded: 2, archived: 1 })
    await spillway(.../undo it: spillway (.*)\n/.exec(stdout)![1]!.split(' '))
    expect(await checker.census()).toEqual({ quarantined: 2, archived: 1 })
  })

  it('are cancelled, killed and promoted by id, each said', async () => {
    for (const id of ['1', '2', '3']) await given.job({ ...AT, id, state: 'scheduled' })

    const cancelled = await spillway('jobs', 'bulk', 'cancel', '1', '77', '--json')
    const killed = await spillway('jobs', 'bulk', 'kill', '2', '--reason', 'broken')
    const promoted = await spillway('jobs', 'bulk', 'promote', '3')

    expect(cancelled.code).toBe(4)
    expect(JSON.parse(cancelled.stdout)).toMatchObject({ succeeded: ['1'], failed: [{ id: '77', code: 'not_found' }] })
    expect([killed.stdout, promoted.stdout]).toEqual(['killed 1 of 1\n', 'promoted 1 of 1\n'])
    expect([await stateOf('1'), await stateOf('2'), await stateOf('3')]).toEqual(['cancelled', 'archived', 'available'])
  })

  it.each([
    [['cancel', '--queue', 'billing'], 'by a filter or as an operation yet: name their ids'],
    [['promote', '1', '--dry-run'], 'by a filter or as an operation yet'],
    [['kill', '1', '--canary', '1'], 'cannot kill with canary: only a retry takes it'],
    [['purge', '1', '--dry-run'], 'name at most 1000, without --dry-run'],
    [['purge', '--state', 'completed', '--queue', 'billing'], 'jobs.purgeIds takes them by id'],
    [['retry'], 'selector is empty'],
    [['discard', '--state', 'archived'], 'name one of'],
    [['melt', '1'], 'known are retry, discard, purge, move, cancel, kill, promote'],
    [['cancel', '1', '--queue', 'billing'], 'cannot take both ids and the filter queue'],
  ])('refuse %j, and nothing is touched', async (words, why) => {
    await given.job({ ...AT, id: '1', state: 'archived' })

    const { code, stdout, stderr } = await spillway('jobs', 'bulk', ...words)

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(why)
    expect(await stateOf('1')).toBe('archived')
    expect((await store.listOperations({ limit: 1 })).items).toEqual([])
  })
})
