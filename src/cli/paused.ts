import type { StoredQueue } from '../index.js'
import type { Output } from './output.js'

/** Since when, by whom and why a queue is paused; empty for one that is not. */
export function pausedText(out: Output, { pausedAt, pausedBy, pausedReason }: StoredQueue): string {
  if (pausedAt === null) return ''
  return `${out.time(pausedAt)} by ${pausedBy ?? 'nobody named'}${pausedReason === null ? '' : `: ${pausedReason}`}`
}
