import { describe, expect, it } from 'vitest'
import { SpillwayError } from '../job/errors.js'
import type { Enqueued, NewJob } from '../store/store.js'
import { Coalescer } from './coalescer.js'

describe('coalescing enqueues', () => {
  it('sends the first call at once, with every call of the same tick', async () => {
    const store = new HeldStore()
    const coalescer = new Coalescer(store)

    const calls = [1, 2, 3].map((n) => coalescer.enqueue(job(n), 10))
    await tick()

    expect(store.batches()).toEqual([['1', '2', '3']])
    store.commit(0)
    expect(await Promise.all(calls)).toEqual([enqueued('1'), enqueued('2'), enqueued('3')])
  })

  it('gathers what comes while a statement is on its way into the next one, in order', async () => {
    const store = new HeldStore()
    const coalescer = new Coalescer(store)
    void coalescer.enqueue(job(1), 10)
    await tick()

    const later = [2, 3, 4].map((n) => coalescer.enqueue(job(n), 10))
    await tick()
    const whileBusy = store.batches()
    store.commit(0)
    await tick()

    expect(whileBusy).toEqual([['1']])
    expect(store.batches()).toEqual([['1'], ['2', '3', '4']])
    store.commitAll()
    await Promise.all(later)
  })

  it('sends a second statement beside the first once 64 callers wait, and never a third', async () => {
    const store = new HeldStore()
    const coalescer = new Coalescer(store)
    void coalescer.enqueue(job(0), 10)
    await tick()

    const calls = Array.from({ length: 63 }, (_, n) => coalescer.enqueue(job(n), 10))
    await tick()
    const before = store.sizes()
    calls.push(coalescer.enqueue(job(63), 10))
    await tick()
    calls.push(...Array.from({ length: 200 }, (_, n) => coalescer.enqueue(job(n), 10)))
    await tick()

    expect(before).toEqual([1])
    expect(store.sizes()).toEqual([1, 64])
    await store.commitUntilDone(calls)
  })

  it('settles each promise only after its own statement has committed', async () => {
    const store = new HeldStore()
    const coalescer = new Coalescer(store)
    const settled: string[] = []
    const note = ({ id }: Enqueued) => settled.push(id)

    const first = coalescer.enqueue(job(1), 10).then(note)
    await tick()
    const others = Array.from({ length: 64 }, (_, n) => coalescer.enqueue(job(n + 2), 10).then(note))
    await tick()
    store.commit(1)
    await Promise.all(others)

    expect(settled).not.toContain('1')
    store.commit(0)
    await first
    expect(settled.at(-1)).toBe('1')
  })

  it('puts at most 500 rows into a statement', async () => {
    const store = new HeldStore()
    const coalescer = new Coalescer(store)

    const calls = Array.from({ length: 1_201 }, (_, n) => coalescer.enqueue(job(n), 10))
    await store.commitUntilDone(calls)

    expect(store.sizes()).toEqual([500, 500, 201])
    expect(store.batches().flat()).toEqual(Array.from({ length: 1_201 }, (_, n) => String(n)))
  })

  it('puts at most 4 MiB into a statement, and sends what is larger alone', async () => {
    const store = new HeldStore()
    const coalescer = new Coalescer(store)
    const MiB = 1024 * 1024

    const calls = [2, 2, 1, 5, 1].map((size, n) => coalescer.enqueue(job(n), size * MiB))
    await store.commitUntilDone(calls)

    expect(store.batches()).toEqual([['0', '1'], ['2'], ['3'], ['4']])
  })
})

