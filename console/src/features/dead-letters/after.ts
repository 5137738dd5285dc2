import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { keys } from '../../keys.js'

/** Asks again for everything that a change of dead letters may have changed. */
export function useRefreshDeadLetters(): () => Promise<unknown> {
  const queries = useQueryClient()
  return () => refreshDeadLetters(queries)
}

function refreshDeadLetters(queries: QueryClient): Promise<unknown> {
  const nouns = [keys.deadLetters(), keys.operations(), keys.jobs(), keys.queues()]
  return Promise.all(nouns.map((queryKey) => queries.invalidateQueries({ queryKey })))
}
