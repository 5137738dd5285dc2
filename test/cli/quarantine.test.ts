import { expect, it } from 'vitest'
import { crashing, fingerprintOfTest } from '../support/crashing.js'
import { describeStore } from '../support/store.js'
import { commandLine } from './spillway.js'

const FP = fingerprintOfTest()

describeStore('spillway quarantine', ({ store, given, db, url }) => {
  const spillway = commandLine(url)
  const { convict } = crashing(store, given, db)

  it('lists what is held', async () => {
    const empty = await spillway('quarantine', 'list')
    await convict()
    const list = await spillway('quarantine', 'list')
    const { document } = await spillway.json('quarantine', 'list')

    expect(empty.stdout).toBe('nothing is quarantined\n')
    expect(list.stdout).toMatch(new RegExp(`^FINGERPRINT +KIND .*\\n${FP} +test +default +1 +3 .* convicted\\n$`))
    expect(document).toMatchObject({ items: [{ fingerprint: FP, held: 1, crashes: 3, convicted: true }], cursor: null })
  })

  it('shows crashes and jobs, and the payload only when it is asked for', async () => {
    const job = await convict()
    await given.job()

    const shown = await spillway('quarantine', 'show', FP)
    const { document } = await spillway.json('quarantine', 'show', FP, '--payload')
    const unknown = await spillway('quarantine', 'show', 'f'.repeat(32))

    expect(shown.stdout).toMatch(/blocked +1 job that wait/)
    expect(shown.stdout).toContain(job.id)
    expect(shown.stdout).not.toContain('payload')
    expect(document).toMatchObject({ blocked: 1, payload: {}, crash_log: [{ alone: true }, {}, {}] })
    expect(unknown.code).toBe(3)
  })

  it('refuses new jobs with exit code 4, and parks those that may be', async () => {
    await convict()

    const refused = await spillway('enqueue', 'test', '--payload', '{}')
    const parked = await spillway('enqueue', 'test', '--payload', '{}', '--park')

    expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining(`spillway quarantine release ${FP}`) })
    expect(parked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^parked job \d+ \(test\)/) })
  })

  it('refuses to retry a dead letter of it with exit code 4', async () => {
    await convict()
    const dead = await given.job({ state: 'archived' })

    expect(await spillway('dlq', 'retry', dead.id)).toMatchObject({ code: 4 })
    expect((await store.getJob(dead.id))?.state).toBe('archived')
  })

  it('says of a job that waits why it does not run', async () => {
    await convict()
    const waiting = await given.job()

    const { document } = await spillway.json('jobs', 'get', waiting.id)
    const shown = await spillway('jobs', 'get', waiting.id)

    expect(document).toMatchObject({ blocked: { fingerprint: FP, because: 'quarantined' } })
    expect(shown.stdout).toMatch(new RegExp(`^blocked +by the quarantine of fingerprint ${FP}$`, 'm'))
  })

  it('releases all of it, a canary, or single jobs', async () => {
    const job = await convict()
    await convict({ n: 1 })
    const other = await convict({ n: 2 })

    const canary = await spillway('quarantine', 'release', FP, '--canary')
    const all = await spillway.json('quarantine', 'release', fingerprintOfTest({ n: 1 }), '--reason', 'fixed')
    const some = await spillway('quarantine', 'release', '--id', other.id, '--id', '4242')

    expect(canary.stdout).toBe(`released job ${job.id} as the canary: the rest follows when it succeeds\n`)
    expect(all.document).toEqual({ release_id: expect.any(String), released: 1 })
    expect(some).toMatchObject({
      code: 4,
      stdout: expect.stringContaining('released 1 job'),
      stderr: expect.stringContaining('4242'),
    })
    expect((await store.getJob(other.id))?.state).toBe('available')
  })

  it.each([[[]], [[FP, '--id', '1']], [['--id', '1', '--canary']]])('refuses %j', async (words) => {
    expect(await spillway('quarantine', 'release', ...words)).toMatchObject({ code: 2 })
  })

  it('knows nothing of what is not held', async () => {
    expect(await spillway('quarantine', 'release', FP)).toMatchObject({ code: 3 })
    expect(await spillway('quarantine', 'release', 'abc', '--canary')).toMatchObject({ code: 3 })
  })
})
