import { useQuery } from '@tanstack/react-query'
import { Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { whyQuery } from './detail-queries.js'

/** Where a job is, what keeps it there and what would let it run, in the server's words. */
export function Why({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(whyQuery(id))
  if (error !== null) return <Problem error={error} onRetry={refetch} isSmall />
  if (data === undefined) return <Loading rows={3} />
  if (data === null) return <p className="detail-text">Nobody knows a job {id} any more.</p>
  return (
    <div className="detail-text">
      <p className="action-text">
        <UserText>{data.summary}</UserText>
      </p>
      {[...data.because.map(({ message }) => message), ...data.wouldRun].map((message) => (
        <p key={message} className="small quiet">
          <UserText>{message}</UserText>
        </p>
      ))}
    </div>
  )
}
