import { useRef } from 'react'
import type { Queue } from '../../api.js'
import { waitingIn } from './waiting.js'

/** How many more jobs wait in each queue than when the page was opened; the API keeps no history of that. */
export function useGrowth(queues: readonly Queue[] | undefined): ReadonlyMap<string, number> {
  const first = useRef(new Map<string, number>())
  for (const queue of queues ?? []) {
    if (!first.current.has(queue.queue)) first.current.set(queue.queue, waitingIn(queue))
  }
  return new Map((queues ?? []).map((it) => [it.queue, waitingIn(it) - (first.current.get(it.queue) ?? 0)]))
}
