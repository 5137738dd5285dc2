import { queryOptions } from '@tanstack/react-query'
import { keys } from '../../keys.js'
import { ask } from '../../server.js'

/** Every queue with its policy, its brakes and its counts. */
export const queuesQuery = queryOptions({
  queryKey: keys.queues('list'),
  queryFn: async ({ signal }) => (await ask('listQueues', {}, { signal })).items,
})
