import type { ReactNode } from 'react'
import './facts.css'

export interface Fact {
  readonly label: string
  readonly value: ReactNode
}

/** What is known about one thing, each with its name; on a phone below each other. */
export function Facts({ facts }: { facts: readonly (Fact | false | undefined)[] }) {
  return (
    <dl className="facts">
      {facts.map(
        (fact) =>
          fact && (
            <div key={fact.label} className="facts-one">
              <dt>{fact.label}</dt>
              <dd>{fact.value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
