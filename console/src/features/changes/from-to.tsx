import { seen } from '../../components/user-text.js'
import './from-to.css'

/** One setting that will be another. */
interface Difference {
  readonly label: string
  /** In words; nothing where it was not set. */
  readonly before: string
  readonly after: string
}

/** What will be another, each from what to what. */
export function FromTo({ differences }: { differences: readonly Difference[] }) {
  return (
    <ul className="from-to">
      {differences.map(({ label, before, after }) => (
        <li key={label}>
          {label}: <bdi>{seen(before || 'nothing')}</bdi> → <bdi>{seen(after || 'nothing')}</bdi>
        </li>
      ))}
    </ul>
  )
}
