import { randomInt } from 'node:crypto'
import { Spillway } from 'spillway'
import { afterAll, expect, it } from 'vitest'
import { effort } from '../support/effort.js'
import { until } from '../support/patience.js'
import { finished, hurry } from '../support/settling-down.js'
import { describeStore } from '../support/store.js'
import { type Noted, workerProcesses } from '../support/worker-process.js'

const JOBS = 10_000
const BATCH = 500
const WORKERS = 2
const KILLS = 6
const MAX_ATTEMPTS = 5
const CRASH_LIMIT = 3

/** What the n-th job asks its handler to do: mostly to succeed, and every other way to end now and then. */
function payloadOf(n: number): { do: string; wait: number; times?: number } {
  const wait = n % 7
  if (n % 40 === 0) return { do: 'fail', wait }
  if (n % 20 === 1) return { do: 'failFirst', times: 2, wait }
  if (n % 100 === 2) return { do: 'skip', wait }
  if (n % 100 === 3) return { do: 'revoke', wait }
  if (n % 100 === 4) return { do: 'snooze', wait }
  return { do: 'ok', wait }
}

describeStore('workers killed at random moments', ({ url, checker }) => {
  const spillway = new Spillway({ url })
  const workers = workerProcesses()
  const settings = { url, concurrency: 200, heartbeat: 500, stale: 1_500 }
  afterAll(() => spillway.close())

  /** The producer's own list: what it was told is stored. */
  async function produce(): Promise<string[]> {
    const ids: string[] = []
    for (let from = 0; from < JOBS; from += BATCH) {
      const entries = Array.from({ length: BATCH }, (_, n) => ({
        payload: payloadOf(from + n),
        maxAttempts: MAX_ATTEMPTS,
      }))
      ids.push(...(await spillway.enqueueMany('work', entries)).map(({ id }) => id))
    }
    return ids
  }

  /** Kills and replaces a worker, again and again; the last ones are left to finish. */
  async function killAgainAndAgain(): Promise<void> {
    const running = await Promise.all(Array.from({ length: WORKERS }, () => workers.start(settings)))
    for (let kill = 0; kill < KILLS; kill++) {
      await new Promise((resolve) => setTimeout(resolve, randomInt(20, 300)))
      const victim = randomInt(WORKERS)
      await running[victim]?.kill('SIGKILL')
      running[victim] = await workers.start(settings)
    }
  }

  it.each(Array.from({ length: effort.killRounds }, (_, n) => n + 1))(
    'lose no job, and charge none more starts than it has (round %i)',
    async () => {
      const calledOff = hurry(url)

      const [ids] = await Promise.all([produce(), killAgainAndAgain()])
      const census = await finished(checker)
      await calledOff()

      const account = await checker.expectExactly(ids)
      expect(account.left).toBe(account.gone['revoked'] ?? 0)
      const ends = (census['completed'] ?? 0) + (census['archived'] ?? 0) + (census['quarantined'] ?? 0)
      expect(ends + account.left).toBe(JOBS)
      const noted = workers.noted()
      expect(startsTwiceUnderOneLease(noted)).toEqual([])
      expect(mostStarts(noted)).toBeLessThanOrEqual(MAX_ATTEMPTS + CRASH_LIMIT)
      await workers.killAll()
    },
  )

  it('a job that kills its process is started three times, and then held; its neighbours run', async () => {
    const { id } = await spillway.enqueue('work', { do: 'die' }, { maxAttempts: 20 })
    const calledOff = hurry(url)
    // It may die before it could say that it is ready.
    const alone = { ...settings, concurrency: 1 }
    let latest = workers.spawn(alone)
    await until(async () => {
      if (!latest.isAlive) latest = workers.spawn(alone)
      return (await checker.census())['quarantined'] === 1
    })

    if (!latest.isAlive) latest = workers.spawn(alone)
    const neighbour = await spillway.enqueue('work', { do: 'ok' })
    await until(async () => (await spillway.jobs.get(neighbour.id))?.state === 'completed')
    await calledOff()

    expect(workers.noted().filter((it) => it.what === 'start' && it.id === id)).toHaveLength(CRASH_LIMIT)
    expect(await spillway.jobs.get(id)).toMatchObject({ state: 'quarantined', attempt: 0, crashAttempt: CRASH_LIMIT })
    expect(latest.isAlive).toBe(true)
    await workers.killAll()
  })

  it('notices a worker that was killed, by its process alone', async () => {
    const dead = await workers.start({ ...settings, heartbeat: 10_000, stale: 60_000, announce: true })
    const { id } = await spillway.enqueue('work', { do: 'hold' })
    await dead.started.next()
    await dead.kill('SIGKILL')

    await workers.start(settings)

    const job = await until(async () => {
      const found = await spillway.jobs.get(id)
      return found?.state === 'retryable' && found
    })
    expect(job).toMatchObject({ attempt: 0, crashAttempt: 1, history: [{ type: 'crash' }] })
    await workers.killAll()
  })
})

function startsTwiceUnderOneLease(noted: readonly Noted[]): string[] {
  const seen = new Set<string>()
  return noted.flatMap(({ what, id, leaseId }) => {
    const start = `${id} ${leaseId}`
    if (what !== 'start') return []
    if (seen.has(start)) return [start]
    seen.add(start)
    return []
  })
}

function mostStarts(noted: readonly Noted[]): number {
  const starts = new Map<string, number>()
  for (const { what, id } of noted) if (what === 'start') starts.set(id, (starts.get(id) ?? 0) + 1)
  return Math.max(0, ...starts.values())
}
