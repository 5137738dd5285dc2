import { expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { commandLine } from './spillway.js'

describeStore('spillway doctor', ({ given, url }) => {
  const spillway = commandLine(url)

  it('ends with 1 where something is wrong, and says the command that fixes it', async () => {
    await given.job({ queue: 'billing', kind: 'charge', runAt: new Date(Date.now() - 120_000) })

    const { code, stdout } = await spillway('doctor')

    expect(code).toBe(1)
    expect(stdout).toMatch(/^error {4}no_worker: 1 job of kind charge \(version 1\) waits in queue billing/m)
    expect(stdout).toMatch(/^ +fix: start a worker whose `queues` names billing/m)
    expect(stdout).toMatch(/\n\d+ errors, \d+ warnings\n$/)
  })

  it('is one document for programs', async () => {
    const { code, document } = await spillway.json('doctor')

    expect(code).toBe(1)
    expect(document).toMatchObject({
      ok: false,
      findings: [{ code: 'not_crash_safe', severity: 'error', fix: expect.any(String) }],
      diagnosis: { connection: { is_pooled: false, hears_notices: true } },
    })
  })

  it('ends with 5 where the database cannot be reached', async () => {
    const { code, document } = await commandLine('postgres://127.0.0.1:1/none').json('doctor')

    expect({ code, document }).toMatchObject({ code: 5, document: { error: { code: 'store_unavailable' } } })
  })

  it('shows who has paused a queue, and why, with the queue and with its jobs', async () => {
    await given.job({ id: '7', queue: 'billing' })
    await given.job({ id: '8', queue: 'billing', state: 'completed' })
    await spillway('queues', 'pause', 'billing', '--reason', 'bank is down')

    const { stdout: list } = await spillway('queues', 'list')
    const { stdout: waiting } = await spillway('jobs', 'get', '7')
    const { document } = await spillway.json('jobs', 'get', '7')
    const { stdout: ended } = await spillway('jobs', 'get', '8')

    expect(list).toMatch(/^billing .* by \S+: bank is down$/m)
    expect(waiting).toMatch(/^paused +\S+ by \S+: bank is down$/m)
    expect(document).toMatchObject({ id: '7', queue_paused: { reason: 'bank is down', by: expect.any(String) } })
    expect(ended).not.toContain('bank is down')
  })
})
