import type { Triage } from '../store.js'

/** What was said, from the document that `marksJson` makes: snake_case keys, times in ms. */
export function triageOf(text: string): Triage {
  const said = JSON.parse(text) as Record<string, string | number | null>
  const at = (key: string) => (typeof said[key] === 'number' ? new Date(said[key]) : null)
  const words = (key: string) => (typeof said[key] === 'string' ? said[key] : null)
  return {
    acknowledgedAt: at('acknowledged_at'),
    acknowledgedBy: words('acknowledged_by'),
    note: words('note'),
    notedAt: at('noted_at'),
    notedBy: words('noted_by'),
    mutedUntil: at('muted_until'),
    mutedAt: at('muted_at'),
    mutedBy: words('muted_by'),
    resolvedAt: at('resolved_at'),
    resolvedBy: words('resolved_by'),
    link: words('link'),
    regressedAt: at('regressed_at'),
  }
}
