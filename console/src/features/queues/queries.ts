import { queryOptions } from '@tanstack/react-query'
import { keys } from '../../keys.js'
import { ask } from '../../server.js'

/** Jobs that come and go are no events, so how deep a queue is and how it keeps up is asked for now and then. */
const REFETCH_MS = 10_000

/** Every queue with its policy, its brakes, its counts and its pace. */
export const queuesQuery = queryOptions({
  queryKey: keys.queues('list'),
  queryFn: async ({ signal }) => (await ask('listQueues', {}, { signal })).items,
  refetchInterval: REFETCH_MS,
})

/** One queue: its policy, defaults included, its brakes and its counts. */
export function queueQuery(queue: string) {
  return queryOptions({
    queryKey: keys.queues('one', queue),
    queryFn: ({ signal }) => ask('getQueue', { params: { queue } }, { signal }),
    refetchInterval: REFETCH_MS,
  })
}

/** Kinds and versions that no worker of their queue runs, and for how long their jobs have waited. */
export const unservedQuery = queryOptions({
  queryKey: keys.queues('unserved'),
  queryFn: async ({ signal }) => (await ask('unservedKinds', {}, { signal })).items,
  refetchInterval: REFETCH_MS,
})
