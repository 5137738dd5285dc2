import type { ReactNode } from 'react'
import type { Triage } from '../../api.js'
import { Moment } from '../../components/moment.js'
import { useNow } from '../../components/now.js'
import { UserText } from '../../components/user-text.js'
import './triage-said.css'

/** What people have said about a dead letter or a cause. */
export function TriageSaid({ triage }: { triage: Triage | null }) {
  const now = useNow()
  const lines = triage === null ? [] : linesOf(triage, now)
  if (lines.length === 0) return <p className="quiet triage-none">Nobody has said anything about it.</p>
  return (
    <ul className="triage-said">
      {lines.map((line, n) => (
        <li key={n}>{line}</li>
      ))}
    </ul>
  )
}

function linesOf(triage: Triage, now: number): readonly ReactNode[] {
  const { acknowledgedAt, acknowledgedBy, note, notedAt, notedBy, mutedUntil, mutedBy } = triage
  const { resolvedAt, resolvedBy, link, regressedAt } = triage
  const lines: ReactNode[] = []
  if (acknowledgedAt !== null) lines.push(<By what="Acknowledged" by={acknowledgedBy} at={acknowledgedAt} />)
  if (mutedUntil !== null && mutedUntil.getTime() > now)
    lines.push(
      <>
        Muted by <UserText>{mutedBy}</UserText> until <Moment at={mutedUntil} isExact />
      </>,
    )
  if (resolvedAt !== null) {
    lines.push(
      <>
        <By what="Resolved" by={resolvedBy} at={resolvedAt} />
        {link !== null && (
          <>
            : <FixLink link={link} />
          </>
        )}
      </>,
    )
  }
  if (regressedAt !== null)
    lines.push(
      <>
        Failed again <Moment at={regressedAt} isExact />
      </>,
    )
  if (note !== null)
    lines.push(
      <>
        <By what="Noted" by={notedBy} at={notedAt} />
        <blockquote>
          <UserText>{note}</UserText>
        </blockquote>
      </>,
    )
  return lines
}

function By({ what, by, at }: { what: string; by: string | null; at: Date | null }) {
  return (
    <>
      {what} by <UserText>{by}</UserText> <Moment at={at} />
    </>
  )
}

/** Where the fix is. Only what is an address of the web is a link; anything else is text. */
function FixLink({ link }: { link: string }) {
  if (!/^https?:\/\/[^\s]+$/i.test(link)) return <UserText>{link}</UserText>
  return (
    <a href={link} rel="noreferrer noopener" target="_blank">
      <UserText>{link}</UserText>
    </a>
  )
}
