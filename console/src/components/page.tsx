import type { ReactNode } from 'react'
import './page.css'

interface PageProps {
  readonly title: string
  /** Beside the title: what there is, in a few words. */
  readonly summary?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** A screen: its title, also that of the browser's tab, and what is on it. The shell puts the focus on its title. */
export function Page({ title, summary, actions, children }: PageProps) {
  return (
    <>
      <title>{`${title} · Spillway`}</title>
      <div className="page-head">
        <h1 tabIndex={-1}>{title}</h1>
        {summary !== undefined && <div className="page-summary">{summary}</div>}
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </div>
      {children}
    </>
  )
}

interface PanelProps {
  readonly title: string
  readonly summary?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** A part of a screen with a title of its own. */
export function Panel({ title, summary, actions, children }: PanelProps) {
  return (
    <section className="panel" aria-label={title}>
      <div className="panel-head">
        <h2>{title}</h2>
        {summary !== undefined && <div className="page-summary">{summary}</div>}
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </div>
      {children}
    </section>
  )
}
