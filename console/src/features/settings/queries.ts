import { queryOptions } from '@tanstack/react-query'
import { keys } from '../../keys.js'
import { ask } from '../../server.js'

/** The newest tokens, also those that are over. */
export const tokensQuery = queryOptions({
  queryKey: keys.tokens('list'),
  queryFn: ({ signal }) => ask('listTokens', { query: { limit: 200 } }, { signal }),
})

export const webhooksQuery = queryOptions({
  queryKey: keys.webhooks('list'),
  queryFn: async ({ signal }) => (await ask('listWebhooks', {}, { signal })).items,
})

/** What was given up on, newest first. */
export const deadDeliveriesQuery = queryOptions({
  queryKey: keys.webhooks('deliveries', 'dead'),
  queryFn: ({ signal }) => ask('listDeliveries', { query: { state: 'dead', limit: 50 } }, { signal }),
})

export const masksQuery = queryOptions({
  queryKey: keys.masks('list'),
  queryFn: ({ signal }) => ask('listMasks', {}, { signal }),
})

/** What is done in the background. Its passes are no events, so it is asked for now and then. */
export const dutiesQuery = queryOptions({
  queryKey: keys.duties('list'),
  queryFn: async ({ signal }) => (await ask('listDuties', {}, { signal })).items,
  refetchInterval: 15_000,
})

export const ringsQuery = queryOptions({
  queryKey: keys.rings('list'),
  queryFn: async ({ signal }) => (await ask('listRings', {}, { signal })).items,
  refetchInterval: 15_000,
})
