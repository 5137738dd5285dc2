import type { HistoryEntry } from '../../api.js'
import { JsonView } from '../../components/json-view.js'
import type { Tone } from '../../components/mark.js'
import { StackTrace } from '../../components/stack-trace.js'
import { Timeline, type TimelineEntry } from '../../components/timeline.js'
import { UserText } from '../../components/user-text.js'
import { count, lengthOf, relative, spoken } from '../../words.js'
import './history.css'

/** How each type of entry is called, and how grave it is. A type of a newer server is called by its own name. */
const TYPES: Readonly<Record<string, readonly [title: string, tone: Tone]>> = {
  error: ['Failed', 'bad'],
  timeout: ['Timed out', 'bad'],
  deadline: ['Missed its deadline', 'bad'],
  callback_failed: ['A callback failed', 'bad'],
  death_tx_failed: ['What goes along with the death failed', 'bad'],
  crash: ['Its worker crashed', 'bad'],
  disconnected: ['Its worker was lost', 'warn'],
  skipped: ['Skipped by its handler', 'warn'],
  undecodable: ['Could not be decoded', 'bad'],
  no_handler: ['No handler', 'warn'],
  handed_back: ['Handed back by its worker', 'quiet'],
  moved: ['Moved into the dead-letter queue', 'warn'],
  killed: ['Given up by hand', 'warn'],
  cancelled: ['Cancelled', 'quiet'],
  retried: ['Sent back to work', 'busy'],
  edited: ['Edited', 'busy'],
  released: ['Released', 'busy'],
  restored: ['Brought back from the archive', 'busy'],
  imported: ['Imported', 'busy'],
  undone: ['Operation undone', 'busy'],
  dropped: ['Left out', 'quiet'],
}

/** What happened to a job over its lives, oldest first. */
export function History({ entries, id }: { entries: readonly HistoryEntry[]; id: string }) {
  return <Timeline label={`History of job ${id}`} entries={entries.map(entryOf)} />
}

function entryOf(entry: HistoryEntry, n: number): TimelineEntry {
  const { type, generation, attempt, startedAt, at } = entry
  const [name, tone] = TYPES[type] ?? [spoken(type), 'quiet']
  const isAttempt = startedAt !== null
  const took = isAttempt ? `, after ${lengthOf(Math.max(0, at.getTime() - startedAt.getTime()))}` : ''
  return {
    key: `${n}`,
    at,
    tone,
    title: isAttempt ? `${name}: attempt ${count(attempt + 1)}${took}` : name,
    chapter: generation === 0 ? 'First life' : `Life ${count(generation + 1)}, after a retry`,
    detail: <Detail entry={entry} />,
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

function Detail({ entry }: { entry: HistoryEntry }) {
  const { worker } = entry
  const { name, message, stack, note, code, by, why, reason, operation, changed, version, details } = entry
  return (
    <div className="history-detail">
      {(text(message) ?? text(name)) !== undefined && (
        <p>
          {text(name) !== undefined && (
            <strong>
              <UserText>{text(name)}</UserText>
            </strong>
          )}
          {text(name) !== undefined && text(message) !== undefined && ': '}
          {text(message) !== undefined && <UserText>{text(message)}</UserText>}
        </p>
      )}
      <Facts
        facts={[
          ['code', text(code)],
          ['callback', text(entry['callback'])],
          ['at', entry.type === 'undecodable' ? text(entry['path']) : undefined],
          ['worker', text(worker)],
          ['by', text(by)],
          ['why', text(why)],
          ['had died of', entry.type === 'retried' ? spokenOf(reason) : undefined],
          ['reason', entry.type === 'retried' ? undefined : text(reason)],
          ['operation', text(operation)],
          ['changed', Array.isArray(changed) ? changed.join(', ') : undefined],
          ['payload version', typeof version === 'number' ? count(version) : undefined],
          ['entries', entry.type === 'dropped' ? dropped(entry['count']) : undefined],
          ['last heartbeat', heartbeat(entry)],
          ['note', text(note)],
        ]}
      />
      {details !== undefined && <JsonView value={details} label="Details" />}
      {text(stack) !== undefined && (
        <details>
          <summary>Stack</summary>
          <StackTrace stack={text(stack) ?? ''} />
        </details>
      )}
    </div>
  )
}

type Fact = readonly [label: string, value: string | undefined]

function Facts({ facts }: { facts: readonly Fact[] }) {
  const known = facts.filter(([, value]) => value !== undefined)
  if (known.length === 0) return null
  return (
    <dl className="history-facts">
      {known.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            <UserText>{value}</UserText>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function spokenOf(reason: unknown): string | undefined {
  const known = text(reason)
  return known === undefined ? undefined : spoken(known)
}

function dropped(value: unknown): string {
  return `${typeof value === 'number' ? count(value) : 'some'} between the first and the newest, for want of room`
}

/** Of a crash: how long before it nobody had heard of its worker. */
function heartbeat({ lastHeartbeatAt, at }: HistoryEntry): string | undefined {
  return lastHeartbeatAt instanceof Date
    ? `${relative(lastHeartbeatAt, at.getTime()).replace(' ago', ' before')}`
    : undefined
}
