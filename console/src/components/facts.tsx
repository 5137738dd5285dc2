import type { ReactNode } from 'react'
import './facts.css'

export interface Fact {
  readonly label: string
  readonly value: ReactNode
  /** Of what is long. */
  readonly isWide?: boolean
}

/** What is known about one thing, each with its name; on a phone below each other. */
export function Facts({ facts }: { facts: readonly (Fact | false | undefined)[] }) {
  return (
    <dl className="facts">
      {facts.map(
        (fact) =>
          fact && (
            <div key={fact.label} className="facts-one" data-wide={fact.isWide || undefined}>
              <dt>{fact.label}</dt>
              <dd>{fact.value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
