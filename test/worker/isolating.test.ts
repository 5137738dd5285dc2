import { defineJob, Spillway } from 'spillway'
import { signal } from 'spillway/testing'
import { afterAll, expect, it } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import { crashing, fingerprintOfTest } from '../support/crashing.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'

interface Payload {
  readonly n?: number
  readonly hold?: boolean
}

describeStore('a worker and jobs that have killed others', ({ store, given, db, url }) => {
  const spillway = new Spillway({ url })
  const { crash, convict, convicted, open } = crashing(store, given, db)
  afterAll(() => spillway.close())

  const test = defineJob<Payload>({ kind: 'test' })

  /** A worker whose jobs with `hold` go on until they are let go; what started, in order. */
  function working() {
    const started = signal<number>('the start of a handler')
    const holding = new Map<number, () => void>()
    const begun: number[] = []
    const worker = spillway.worker({
      queues: { default: { concurrency: 10 } },
      jobs: [
        test.handle(async ({ n = 0, hold }) => {
          begun.push(n)
          started.fire(n)
          if (hold) await new Promise<void>((resolve) => holding.set(n, resolve))
        }),
      ],
    })
    return { worker, started, begun, letGo: (n: number) => holding.get(n)?.() }
  }

  async function makeDue(): Promise<void> {
    await db.run(sql<[], []>`update spillway.deferred_jobs set due_at = now()`, [])
    await store.promote(100)
  }

  it('runs a suspect when nothing else runs, and nothing else meanwhile', async () => {
    const { worker, started, begun, letGo } = working()
    await worker.start()
    await spillway.enqueue(test, { n: 1, hold: true })
    await started.next()
    await crash([{ n: 2, hold: true }, { n: 3 }])
    await makeDue()
    await until(async () => {
      const rows = await db.run(sql<[], [string]>`select queue from spillway.suspect_turns`, [])
      return rows.length === 1
    })
    await spillway.enqueue(test, { n: 4 })
    const before = [...begun]

    letGo(1)
    await started.next()
    const alone = [...begun]
    letGo(2)
    await until(async () => (await spillway.jobs.counts()).completed === 4)

    expect(before).toEqual([1])
    expect(alone).toEqual([1, 2])
    expect([...begun].sort()).toEqual([1, 2, 3, 4])
    expect([await open({ n: 2, hold: true }), await open({ n: 3 })]).toEqual([0, 0])
    await worker.stop()
  })

  it('holds what is quarantined without entering its handler', async () => {
    await convict()
    const waiting = await given.job({ attempt: 2 })
    const { worker, begun } = working()
    const parked = signal<string>('a job that is parked')
    worker.on('parked', ({ job }) => parked.fire(job.id))
    await worker.start()

    const id = await parked.next()

    expect(id).toBe(waiting.id)
    expect(await spillway.jobs.get(id)).toMatchObject({ state: 'quarantined', attempt: 2, crashAttempt: 0 })
    expect(begun).toEqual([])
    await worker.stop()
  })

  it('runs the canary, and then the rest', async () => {
    await convict({ n: 5 })
    await spillway.enqueue(test, { n: 5 }, { onQuarantine: 'park' })
    const { worker, begun } = working()
    await worker.start()

    await spillway.quarantine.release(fingerprintOfTest({ n: 5 }), { canary: true })
    await until(async () => (await spillway.jobs.counts()).completed === 2)

    expect(begun).toEqual([5, 5])
    expect(await convicted()).toEqual([])
    await worker.stop()
  })

  it('keeps the rest when the canary fails', async () => {
    const job = await convict({ n: 6 })
    const { id } = await spillway.enqueue(test, { n: 6 }, { onQuarantine: 'park' })
    const failing = spillway.worker({
      queues: { default: {} },
      jobs: [
        defineJob({ kind: 'test' }).handle(() => {
          throw new Error('still broken')
        }),
      ],
    })
    await db.run(sql<[], []>`update spillway.held_entries set max_attempts = 1`, [])
    await failing.start()

    await spillway.quarantine.release(fingerprintOfTest({ n: 6 }), { canary: true })
    await until(async () => (await spillway.jobs.get(job.id))?.state === 'archived')
    await store.finishReleases()

    expect((await spillway.jobs.get(id))?.state).toBe('quarantined')
    expect((await spillway.quarantine.list()).items).toMatchObject([{ convicted: true, canaryId: null, held: 1 }])
    await failing.stop()
  })

  it('says that it lives when it was only cut off, and is not charged for it', async () => {
    const { worker, started, letGo } = working()
    await worker.start()
    const { id } = await spillway.enqueue(test, { n: 7, hold: true })
    await started.next()
    const lost = worker.registration as string

    // What a leader does to a worker it has not heard of for a stale time.
    await db.run(sql<[string], []>`delete from spillway.workers where registration = $1`, [lost])
    await store.rescue(45_000, 3)
    const charged = await spillway.jobs.get(id)
    await (worker as unknown as { presence: { beat(): Promise<void> } }).presence.beat()

    expect(charged).toMatchObject({ state: 'retryable', crashAttempt: 1 })
    expect(await spillway.jobs.get(id)).toMatchObject({ crashAttempt: 0, handbacks: 1 })
    expect(await open({ n: 7, hold: true })).toBe(0)
    letGo(7)
    await worker.stop()
  })
})
