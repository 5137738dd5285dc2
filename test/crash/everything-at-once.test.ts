import { randomInt } from 'node:crypto'
import { defineJob, isSpillwayError, Spillway } from 'spillway'
import { until } from 'spillway/testing'
import { expect, it, onTestFinished } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import type { Operation } from '../../src/store/store.js'
import { effort } from '../support/effort.js'
import { describeStore } from '../support/store.js'

const CONCURRENCY = 50
const WAITING = 2_000
/** What somebody who acts on a job by its id may be told while others act on it too. */
const ANSWERS = new Set([
  ...['invalid_state', 'already_retried', 'not_found', 'not_selected', 'job_moving', 'vanished'],
  ...['unique_conflict', 'generation_cap', 'not_undoable'],
])

/** One whose dead land in the dead-letter queue, and one whose failed jobs operators move there. */
const QUEUES = ['billing', 'plain'] as const
const definitions = QUEUES.map((queue) =>
  defineJob<{ n: number }>({ kind: `work_${queue}`, queue, maxAttempts: 2, backoff: () => 5 }),
)

describeStore('workers, operators and maintenance at once', ({ store, db, url, checker }) => {
  it('never meet in a deadlock that anybody hears of, and leave every job in one place', async () => {
    const spillway = new Spillway({ url, actor: 'ann', onError: (error) => troubles.push(error) })
    onTestFinished(() => spillway.close())
    const troubles: unknown[] = []
    const operations: Operation[] = []
    const ids = new Set<string>()
    await spillway.queues.set('billing', {
      retention: { dlq: '3s', completed: '2s', bin: '1s' },
      maxGenerations: 1_000,
    })
    await spillway.queues.set('plain', { dlqEnabled: false, retention: { failed: '3s', dlq: '3s', completed: 0 } })
    const workers = await Promise.all([1, 2].map(() => work(spillway, troubles)))
    const end = performance.now() + effort.togetherMs
    /** Again and again until the time is over; what goes wrong is noted, and it goes on. */
    const keep = async (what: string, step: () => Promise<unknown>) => {
      let steps = 0
      while (performance.now() < end) {
        await step().catch((error: unknown) => troubles.push(new Error(what, { cause: error })))
        steps += 1
      }
      return [what, steps] as const
    }
    const carryOut = async (begun: ReturnType<typeof spillway.dlq.retryMany>) => {
      const operation = await (await begun).done()
      operations.push(operation)
      return operation
    }
    const { dlq, jobs } = spillway

    const steps = await Promise.all([
      keep('enqueue', () => produce(spillway, ids)),
      keep('retry all', () => carryOut(dlq.retryMany({ queue: 'billing' }, { maxWaiting: 0, onConflict: 'skip' }))),
      keep('retry some', () => carryOut(dlq.retryMany({ tag: 't1' }, { maxWaiting: 0, onConflict: 'replace' }))),
      keep('purge', () => carryOut(dlq.purgeMany({ tag: 't2' }))),
      keep('move', () => carryOut(dlq.moveMany({ queue: 'plain' }, { reason: 'audit' }))),
      keep('discard', async () => {
        const { id } = await carryOut(dlq.discardMany({ tag: 't3' }))
        await carryOut(dlq.undo(id))
      }),
      keep('upkeep', async () => {
        await store.retain(500)
        await store.fold(1_000)
      }),
      keep('acts by id', () => actOnSome(spillway)),
      keep('reports', () => Promise.all([dlq.groups(), dlq.depthByQueue(), jobs.list({ state: 'archived' })])),
    ])
    for (const worker of workers) await worker.stop({ grace: 5_000, abort: 1_000 })

    expect(troubles).toEqual([])
    expect(steps.filter(([, count]) => count < 3)).toEqual([])
    expect(operations.filter(({ state }) => state !== 'done')).toEqual([])
    await checker.expectExactly(ids)
    expect((await checker.census())['running']).toBeUndefined()
  })

  async function work(spillway: Spillway, troubles: unknown[]) {
    const worker = spillway.worker({
      queues: Object.fromEntries(QUEUES.map((queue) => [queue, { concurrency: CONCURRENCY }])),
      jobs: definitions.map((definition) =>
        definition.handle(({ n }) => {
          if (n % 4 > 0) throw new Error(`cause ${'abcde'[n % 5]}`)
        }),
      ),
    })
    worker.on('error', ({ service, error }) => troubles.push(new Error(service, { cause: error })))
    await worker.start()
    return worker
  }

  /** Fifty for each queue, once so few wait that the workers keep up. */
  async function produce(spillway: Spillway, ids: Set<string>): Promise<void> {
    await until(async () => (await db.run(waiting, [WAITING])).length < WAITING, { within: '60s', what: 'the workers' })
    for (const definition of definitions) {
      const entries = Array.from({ length: 50 }, () => {
        const n = randomInt(10_000)
        return { payload: { n }, tags: [`t${n % 4}`], ...(n % 3 === 0 && { unique: `k${n % 100}` }) }
      })
      for (const { id } of await spillway.enqueueMany(definition, entries)) ids.add(id)
    }
  }

  /** One after the other what an operator can do, on jobs of a list that is old by then. */
  async function actOnSome({ dlq, jobs }: Spillway): Promise<void> {
    const dead = (await dlq.list({}, { limit: 60 })).items.map(({ id }) => id)
    const failed = (await jobs.list({ state: 'failed', queue: 'plain' }, { limit: 20 })).items.map(({ id }) => id)
    const live = (await jobs.list({ state: 'available', queue: 'billing' }, { limit: 10 })).items.map(({ id }) => id)
    const acts: (() => Promise<unknown>)[] = [
      ...dead.slice(0, 10).flatMap((id) => [() => dlq.retry(id), () => dlq.purge(id)]),
      ...dead.slice(10, 15).flatMap((id) => [() => dlq.discard(id), () => jobs.retry(id, { onConflict: 'replace' })]),
      ...failed.slice(0, 5).map((id) => () => dlq.move(id)),
      ...live.slice(0, 5).flatMap((id) => [() => jobs.cancel(id), () => jobs.kill(id)]),
      ...live.slice(5).map((id) => () => jobs.edit(id, { priority: 10 })),
      // The same rows from both ends.
      ...some(dead.slice(20), (ids) => dlq.retryIds(ids, { onConflict: 'replace' })),
      ...some(dead.slice(20), (ids) => dlq.discardIds([...ids].reverse())),
      ...some(dead.slice(40), (ids) => dlq.purgeIds(ids)),
      ...some(failed, (ids) => dlq.moveIds(ids)),
    ]
    const answers = await Promise.allSettled(acts.map((act) => act()))
    for (const answer of answers) {
      if (answer.status === 'fulfilled') continue
      if (!isSpillwayError(answer.reason) || !ANSWERS.has(answer.reason.code)) throw answer.reason
    }
  }
})

/** An act on a list, where there is something on it. */
function some(ids: readonly string[], act: (ids: readonly string[]) => Promise<unknown>): (() => Promise<unknown>)[] {
  return ids.length === 0 ? [] : [() => act(ids)]
}

const waiting = sql<[enough: number], [id: string]>`select id from spillway.ready_entries limit $1`
