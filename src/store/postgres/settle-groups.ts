import type { JobEnd, Settlement } from '../store.js'
import type { ClaimedRow } from './claimed-row.js'

const MAX_BYTES = 8 * 1024 * 1024
const MAX_ROWS = 500

/** One group per statement: same event, same slot, at most 500 rows and 8 MiB, sorted as they are locked. */
export function grouped(settlements: readonly Settlement[]): Settlement[][] {
  const groups = new Map<string, Settlement[]>()
  for (const settlement of settlements) {
    const key = `${settlement.end.event} ${(settlement.job as ClaimedRow).slot}`
    const group = groups.get(key)
    if (group) group.push(settlement)
    else groups.set(key, [settlement])
  }
  return [...groups.values()].flatMap((group) => chunks(group.sort(byLease)))
}

function byLease(a: Settlement, b: Settlement): number {
  return compareNumbers(a.job.leaseId, b.job.leaseId) || compareNumbers(a.job.id, b.job.id)
}

/** Compares decimal strings without leading zeros as numbers. */
function compareNumbers(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0)
}

function chunks(group: Settlement[]): Settlement[][] {
  const parts: Settlement[][] = []
  let part: Settlement[] = []
  let bytes = 0
  for (const settlement of group) {
    const size = sizeOf(settlement.end)
    if (part.length === MAX_ROWS || (part.length > 0 && bytes + size > MAX_BYTES)) {
      parts.push(part)
      part = []
      bytes = 0
    }
    part.push(settlement)
    bytes += size
  }
  parts.push(part)
  return parts
}

function sizeOf(end: JobEnd): number {
  if (end.event === 'complete') return end.result?.length ?? 0
  return end.event === 'retry' || end.event === 'dead' ? (end.entry?.length ?? 0) : 0
}
