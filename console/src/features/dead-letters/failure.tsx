import type { HistoryEntry } from '../../api.js'
import { StackTrace } from '../../components/stack-trace.js'
import { UserText } from '../../components/user-text.js'
import './failure.css'

interface Thrown {
  readonly name: string
  readonly message: string
  readonly stack: string | null
  readonly code: string | null
}

/** What went wrong last: its message, its stack with the application's own frames first to be seen, and its causes. */
export function Failure({ entry }: { entry: HistoryEntry }) {
  const cause = Array.isArray(entry['cause']) ? (entry['cause'] as readonly Thrown[]) : []
  return (
    <div className="failure">
      <OneError error={entry as unknown as Thrown} label="Stack" />
      {entry['truncated'] === true && <p className="small quiet">Stored in part: it was longer than is kept.</p>}
      {cause.map((error, n) => (
        <div key={n} className="failure-cause">
          <h3>Caused by</h3>
          <OneError error={error} label={`Stack of cause ${n + 1}`} />
        </div>
      ))}
    </div>
  )
}

function OneError({ error: { name, message, stack, code }, label }: { error: Thrown; label: string }) {
  return (
    <>
      <p className="failure-message">
        <strong>
          <UserText>{name}</UserText>
        </strong>
        {code !== null && code !== undefined && (
          <>
            {' '}
            <code>
              <UserText>{code}</UserText>
            </code>
          </>
        )}
        {': '}
        <UserText>{message}</UserText>
      </p>
      {stack === null || stack === undefined ? (
        <p className="small quiet">It came without a stack.</p>
      ) : (
        <StackTrace stack={stack} label={label} />
      )}
    </>
  )
}

const FAILURES: ReadonlySet<string> = new Set(['error', 'timeout', 'deadline', 'callback_failed'])

/** The newest entry that says what went wrong. */
export function lastFailure(history: readonly HistoryEntry[]): HistoryEntry | undefined {
  return history.findLast(({ type }) => FAILURES.has(type))
}
