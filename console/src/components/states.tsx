import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { NoAnswer, Refusal } from '../server.js'
import { seen } from './user-text.js'
import './states.css'

/** Nothing is there, which may be good news: says so, and what would change it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="state" role="status">
      <p className="state-title">{title}</p>
      {children !== undefined && <div className="state-text">{children}</div>}
    </div>
  )
}

/** Lines where rows will be. Whoever hears the page is told once. */
export function Loading({ rows = 6, what = 'Loading' }: { rows?: number; what?: string }) {
  return (
    <div className="state-loading" role="status" aria-label={what}>
      {Array.from({ length: rows }, (_, n) => (
        <div key={n} className="state-line" />
      ))}
    </div>
  )
}

/** What went wrong, in the server's own words, with what to do. The rest of the page stays. */
export function Problem({
  error,
  onRetry,
  isSmall = false,
}: {
  error: unknown
  onRetry?: () => unknown
  isSmall?: boolean
}) {
  if (error instanceof Refusal && error.status === 403) return <Forbidden error={error} />
  if (error instanceof Refusal && error.status === 429) return <TooMany error={error} onRetry={onRetry} />
  const { title, detail, code, requestId } = wordsOf(error)
  return (
    <div className="state" data-kind="problem" data-small={isSmall || undefined} role="alert">
      <p className="state-title">{title}</p>
      <p className="state-text">{detail}</p>
      <Places error={error} />
      <p className="state-small">
        <code>{code}</code>
        {requestId !== undefined && (
          <>
            {' · request '}
            <code>{requestId}</code>
          </>
        )}
      </p>
      {onRetry !== undefined && (
        <Button size="xs" variant="default" onClick={() => void onRetry()}>
          Try again
        </Button>
      )}
    </div>
  )
}

/** The places of what was sent that the server names, each with what is wrong there. */
function Places({ error }: { error: unknown }) {
  const named = error instanceof Refusal ? error.fields['errors'] : undefined
  if (!Array.isArray(named) || named.length === 0) return null
  return (
    <ul className="state-places">
      {(named as readonly { path?: unknown; message?: unknown }[]).map(({ path, message }, n) => (
        <li key={n}>
          <code>{seen(String(path ?? ''))}</code> {seen(String(message ?? ''))}
        </li>
      ))}
    </ul>
  )
}

/** The caller may not: says which right is missing, and who can help. */
export function Forbidden({ error }: { error: Refusal }) {
  return (
    <div className="state" data-kind="forbidden" role="alert">
      <p className="state-title">{error.code === 'read_only' ? 'This server changes nothing' : 'Not for you'}</p>
      <p className="state-text">{error.message}</p>
      <p className="state-small">
        <code>{error.code}</code> · whoever makes tokens (<code>spillway tokens create</code>) can give the right
      </p>
    </div>
  )
}

/** The server asks to be asked more slowly, or there is more than can be shown at once. */
export function TooMany({ error, onRetry }: { error: Refusal; onRetry?: (() => unknown) | undefined }) {
  return (
    <div className="state" data-kind="problem" role="alert">
      <p className="state-title">Too many requests</p>
      <p className="state-text">{error.message}</p>
      {onRetry !== undefined && (
        <Button size="xs" variant="default" onClick={() => void onRetry()}>
          Try again
        </Button>
      )}
    </div>
  )
}

interface Words {
  readonly title: string
  readonly detail: string
  readonly code: string
  readonly requestId?: string | undefined
}

function wordsOf(error: unknown): Words {
  if (error instanceof Refusal) {
    return { title: error.title, detail: error.message, code: error.code, requestId: error.requestId }
  }
  if (error instanceof NoAnswer) return { title: 'No answer', detail: error.message, code: 'no_answer' }
  return {
    title: 'The console broke here',
    detail: error instanceof Error ? error.message : String(error),
    code: 'console_fault',
  }
}
