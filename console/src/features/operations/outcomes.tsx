import type { Operation } from '../../api.js'
import { count } from '../../words.js'
import { isOver } from './queries.js'
import './outcomes.css'

/** What became of the rows, by how it ended for each. Together the first four are all that matched. */
export function Outcomes({ operation }: { operation: Operation }) {
  const { matched, succeeded, skipped, vanished, failed, newerLeftAlone } = operation
  const left = Math.max(0, matched - succeeded - skipped - failed)
  return (
    <dl className="outcomes" aria-label="Outcomes">
      <Outcome label="Done" value={succeeded} />
      <Outcome
        label="Skipped"
        value={skipped}
        hint={vanished > 0 ? `${count(vanished)} of them gone by others` : undefined}
      />
      <Outcome label="Refused" value={failed} />
      {isOver(operation) ? (
        left > 0 && <Outcome label="Not reached" value={left} />
      ) : (
        <Outcome label="To come" value={left} />
      )}
      <Outcome label="Died later, left alone" value={newerLeftAlone} />
    </dl>
  )
}

function Outcome({ label, value, hint }: { label: string; value: number; hint?: string | undefined }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd className="number">
        {count(value)}
        {hint !== undefined && <span className="small quiet"> {hint}</span>}
      </dd>
    </div>
  )
}
