import type { Triage } from '../store/store.js'
import type { Output } from './output.js'
import { oneLine } from './shown.js'

/** What people said. */
export function showTriage(out: Output, triage: Triage): void {
  if (out.isJson) {
    out.document(triage)
    return
  }
  const by = (at: Date | null, who: string | null) => at && `${out.longTime(at)} by ${oneLine(who ?? 'nobody named')}`
  const isMuted = triage.mutedUntil !== null && triage.mutedUntil > new Date()
  out.pairs([
    ['acknowledged', by(triage.acknowledgedAt, triage.acknowledgedBy)],
    ['note', triage.note && oneLine(triage.note)],
    ['noted', triage.note && by(triage.notedAt, triage.notedBy)],
    ['muted', isMuted && triage.mutedUntil ? `until ${out.longTime(triage.mutedUntil)}` : null],
    ['resolved', by(triage.resolvedAt, triage.resolvedBy)],
    ['link', triage.link && oneLine(triage.link)],
    ['regressed', out.longTime(triage.regressedAt)],
  ])
}
