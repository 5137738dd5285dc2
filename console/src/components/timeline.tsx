import type { ReactNode } from 'react'
import type { Tone } from './mark.js'
import { Mark } from './mark.js'
import { Moment } from './moment.js'
import './timeline.css'

export interface TimelineEntry {
  readonly key: string
  readonly at: Date
  readonly title: string
  readonly tone: Tone
  readonly detail?: ReactNode
  /** Entries of one chapter stand under one heading, as the generations of a job do. */
  readonly chapter?: string
}

/** What happened, in its order. */
export function Timeline({ entries, label }: { entries: readonly TimelineEntry[]; label: string }) {
  return (
    <ol className="timeline" aria-label={label}>
      {entries.map(({ key, at, title, tone, detail, chapter }, n) => (
        <li key={key} className="timeline-entry">
          {chapter !== undefined && chapter !== entries[n - 1]?.chapter && (
            <h3 className="timeline-chapter">{chapter}</h3>
          )}
          <div className="timeline-line">
            <Mark tone={tone}>{title}</Mark>
            <Moment at={at} isExact />
          </div>
          {detail !== undefined && <div className="timeline-detail">{detail}</div>}
        </li>
      ))}
    </ol>
  )
}
