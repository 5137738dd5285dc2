import { expect, it } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import type { JobEnd, Settlement, WorkerSession } from '../../src/store/store.js'
import { crashing, fingerprintOfTest } from '../support/crashing.js'
import { describeStore } from '../support/store.js'
import { someoneWaits } from '../support/waits.js'
import { workerInfo } from '../support/worker-info.js'

const QUEUE = 'default'
/** So that a session looks again at once. */
const NEWS = { type: 'ready', queue: QUEUE, priority: 50, position: '1' } as const

describeStore('jobs whose fingerprint has crashed', ({ store, given, db, url, inTransaction }) => {
  const { crash, convict, open, convicted } = crashing(store, given, db)
  const makeDue = async () => {
    await db.run(sql<[], []>`update spillway.deferred_jobs set due_at = now()`, [])
    await store.promote(100)
  }

  async function withSession(work: (session: WorkerSession) => Promise<void>, name = 'test'): Promise<void> {
    const session = await store.register(workerInfo({ name }))
    try {
      await work(session)
    } finally {
      await session.end()
      await session.close()
    }
  }
  const complete = (job: Settlement['job']): Settlement => ({ job, end: { event: 'complete', result: null } })

  it('are passed over by claims, uncounted, and taken one by one by a worker whose turn it is', async () => {
    const [suspect] = await crash([{}, { n: 1 }])
    await makeDue()
    const other = await given.job({ payload: { n: 2 } })

    await withSession(async (session) => {
      const claimed = await session.claim(QUEUE, 10)
      const turn = await session.takeTurn(QUEUE)
      const alone = await session.claimSuspect(QUEUE)
      const next = await session.claimSuspect(QUEUE)
      const none = await session.claimSuspect(QUEUE)

      expect(claimed.map(({ id }) => id)).toEqual([other.id])
      expect(turn).toBe('ours')
      expect(alone).toMatchObject({ id: suspect!.id, handbacks: 0, runLease: 2, bar: undefined })
      expect(next?.payload).toBe('{"n":1}')
      expect(none).toBeUndefined()
    })
  })

  it('are one worker’s at a time, until that leaves the turn or is gone', async () => {
    await crash([{}, { n: 1 }])
    await makeDue()

    await withSession(async (first) => {
      await first.pulse()
      expect(await first.takeTurn(QUEUE)).toBe('ours')
      await withSession(async (second) => {
        await second.pulse()
        expect(await second.takeTurn(QUEUE)).toBe('theirs')
        await first.leaveTurn(QUEUE)
        expect(await second.takeTurn(QUEUE)).toBe('ours')
      }, 'second')
      // It went without leaving its turn.
      await first.pulse()
      expect(await first.takeTurn(QUEUE)).toBe('ours')
    })
  })

  it('are not asked for while there are none', async () => {
    await given.job()

    await withSession(async (session) => {
      await session.pulse()

      expect(session.hasSuspects).toBe(false)
      expect(await session.takeTurn(QUEUE)).toBe('none')
      expect(await session.claim(QUEUE, 10)).toHaveLength(1)
    })
  })

  it('run alone to the end where one more crash convicts them', async () => {
    await crash([{}, { n: 1 }])
    await crash([{}, { n: 2 }])
    await makeDue()

    await withSession(async (session) => {
      await session.pulse()
      const job = await session.claimSuspect(QUEUE)
      const other = await session.claimSuspect(QUEUE)

      expect([job, other].map((it) => [it!.payload, session.isAloneToTheEnd(it!)])).toEqual([
        ['{}', true],
        ['{"n":1}', false],
      ])
    })
  })

  it('are cleared by a success', async () => {
    await crash([{}, { n: 1 }])
    await makeDue()

    await withSession(async (session) => {
      await session.pulse()
      const job = await session.claimSuspect(QUEUE)
      await session.settle([complete(job!)])
    })

    expect(await open()).toBe(0)
    expect(await open({ n: 1 })).toBe(1)
  })

  it.each<JobEnd>([
    { event: 'retry', delayMs: 1, charge: 1, entry: null },
    {
      ...{ event: 'dead', reason: 'skipped', charge: 0, entry: null, cause: '0'.repeat(16) },
      ...{ errorClass: 'skip', errorMessage: 'no_use', title: 'skip: no_use' },
    },
    { event: 'snooze', delayMs: 1 },
    { event: 'revoke' },
    { event: 'handback' },
    { event: 'undecodable', reason: 'no number', entry: '{"type":"undecodable"}' },
    { event: 'wait', callbackId: '0', name: 'approval', retryDelayMs: 1 },
  ])('are not cleared by another end: $event', async (end) => {
    await crash([{}, { n: 1 }])
    await makeDue()

    await withSession(async (session) => {
      await session.pulse()
      const job = await session.claimSuspect(QUEUE)
      const [settled] = await session.settle([{ job: job!, end }])
      expect(settled?.outcome).toBe('applied')
    })

    expect(await open()).toBe(1)
  })

  it('are marked where a worker with an older list has claimed them', async () => {
    await withSession(async (session) => {
      await session.pulse()
      await crash([{}, { n: 1 }])
      await makeDue()
      await given.job({ payload: { n: 2 } })
      session.heard(NEWS)

      const claimed = await session.claim(QUEUE, 10)

      expect(claimed.map(({ payload, bar }) => [payload, bar])).toEqual([
        ['{}', 'suspect'],
        ['{"n":1}', 'suspect'],
        ['{"n":2}', undefined],
      ])
    })
  })

  it('do not run once they are convicted, also where the worker heard of it with the claim', async () => {
    await withSession(async (session) => {
      await session.pulse()
      await convict()
      const waiting = await given.job()
      session.heard(NEWS)

      const [claimed] = await session.claim(QUEUE, 10)
      const [settled] = await session.settle([{ job: claimed!, end: { event: 'quarantine' } }])

      expect(claimed).toMatchObject({ id: waiting.id, bar: 'quarantined' })
      expect(settled).toEqual({ outcome: 'applied', state: 'quarantined' })
      expect(await store.getJob(waiting.id)).toMatchObject({
        state: 'quarantined',
        attempt: 0,
        crashAttempt: 0,
        handbacks: 0,
        reason: 'fingerprint',
        blocked: { fingerprint: fingerprintOfTest() },
      })
    })
  })

  it('go back to their place where they were released between the claim and the hold', async () => {
    await convict()
    const waiting = await given.job({ position: '77' })

    await withSession(async (session) => {
      const [claimed] = await session.claim(QUEUE, 10)
      await store.releaseFingerprint(fingerprintOfTest(), { actor: 'test' })
      const [settled] = await session.settle([{ job: claimed!, end: { event: 'quarantine' } }])

      expect(settled).toEqual({ outcome: 'applied', state: 'available' })
    })

    const [row] = await db.run(sql<[string], [string]>`select position from spillway.ready_entries where id = $1`, [
      waiting.id,
    ])
    expect(row).toEqual(['77'])
  })

  it('are not left behind by a release that runs while they are being held', async () => {
    await convict()
    const waiting = await given.job()

    await withSession(async (session) => {
      const [claimed] = await session.claim(QUEUE, 10)
      let settling: Promise<unknown> | undefined
      await inTransaction(async (tx) => {
        await tx.run(sql<[], []>`update spillway.quarantine set release_id = 5`, [])
        settling = session.settle([{ job: claimed!, end: { event: 'quarantine' } }])
        await someoneWaits(url)
      })
      await settling
      await store.finishReleases()
    })

    expect((await store.getJob(waiting.id))?.state).toBe('available')
    expect(await convicted()).toEqual([])
  })
})
