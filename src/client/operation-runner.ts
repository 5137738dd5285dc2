import type { Bulk, Operation } from '../store/store.js'

export interface RunOptions {
  /** Told after every batch. */
  readonly onProgress?: ((operation: Operation) => void) | undefined
  /** Stops running it here; another process goes on. */
  readonly signal?: AbortSignal | undefined
}

const FOLLOW_MS = 500
const SLICE_MS = 1_000

/**
 * Steps an operation until it ends, pauses, or `signal` fires. While another process is at it, only looks; when that one
 * falls silent, goes on in its place.
 */
export async function runOperation(
  store: Bulk,
  id: string,
  runner: string,
  { onProgress, signal }: RunOptions = {},
): Promise<Operation> {
  for (;;) {
    const { operation, waitMs } = await store.stepOperation(id, runner)
    onProgress?.(operation)
    if (operation.state !== 'running' || signal?.aborted) return operation
    // In slices, so that a rate that was changed meanwhile is followed, and the right to run it does not lapse.
    const pauseMs = waitMs === null ? FOLLOW_MS : Math.min(waitMs, SLICE_MS)
    if (pauseMs > 0) await pause(pauseMs, signal)
  }
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end, { once: true })
  })
}
