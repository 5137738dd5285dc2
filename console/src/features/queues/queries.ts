import { queryOptions } from '@tanstack/react-query'
import { keys } from '../../keys.js'
import { ask } from '../../server.js'

/** Every queue with its policy, its brakes and its counts. */
export const queuesQuery = queryOptions({
  queryKey: keys.queues('list'),
  queryFn: async ({ signal }) => (await ask('listQueues', {}, { signal })).items,
})

/** One queue: its policy, defaults included, its brakes and its counts. */
export function queueQuery(queue: string) {
  return queryOptions({
    queryKey: keys.queues('one', queue),
    queryFn: ({ signal }) => ask('getQueue', { params: { queue } }, { signal }),
  })
}

/** Kinds and versions that no worker of their queue runs, and for how long their jobs have waited. */
export const unservedQuery = queryOptions({
  queryKey: keys.queues('unserved'),
  queryFn: async ({ signal }) => (await ask('unservedKinds', {}, { signal })).items,
  refetchInterval: 10_000,
})
