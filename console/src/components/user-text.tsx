import { Fragment, type ReactNode } from 'react'
import './user-text.css'

/** What draws nothing, or turns the text around it: control, zero-width and bidirectional characters. */
const UNSEEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/**
 * Text that came from users: their errors, kinds, queues, tags. Always text, never markup; set apart from the text around it
 * in its direction; and what nobody would see is shown by its code, so that two texts that look alike are alike.
 */
export function UserText({ children, empty = '–' }: { children: string | null | undefined; empty?: string }) {
  if (children === null || children === undefined || children === '')
    return <span className="user-text-none">{empty}</span>
  return <bdi className="user-text">{seen(children)}</bdi>
}

/** The text with a mark for each character that draws nothing. */
export function seen(text: string): ReactNode {
  if (text.search(UNSEEN) === -1) return text
  const parts: ReactNode[] = []
  let from = 0
  for (const found of text.matchAll(UNSEEN)) {
    if (found.index > from) parts.push(text.slice(from, found.index))
    parts.push(<Unseen key={found.index} code={found[0].codePointAt(0) ?? 0} />)
    from = found.index + found[0].length
  }
  parts.push(text.slice(from))
  return parts.map((part, n) => <Fragment key={n}>{part}</Fragment>)
}

/** A sentence of the server's, in which what stands between backticks is a command or a name. */
export function withCode(text: string): ReactNode {
  const parts = text.split(/`([^`]+)`/)
  return parts.map((part, n) => <Fragment key={n}>{n % 2 === 1 ? <code>{seen(part)}</code> : seen(part)}</Fragment>)
}

function Unseen({ code }: { code: number }) {
  return <span className="user-text-unseen">U+{code.toString(16).toUpperCase().padStart(4, '0')}</span>
}
