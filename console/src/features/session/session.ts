import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Meta, Right } from '../../api.js'
import { keys } from '../../keys.js'
import { ask } from '../../server.js'

/** What the server says about itself and about whoever asks. */
export const metaQuery = queryOptions({
  queryKey: keys.meta(),
  queryFn: ({ signal }) => ask('meta', {}, { signal }),
  staleTime: 60_000,
})

/** What the caller may do. The server decides; the console only leaves out what it would refuse. */
export interface Caller {
  readonly actor: string | null
  readonly isOpen: boolean
  readonly isReadOnly: boolean
  readonly queues: readonly string[] | null
  may(right: Right): boolean
}

/** The caller, for everything below the gate: there it is known. */
export function useCaller(): Caller {
  const { data } = useQuery(metaQuery)
  return callerOf(data)
}

function callerOf(meta: Meta | undefined): Caller {
  const isReadOnly = meta?.readOnly ?? true
  const isReading = (right: Right) => right === 'read' || right === 'payload:read'
  return {
    actor: meta?.actor ?? null,
    isOpen: meta?.authentication === 'none',
    isReadOnly,
    queues: meta?.queues ?? null,
    may: (right) => (meta?.rights.includes(right) ?? false) && (!isReadOnly || isReading(right)),
  }
}

/** Whether the server does not know who asks. */
export function isStranger({ authentication, rights }: Meta): boolean {
  return authentication === 'required' && rights.length === 0
}

/** Exchanges a token for a cookie that no script can read. */
export async function signIn(token: string): Promise<void> {
  await ask('signIn', { body: { token } })
}

export async function signOut(): Promise<void> {
  await ask('signOut', {})
}
