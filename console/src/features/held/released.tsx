import { UserText } from '../../components/user-text.js'
import { counted } from '../../words.js'
import './released.css'

interface ReleasedProps {
  readonly succeeded: readonly string[]
  readonly failed: readonly { readonly id: string; readonly code: string; readonly message: string }[]
}

/** What became of jobs that were to be released; of each that stays, why. */
export function Released({ succeeded, failed }: ReleasedProps) {
  return (
    <>
      <p>
        {counted(succeeded.length, 'job')} released, {counted(failed.length, 'job')} left as{' '}
        {failed.length === 1 ? 'it was' : 'they were'}.
      </p>
      {failed.length > 0 && (
        <ul className="released-not" aria-label="Left as they were">
          {failed.map(({ id, code, message }) => (
            <li key={id}>
              ▲ Job {id}: <UserText>{message}</UserText> <code>{code}</code>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