describe('a row that the store refuses', () => {
  const refusal = new SpillwayError('internal', 'PostgreSQL refused a statement')

  it.each([0, 3, 6])('rejects alone, at place %i of 7, and the others are stored in order', async (bad) => {
    const store = new PickyStore((jobs) => (jobs.includes(String(bad)) ? refusal : undefined))
    const coalescer = new Coalescer(store)

    const calls = [0, 1, 2, 3, 4, 5, 6].map((n) => coalescer.enqueue(job(n), 10))
    const outcomes = await Promise.allSettled(calls)

    expect(outcomes.map((it) => it.status === 'rejected')).toEqual([0, 1, 2, 3, 4, 5, 6].map((n) => n === bad))
    expect(outcomes[bad]).toEqual({ status: 'rejected', reason: refusal })
    expect(store.stored).toEqual(['0', '1', '2', '3', '4', '5', '6'].filter((n) => n !== String(bad)))
  })

  it('costs no more than two statements for each halving', async () => {
    const store = new PickyStore((jobs) => (jobs.includes('77') ? refusal : undefined))
    const coalescer = new Coalescer(store)

    await Promise.allSettled(Array.from({ length: 500 }, (_, n) => coalescer.enqueue(job(n), 10)))

    expect(store.calls).toBeLessThanOrEqual(1 + 2 * Math.ceil(Math.log2(500)))
    expect(store.stored).toHaveLength(499)
  })

  it.each(['store_unavailable', 'schema_missing'] as const)(
    'is not looked for when the store says %s',
    async (code) => {
      const store = new PickyStore(() => new SpillwayError(code, 'not now'))
      const coalescer = new Coalescer(store)

      const outcomes = await Promise.allSettled([1, 2, 3, 4].map((n) => coalescer.enqueue(job(n), 10)))

      expect(outcomes.map((it) => it.status)).toEqual(['rejected', 'rejected', 'rejected', 'rejected'])
      expect(store.calls).toBe(1)
    },
  )
})

describe('closing', () => {
  it('waits for what is on its way and for what waits behind it', async () => {
    const store = new HeldStore()
    const coalescer = new Coalescer(store)
    const settled: string[] = []
    for (const n of [1, 2, 3]) {
      void coalescer.enqueue(job(n), 10).then(({ id }) => settled.push(id))
      await tick()
    }

    const closed = coalescer.close().then(() => settled.push('closed'))
    store.commitAll()
    await tick()
    store.commitAll()
    await closed

    expect(settled).toEqual(['1', '2', '3', 'closed'])
  })

  it('refuses what comes later', async () => {
    const coalescer = new Coalescer(new HeldStore())

    await coalescer.close()

    await expect(coalescer.enqueue(job(1), 10)).rejects.toMatchObject({ code: 'store_unavailable' })
  })
})

/** Answers when it is told to, so that a test says what happens while a statement is on its way. */
class HeldStore {
  private readonly held: { jobs: readonly NewJob[]; commit: () => void }[] = []

  enqueue(jobs: readonly NewJob[]): Promise<readonly Enqueued[]> {
    return new Promise((resolve) => {
      this.held.push({ jobs, commit: () => resolve(jobs.map((it) => enqueued(it.kind))) })
    })
  }

  batches(): string[][] {
    return this.held.map(({ jobs }) => jobs.map((it) => it.kind))
  }

  sizes(): number[] {
    return this.held.map(({ jobs }) => jobs.length)
  }

  commit(batch: number): void {
    this.held[batch]?.commit()
  }

  commitAll(): void {
    for (const { commit } of this.held) commit()
  }

  async commitUntilDone(calls: readonly Promise<unknown>[]): Promise<void> {
    let isDone = false
    const done = Promise.all(calls).then(() => {
      isDone = true
    })
    while (!isDone) {
      await tick()
      this.commitAll()
    }
    await done
  }
}

/** Refuses what the test says, whole, as one statement would. */
class PickyStore {
  readonly stored: string[] = []
  calls = 0

  constructor(private readonly refuses: (jobs: string[]) => Error | undefined) {}

  async enqueue(jobs: readonly NewJob[]): Promise<readonly Enqueued[]> {
    this.calls++
    const names = jobs.map((it) => it.kind)
    const refusal = this.refuses(names)
    if (refusal) throw refusal
    this.stored.push(...names)
    return names.map(enqueued)
  }
}

function job(n: number): NewJob {
  return {
    queue: 'q',
    kind: String(n),
    version: 1,
    payload: '{}',
    priority: 50,
    maxAttempts: 20,
    runAt: null,
    deadline: null,
    timeoutMs: null,
    uniqueKey: null,
    onConflict: 'fail',
    tags: null,
    metadata: null,
    retention: null,
  }
}

function enqueued(id: string): Enqueued {
  return { id, inserted: true }
}

function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
