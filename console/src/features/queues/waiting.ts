import type { Queue } from '../../api.js'

/** Jobs of a queue that could be claimed now. */
export function waitingIn({ counts }: Queue): number {
  return counts?.available ?? 0
}

/** For how long the oldest of them has waited; undefined where none does, or the server does not say. */
export function lagOf({ activity }: Queue, now: number): number | undefined {
  const oldestAt = activity?.oldestAt ?? undefined
  return oldestAt && Math.max(0, now - oldestAt.getTime())
}
