import type { Notice } from '../store.js'

/** The channel every process of one schema listens to. */
export function channelOf(schema: string): string {
  return `${schema}_notices`
}

/** A notice as NOTIFY carries it: short, because the server keeps them in memory. */
export function encodeNotice(notice: Notice): string {
  switch (notice.type) {
    case 'ready':
      return `r|${notice.priority}|${notice.position}|${notice.queue}`
    case 'due':
      return `d|${notice.at}`
    case 'abort':
      return `a|${notice.registration}`
    case 'policy':
      return 'p'
    case 'operation':
      return 'o'
    case 'outbox':
      return 'x'
    case 'events':
      return `v|${notice.position}`
    case 'resync':
      return 's'
  }
}

/** Reads a notice; undefined for what this version does not know. */
export function decodeNotice(text: string): Notice | undefined {
  const [type, first = '', second = ''] = text.split('|', 3)
  switch (type) {
    case 'r':
      return {
        type: 'ready',
        priority: Number(first),
        position: second,
        queue: text.slice(first.length + second.length + 4),
      }
    case 'd':
      return { type: 'due', at: Number(first) }
    case 'a':
      return { type: 'abort', registration: first }
    case 'p':
      return { type: 'policy' }
    case 'o':
      return { type: 'operation' }
    case 'x':
      return { type: 'outbox' }
    case 'v':
      return { type: 'events', position: first }
    case 's':
      return { type: 'resync' }
    default:
      return undefined
  }
}
