import type { Bulk } from '../store/store.js'

const SLICE_MS = 5_000

/**
 * Goes on with operations that nobody is running: begun with nobody waiting, or left by a process that died. Works at
 * one for a slice of time, so that stopping never waits long.
 *
 * @returns how long to rest before the next look; endless when there is none, until somebody tells of one.
 */
export async function runOrphans(store: Bulk, runner: string, mayRun: () => boolean): Promise<number> {
  const id = await store.orphanOperation()
  if (id === undefined) return Number.POSITIVE_INFINITY
  const until = performance.now() + SLICE_MS
  while (mayRun() && performance.now() < until) {
    const { operation, waitMs } = await store.stepOperation(id, runner)
    if (operation.state !== 'running' || waitMs === null) return 0
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, 250)))
  }
  return 0
}
