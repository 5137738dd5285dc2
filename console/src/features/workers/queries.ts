import { queryOptions } from '@tanstack/react-query'
import { keys } from '../../keys.js'
import { ask } from '../../server.js'

/** The processes that run jobs. Their heartbeats are no events, so they are asked for now and then. */
export const workersQuery = queryOptions({
  queryKey: keys.workers('list'),
  queryFn: async ({ signal }) => (await ask('listWorkers', {}, { signal })).items,
  refetchInterval: 10_000,
})
