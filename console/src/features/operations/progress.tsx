import type { Operation } from '../../api.js'
import { count, counted } from '../../words.js'
import './progress.css'

/** How far an operation is: a bar, and the numbers it stands for. */
export function Progress({ operation }: { operation: Operation }) {
  const { id, matched, succeeded, skipped, failed, dryRun } = operation
  // It moves nothing, so there is no way to go.
  if (dryRun) return <span className="number">{counted(matched, 'row')} found</span>
  const through = succeeded + skipped + failed
  return (
    <div className="progress">
      <progress
        aria-label={`Progress of operation ${id}`}
        max={Math.max(1, matched)}
        value={Math.min(through, matched)}
      />
      <span className="number">
        {count(through)} of {count(matched)}
      </span>
    </div>
  )
}
