import { expect, it } from 'vitest'
import { commandLine } from '../cli/spillway.js'
import { describeStore } from '../support/store.js'

describeStore('spillway serve', ({ store, given, url }) => {
  const spillway = commandLine(url)
  const serve = async (...flags: string[]) => {
    const running = spillway.start('serve', '--port', '0', '--json', ...flags)
    const { url: at } = JSON.parse(await running.line(/"url"/)) as { url: string }
    const stop = async () => {
      running.kill('SIGTERM')
      return running.done
    }
    return { at, running, stop }
  }

  it('answers, goes on with operations that nobody runs, and stops in order', async () => {
    await given.jobs(3, { state: 'archived', queue: 'q' })
    const { at, stop } = await serve()

    const began = await fetch(`${at}/api/dlq/bulk-discard`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"selector":{"queue":"q"}}',
    })
    const { id } = (await began.json()) as { id: string }
    await expect.poll(async () => (await store.getOperation(id))?.state, { timeout: 20_000 }).toBe('done')
    const { code, stderr } = await stop()

    expect(began.status).toBe(202)
    expect(code).toBe(0)
    expect(stderr).toContain('stopping')
  })

  it('tells monitoring what a worker would, each metric once', async () => {
    await given.jobs(3, { state: 'archived', queue: 'q' })
    const { at, stop } = await serve()

    const text = await (await fetch(`${at}/metrics`)).text()
    await stop()

    const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
    expect(text).toMatch(/^spillway_dlq_unreviewed\{queue="q"\} 3$/m)
    expect(names).toContain('spillway_http_request_duration_seconds')
    expect(new Set(names).size).toBe(names.length)
  })

  it('says that it is open, and refuses to be for others', async () => {
    const refused = await spillway('serve', '--host', '0.0.0.0', '--port', '0')
    const { at, running, stop } = await serve('--auth', '--verbose')

    const made = await spillway('tokens', 'create', 'ann', '--role', 'viewer', '--expires-in', '1h')
    const token = made.stdout.trim()
    const remote = (...words: string[]) => spillway('--api', at, '--token', token, ...words)
    const listed = await remote('dlq', 'list', '--json')
    const denied = await remote('queues', 'pause', 'q')
    const none = await spillway('--api', at, 'dlq', 'depth')
    const gone = await spillway('--api', 'http://127.0.0.1:1', 'dlq', 'depth')
    const { stdout, stderr } = await stop()

    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--auth') })
    expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('not shown again') })
    expect(JSON.parse(listed.stdout)).toMatchObject({ items: [], cursor: null })
    expect(denied).toMatchObject({ code: 4, stderr: expect.stringContaining('the right operate is missing') })
    expect(none).toMatchObject({ code: 4, stderr: expect.stringContaining('bearer token') })
    expect(gone).toMatchObject({ code: 5, stderr: expect.stringContaining('spillway serve') })
    expect(`${stdout}${stderr}`).not.toContain(token)
    expect(stderr).toMatch(/GET \/dlq 200 \d+ms ann/)
    await running.done
  })

  it('is gone through by commands as the database is', async () => {
    const { id } = await given.job({ state: 'archived', queue: 'q', payload: { a: 1 } })
    const { at, stop } = await serve()
    const both = async (...words: string[]) => {
      const [local, remote] = [await spillway.json(...words), await spillway.json('--api', at, ...words)]
      return [local.document, remote.document] as [object, object]
    }

    for (const words of [
      ['jobs', 'get', id],
      ['jobs', 'why', id],
      ['dlq', 'list', '--queue', 'q'],
      ['dlq', 'groups'],
      ['queues', 'list'],
    ]) {
      const [local, remote] = await both(...words)
      expect(remote, words.join(' ')).toMatchObject(local)
    }
    const retried = await spillway.json('--api', at, 'dlq', 'retry-bulk', '--queue', 'q', '--reason', 'back')
    const wrong = await spillway('--api', at, 'work', './worker.mjs')
    await stop()

    expect(retried).toMatchObject({ code: 0, document: { state: 'done', succeeded: 1 } })
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('leave --api out') })
    expect(await store.getJob(id)).toMatchObject({ state: 'available' })
    // A dozen processes, each of which starts.
  }, 120_000)
})
