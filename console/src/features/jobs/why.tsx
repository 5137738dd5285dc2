import { useQuery } from '@tanstack/react-query'
import { Loading, Problem } from '../../components/states.js'
import { withCode } from '../../components/user-text.js'
import { whyQuery } from './queries.js'
import './why.css'

/** Where a job is, what keeps it there, and what would let it run: in the server's own sentences. */
export function Why({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(whyQuery(id))
  if (data === undefined)
    return error === null ? <Loading rows={2} /> : <Problem error={error} onRetry={refetch} isSmall />
  const { summary, because, wouldRun } = data
  return (
    <div className="why">
      <p className="why-summary">{withCode(summary)}</p>
      {because.length > 0 && (
        <>
          <h3>What keeps it there</h3>
          <ul>
            {because.map(({ code, message }) => (
              <li key={code}>{withCode(message)}</li>
            ))}
          </ul>
        </>
      )}
      {wouldRun.length > 0 && (
        <>
          <h3>What would let it run</h3>
          <ul>
            {wouldRun.map((it) => (
              <li key={it}>{withCode(it)}</li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
