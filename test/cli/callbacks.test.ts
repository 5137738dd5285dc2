import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { commandLine } from './spillway.js'

describeStore('spillway callbacks', ({ store, given, url }) => {
  const spillway = commandLine(url)
  const waiting = () => given.job({ state: 'waiting', callbackToken: 'secret', maxAttempts: 2 })

  it('complete lets the job go on with the value', async () => {
    const job = await waiting()

    const { code, document } = await spillway.json('callbacks', 'complete', 'secret', '--value', '{"ok":true}')

    expect({ code, document }).toEqual({
      code: 0,
      document: { callback_id: job.callback?.id, name: 'approval', job_id: job.id, job_state: 'available' },
    })
    const again = await spillway.json('callbacks', 'complete', 'secret', '--value', '{"ok":true}')
    expect(again).toMatchObject({
      code: 4,
      document: { error: { code: 'callback_settled', state: 'completed', is_same: true } },
    })
  })

  it('fail makes the attempt fail', async () => {
    const job = await waiting()

    const { code, stdout } = await spillway('callbacks', 'fail', 'secret', '--error', 'declined', '--code', 'E1')

    expect({ code, stdout }).toEqual({ code: 0, stdout: `failed callback approval: job ${job.id} is retryable\n` })
    const history = (await store.getJob(job.id))?.history
    expect(history?.at(-1)).toMatchObject({ type: 'callback_failed', message: 'declined', code: 'E1' })
  })

  it('heartbeat moves the time-out away', async () => {
    const job = await waiting()

    const { code, document } = await spillway.json('callbacks', 'heartbeat', 'secret', '--timeout', '3h')

    expect(code).toBe(0)
    expect(document).toMatchObject({ job_id: job.id, job_state: 'waiting', waits_until: expect.any(String) })
    const until = (await store.getJob(job.id))?.callback?.waitsUntil?.getTime() ?? 0
    expect(until - Date.now()).toBeGreaterThan(10_000_000)
  })

  it('exits with 3 for a token that belongs to nothing, and with 4 for a job that has left', async () => {
    const job = await waiting()
    await store.cancelJob(job.id, { actor: 'test' })

    const unknown = await spillway('callbacks', 'complete', 'other')
    const gone = await spillway('callbacks', 'complete', 'secret')

    expect([unknown.code, gone.code]).toEqual([3, 4])
    expect(gone.stderr).toContain('the job that asked for it is cancelled')
  })

  it('answer the example, whose job waits without a slot', async () => {
    const example = fileURLToPath(new URL('../../examples/ask-for-approval.mjs', import.meta.url))
    const { document } = await spillway.json('enqueue', 'refund', '--queue', 'billing', '--payload', '{"cents":42}')
    const { id } = document as { id: string }

    const work = spillway.start('work', example)
    const [, token] = /callbacks complete (\S+)/.exec(await work.line(/callbacks complete/)) ?? []
    await work.line(/waiting {2}.* for callback approval/)
    const answered = await spillway('callbacks', 'complete', token as string, '--value', '{"ok":true}')
    await work.line(/completed/)
    work.kill('SIGTERM')
    await work.done

    expect(answered.code).toBe(0)
    expect(await store.getJob(id)).toMatchObject({ state: 'completed', result: { refunded: 42 } })
  })

  it('are shown by `jobs get` without their token', async () => {
    const job = await waiting()

    const { stdout } = await spillway('jobs', 'get', job.id)
    const { document } = await spillway.json('jobs', 'list', '--state', 'waiting')

    expect(stdout).toMatch(/waits for\s+approval/)
    expect(document).toMatchObject({ items: [{ id: job.id, callback: { name: 'approval' } }] })
    expect(stdout + JSON.stringify(document)).not.toContain('secret')
  })
})
