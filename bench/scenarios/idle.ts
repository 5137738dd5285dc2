import { setTimeout as sleep } from 'node:timers/promises'
import { type Scenario, withWorker } from '../bench.js'

/** Statements a worker sends while there is nothing to do, its maintenance included. */
export const idle: Scenario = {
  rows: ['idle_statements'],
  async run(bench) {
    const { scratch, quick } = bench
    const seconds = quick ? 3 : 20
    await scratch.fresh()
    return withWorker(bench, { concurrency: 20, handling: 'count' }, async (worker) => {
      await worker.start()
      await sleep(quick ? 1000 : 8000)
      const before = await scratch.statements()
      if (before === undefined) return []
      await sleep(seconds * 1000)
      // Without the statement that counts, which is counted too.
      const statements = (await scratch.statements())! - before - 1
      return [{ name: 'idle_statements', value: statements / seconds, settings: { seconds, by: 'pg_stat_statements' } }]
    })
  },
}
