import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { sql } from '../../src/store/postgres/sql.js'
import { effort } from '../support/effort.js'
import { describeStore } from '../support/store.js'

const MADE_AT_ONCE = 20_000
/** Of a row, on the average; an id that is remembered takes more. */
const REMEMBERED_BYTES = 10
/** What any hundred statements leave in a process. */
const NOISE_BYTES = 500_000

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

describeStore('sending everything back', ({ store, given, db }) => {
  const client = new Client({ store, actor: 'ann' })

  it(`answers at once, needs no memory for ${effort.redriven} rows, and is exact to the row`, async () => {
    const rows = effort.redriven
    for (let made = 0; made < rows; made += MADE_AT_ONCE) {
      const dead = { state: 'archived', queue: `q${made}`, attempt: 5, maxAttempts: 5, tags: ['t'] } as const
      await given.jobs(Math.min(MADE_AT_ONCE, rows - made), dead)
    }
    const heap: number[] = []
    const steps: number[] = []
    let last = 0

    const asked = performance.now()
    const handle = await client.dlq.retryMany({ all: true }, { maxWaiting: 0 })
    const answeredMs = performance.now() - asked
    last = performance.now()
    const done = await handle.done({
      onProgress() {
        steps.push(performance.now() - last)
        collectGarbage()
        heap.push(process.memoryUsage().heapUsed)
        last = performance.now()
      },
    })

    expect(handle.started).toMatchObject({ id: expect.stringMatching(/^\d+$/), state: 'running', succeeded: 0 })
    expect(answeredMs).toBeLessThan(1_000)
    expect(Math.max(...steps)).toBeLessThan(1_000)
    expect(done).toMatchObject({ state: 'done', matched: rows, succeeded: rows, failed: 0, skipped: 0 })
    expect(heap.length).toBeGreaterThan(rows / 10_000)
    expect(Math.max(...heap) - (heap[1] as number)).toBeLessThan(NOISE_BYTES + rows * REMEMBERED_BYTES)
    expect(await db.run(ready, [handle.id])).toEqual([['1', String(rows)]])
    expect(await client.dlq.depth()).toBe(0)
  }, 600_000)
})

const ready = sql<[operation: string], [generation: string, n: string]>`
  select generation, count(*) from spillway.ready_entries where last_operation = $1::bigint group by 1`
