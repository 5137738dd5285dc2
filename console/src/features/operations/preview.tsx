import type { Operation } from '../../api.js'
import { UserText } from '../../components/user-text.js'
import { count, counted, spoken } from '../../words.js'
import './preview.css'

const FEW = 5

/** What a dry run found: how many, of what, which would be refused, and a few of them by name. */
export function Preview({ operation, isPast = false }: { operation: Operation; isPast?: boolean }) {
  const { matched, preview, stateReason } = operation
  if (preview === null) return <p role="alert">The dry run found out nothing: {stateReason ?? operation.state}.</p>
  const { causes, wouldRefuse, samples, lookedAt } = preview
  return (
    <div className="preview">
      <p className="preview-count">
        Exactly <strong className="number">{counted(matched, 'row')}</strong>{' '}
        {isPast ? 'as of then.' : 'as of now. What dies later is left alone.'}
      </p>
      {wouldRefuse.length > 0 && (
        <ul className="preview-refusals">
          {wouldRefuse.map((it) => (
            <li key={it.code}>
              ▲ {counted(it.count, 'row')} would be refused: {spoken(it.code)}
            </li>
          ))}
        </ul>
      )}
      {lookedAt < matched && (
        <p className="small quiet">Refusals and causes were looked for in {count(lookedAt)} of them.</p>
      )}
      <dl>
        {causes.slice(0, FEW).map((it) => (
          <div key={it.cause}>
            <dt className="number">{count(it.count)}</dt>
            <dd>
              <UserText>{it.title ?? it.cause}</UserText>
            </dd>
          </div>
        ))}
      </dl>
      {samples.length > 0 && (
        <p className="small quiet">
          For instance{' '}
          {samples
            .slice(0, FEW)
            .map(({ id }) => id)
            .join(', ')}
        </p>
      )}
    </div>
  )
}
