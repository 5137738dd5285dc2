import { Spillway } from 'spillway'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type Receiver, startReceiver } from '../support/receiver.js'
import { describeStore } from '../support/store.js'
import { commandLine } from './spillway.js'

describeStore('the command line, of events and webhooks,', ({ given, url }) => {
  const spillway = new Spillway({ url })
  const cli = commandLine(url)
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await startReceiver()
    process.env['SPILLWAY_WEBHOOKS_ALLOW_PRIVATE'] = '1'
  })
  afterAll(async () => {
    delete process.env['SPILLWAY_WEBHOOKS_ALLOW_PRIVATE']
    await receiver.close()
    await spillway.close()
  })
  const die = async () => {
    const { id } = await given.job({ queue: 'billing', kind: 'charge' })
    await spillway.jobs.kill(id, { reason: 'no money' })
    return id
  }

  it('lists events as a document and as a table, with the line for the next page', async () => {
    const after = await spillway.events.position()
    const ids = [await die(), await die()]

    const { code, document } = await cli.json('events', 'list', '--after', after, '--type', 'died', '--limit', '1')
    const { items, cursor } = document as { items: Record<string, unknown>[]; cursor: string }
    const table = await cli('events', 'list', '--after', after, '--limit', '1')
    const wrong = await cli('events', 'list', '--type', 'dyed')

    expect(code).toBe(0)
    expect(items).toMatchObject([{ job_id: ids[0], type: 'died', reason: 'no money', queue: 'billing' }])
    expect(table.stdout).toContain(ids[0])
    expect(table.stdout).toContain(`next page: spillway events list --limit 1 --after ${cursor}`)
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('died, quarantined, undecodable, released, imported, restored, evicted are accepted')
  })

  it('follows events, a document a line, until it is told to stop', async () => {
    const after = await spillway.events.position()
    const running = cli.start('events', 'tail', '--json', '--after', after, '--queue', 'billing')
    onTestFinished(() => running.kill('SIGKILL'))
    const id = await die()

    const line = await running.line(new RegExp(`"job_id":"${id}"`))
    running.kill('SIGTERM')
    const { code } = await running.done

    expect(JSON.parse(line)).toMatchObject({ type: 'died', job_id: id, position: expect.stringMatching(/^\d+$/) })
    expect(code).toBe(0)
  })

  it('shows and sets how long events are kept', async () => {
    const before = await cli('events', 'retention')
    const { document } = await cli.json('events', 'retention', '14d')
    await cli('events', 'retention', '7d')

    expect(before.stdout).toBe('events are kept for 7d\n')
    expect(document).toEqual({ retention_ms: 1_209_600_000 })
  })

  it('makes, shows, tests, changes and removes webhooks, and shows a secret once', async () => {
    const made = await cli.json(
      'webhooks',
      'create',
      receiver.url,
      '--type',
      'died',
      '--digest',
      '5m',
      '--description',
      'x',
    )
    const { id, secret } = made.document as { id: string; secret: string }
    const list = await cli('webhooks', 'list')
    const test = await cli('webhooks', 'test', id)
    const less = ['--digest', 'none', '--all', 'types', '--description', 'none']
    const changed = await cli.json('webhooks', 'update', id, ...less, '--paused', 'true')
    const rotated = await cli('webhooks', 'update', id, '--rotate-secret')
    const got = await cli('webhooks', 'get', id)
    const deliveries = await cli.json('webhooks', 'deliveries', id)
    receiver.answer((response) => void response.writeHead(500).end())
    const failed = await cli('webhooks', 'test', id)
    const gone = await cli('webhooks', 'delete', id)
    const missing = await cli('webhooks', 'get', id)

    expect(secret).toMatch(/^whsec_/)
    expect(list.stdout).toContain('digest 5m')
    expect(test).toMatchObject({ code: 0, stdout: expect.stringMatching(/^test_\S+ was delivered \(204\)\n$/) })
    expect(made.document).toMatchObject({ description: 'x' })
    expect(changed.document).toMatchObject({ types: null, digest_ms: null, description: null, state: 'paused' })
    expect(rotated.stdout).toMatch(/secret, shown only now: whsec_/)
    expect(got.stdout + list.stdout).not.toContain(secret)
    expect((deliveries.document as { items: unknown[] }).items).toMatchObject([{ type: 'test', state: 'delivered' }])
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining('was not delivered: answered 500') })
    expect(gone.code).toBe(0)
    expect(missing.code).toBe(3)
  })

  it('refuses a private address where the process does not allow it', async () => {
    delete process.env['SPILLWAY_WEBHOOKS_ALLOW_PRIVATE']
    const refused = await cli('webhooks', 'create', receiver.url)
    process.env['SPILLWAY_WEBHOOKS_ALLOW_PRIVATE'] = '1'

    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('127.0.0.1 is no public address')
  })
})
