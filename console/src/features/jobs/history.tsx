import type { HistoryEntry } from '../../api.js'
import type { Tone } from '../../components/mark.js'
import { StackTrace } from '../../components/stack-trace.js'
import { Timeline, type TimelineEntry } from '../../components/timeline.js'
import { UserText } from '../../components/user-text.js'
import { count, spoken } from '../../words.js'

const BAD: ReadonlySet<string> = new Set([
  ...['error', 'timeout', 'deadline', 'crash', 'callback_failed', 'death_tx_failed', 'undecodable', 'no_handler'],
])
const WORDS: Readonly<Record<string, string>> = {
  ...{ error: 'Failed', timeout: 'Timed out', deadline: 'Deadline passed', crash: 'Its worker died' },
  ...{ disconnected: 'Its worker lost the store', callback_failed: 'Callback failed' },
  ...{ dropped: 'Older entries were dropped', handed_back: 'Handed back by a worker that stopped' },
}

/** What happened to a job, generation by generation. */
export function History({ entries, id }: { entries: readonly HistoryEntry[]; id: string }) {
  return <Timeline label={`History of job ${id}`} entries={entries.map(shown)} />
}

function shown(entry: HistoryEntry, n: number): TimelineEntry {
  const { type, at, generation } = entry
  const word = WORDS[type] ?? `${type[0]?.toUpperCase()}${spoken(type).slice(1)}`
  return {
    key: `${n}`,
    at: at instanceof Date ? at : new Date(String(at)),
    title: word,
    tone: toneOf(type),
    detail: <Detail entry={entry} />,
    chapter: generation === 0 ? 'First time' : `Generation ${count(generation)}`,
  }
}

function toneOf(type: string): Tone {
  if (BAD.has(type)) return 'bad'
  return type === 'retried' || type === 'released' ? 'busy' : 'quiet'
}

/** Who, of which attempt, and in whose words. Entries of a newer server are shown by what every entry has. */
function Detail({ entry }: { entry: HistoryEntry }) {
  const { worker, attempt, type } = entry
  const said = (key: string) =>
    typeof entry[key] === 'string' && entry[key] !== '' ? (entry[key] as string) : undefined
  const facts = [
    entry.startedAt !== null && `attempt ${count(attempt + 1)}`,
    type === 'dropped' && `${String(entry['count'])} of them`,
  ].filter((it) => it !== false)
  const stack = said('stack')
  const message = said('message') ?? said('reason')
  return (
    <div className="small">
      {message !== undefined && (
        <p>
          {said('name') !== undefined && (
            <>
              <UserText>{said('name')}</UserText>:{' '}
            </>
          )}
          <UserText>{message}</UserText>
        </p>
      )}
      <p className="quiet">
        {facts.join(' · ')}
        {worker !== null && (
          <>
            {facts.length > 0 && ' · '}on <UserText>{worker}</UserText>
          </>
        )}
        {said('by') !== undefined && (
          <>
            {' '}
            by <UserText>{said('by')}</UserText>
          </>
        )}
        {said('why') !== undefined && (
          <>
            : <UserText>{said('why')}</UserText>
          </>
        )}
      </p>
      {stack !== undefined && <StackTrace stack={stack} />}
    </div>
  )
}
