import { queryOptions } from '@tanstack/react-query'
import type { DeadLetter } from '../../api.js'
import { keys } from '../../keys.js'
import { ask } from '../../server.js'

const NEIGHBOURS = 50

/** One dead letter with its history, without its payload. */
export function deadLetterQuery(id: string) {
  return queryOptions({
    queryKey: keys.deadLetters('one', id),
    queryFn: ({ signal }) => ask('getDlq', { params: { id }, query: {} }, { signal }),
  })
}

/** What people have said about one dead letter. */
export function triageQuery(id: string) {
  return queryOptions({
    queryKey: keys.deadLetters('triage', id),
    queryFn: async ({ signal }) => (await ask('dlqTriage', { params: { id } }, { signal })).triage,
  })
}

/** Its payload. Each look is noted in the audit log, so that news alone does not ask again. */
export function payloadQuery(id: string) {
  return queryOptions({
    queryKey: keys.deadLetters('payload', id),
    queryFn: async ({ signal }) => {
      const job = await ask('getDlq', { params: { id }, query: { include_payload: 'true' } }, { signal })
      return { payload: job.payload }
    },
    staleTime: Number.POSITIVE_INFINITY,
    meta: { live: false },
  })
}

/** Every payload it had, oldest first; empty where nobody edited it. Noted in the audit log, too. */
export function payloadsQuery(id: string) {
  return queryOptions({
    queryKey: keys.deadLetters('payloads', id),
    queryFn: async ({ signal }) => (await ask('jobPayloads', { params: { id } }, { signal })).items,
    staleTime: Number.POSITIVE_INFINITY,
    meta: { live: false },
  })
}

export interface Neighbours {
  readonly newer: DeadLetter | undefined
  /** There are so many newer ones that the nearest was not looked for. */
  readonly isFarFromNewest: boolean
  readonly older: readonly DeadLetter[]
  readonly hasMoreOlder: boolean
}

/** Those that died of the same cause just before and just after it. */
export function neighboursQuery(id: string, queue: string, cause: string, diedAt: Date) {
  return queryOptions({
    queryKey: keys.deadLetters('neighbours', id, queue, cause),
    queryFn: async ({ signal }): Promise<Neighbours> => {
      const same = { queue, cause, limit: NEIGHBOURS }
      const since = diedAt.toISOString() as never
      const [newer, older] = await Promise.all([
        ask('listDlq', { query: { ...same, since } }, { signal }),
        ask('listDlq', { query: { ...same, before_id: id } }, { signal }),
      ])
      const here = newer.items.findIndex((it) => it.id === id)
      return {
        newer: here > 0 ? newer.items[here - 1] : undefined,
        isFarFromNewest: here === -1 && newer.cursor !== null,
        older: older.items,
        hasMoreOlder: older.cursor !== null,
      }
    },
  })
}
