import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, use, useEffect, useState } from 'react'
import { keys, type Noun } from './keys.js'
import { addressOf } from './place.js'

/** How news comes: as it happens, by asking every few seconds, not while nobody looks, or not at all. */
export type LiveState = 'live' | 'polling' | 'paused' | 'offline'

const Live = createContext<LiveState>('polling')

/** Events come in hundreds; the page asks for what they changed once in this time. */
const GATHER_MS = 1_000
const POLL_MS = 5_000

const DEATHS: readonly Noun[] = ['deadLetters', 'jobs', 'queues']
const HELD: readonly Noun[] = ['held', 'jobs', 'queues']

/** Which nouns an event of the stream is about. */
const ABOUT: Readonly<Record<string, readonly Noun[]>> = {
  died: DEATHS,
  imported: DEATHS,
  restored: [...DEATHS, 'archive'],
  evicted: DEATHS,
  quarantined: HELD,
  undecodable: HELD,
  released: HELD,
  operation: ['operations', 'deadLetters'],
  queue: ['queues', 'jobs'],
}

/**
 * Keeps what is on the page fresh: told by the server as things happen, and by asking where that does not work. Both stop
 * while the page is hidden, so that a forgotten tab costs nothing; who comes back sees what is there now.
 */
export function LiveProvider({ children }: { children: ReactNode }) {
  const queries = useQueryClient()
  const [state, setState] = useState<LiveState>('polling')
  useEffect(() => follow(queries, setState), [queries])
  return <Live value={state}>{children}</Live>
}

export function useLive(): LiveState {
  return use(Live)
}

function follow(queries: QueryClient, tell: (state: LiveState) => void): () => void {
  const news = new Set<Noun>()
  let source: EventSource | undefined
  let gathering: number | undefined
  let polling: number | undefined
  let last: string | undefined

  const refresh = (nouns: Iterable<Noun>) => {
    for (const noun of nouns)
      void queries.invalidateQueries({ queryKey: keys[noun](), predicate: ({ meta }) => meta?.['live'] !== false })
  }
  const hear = (nouns: readonly Noun[], event: MessageEvent) => {
    if (event.lastEventId !== '') last = event.lastEventId
    for (const noun of nouns) news.add(noun)
    gathering ??= window.setTimeout(() => {
      gathering = undefined
      const heard = [...news]
      news.clear()
      refresh(heard)
    }, GATHER_MS)
  }
  const poll = () => {
    tell(navigator.onLine ? 'polling' : 'offline')
    polling ??= window.setInterval(() => {
      if (navigator.onLine) refresh(Object.keys(keys).filter((noun) => noun !== 'meta') as Noun[])
      tell(navigator.onLine ? 'polling' : 'offline')
      // A stream that the browser has given up on is begun again.
      if (source?.readyState === EventSource.CLOSED) open()
    }, POLL_MS)
  }
  const stopPolling = () => {
    window.clearInterval(polling)
    polling = undefined
  }
  const close = () => {
    source?.close()
    source = undefined
    stopPolling()
  }
  const open = () => {
    source?.close()
    source = new EventSource(addressOf(`api/v1/events${last === undefined ? '' : `?after=${last}`}`))
    source.onopen = () => {
      stopPolling()
      tell('live')
    }
    source.onerror = poll
    for (const [type, nouns] of Object.entries(ABOUT)) source.addEventListener(type, (event) => hear(nouns, event))
  }
  const look = () => {
    if (document.hidden) {
      close()
      tell('paused')
    } else {
      open()
      // What happened meanwhile.
      refresh(Object.keys(keys) as Noun[])
    }
  }
  // A stream may not notice that the network is gone before minutes have passed; the browser does.
  const lose = () => {
    if (!document.hidden) poll()
  }
  if (document.hidden) tell('paused')
  else open()
  document.addEventListener('visibilitychange', look)
  window.addEventListener('offline', lose)
  window.addEventListener('online', look)
  return () => {
    document.removeEventListener('visibilitychange', look)
    window.removeEventListener('offline', lose)
    window.removeEventListener('online', look)
    window.clearTimeout(gathering)
    close()
  }
}
