import { QueryCache, QueryClient } from '@tanstack/react-query'
import { keys } from './keys.js'
import { NoAnswer, Refusal } from './server.js'

/** Keeps what came from the API. Whoever is refused as unknown is asked to sign in, wherever they are. */
export function createQueries(): QueryClient {
  const queries: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, { queryKey }) => {
        const isUnknown = error instanceof Refusal && error.status === 401
        if (isUnknown && queryKey[0] !== keys.meta()[0]) void queries.invalidateQueries({ queryKey: keys.meta() })
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 2_000,
        // Coming back to the page is news to live.tsx, which asks for all that is shown.
        refetchOnWindowFocus: false,
        // What the server has refused it refuses again; what did not answer may.
        retry: (failures, error) => error instanceof NoAnswer && failures < 2,
        retryDelay: (failures) => 500 * 2 ** failures,
      },
    },
  })
  return queries
}
