import { createHash } from 'node:crypto'
import type { HistoryEntry } from './history.js'
import { cutSecrets } from './secrets.js'
import { storable } from './text.js'

export interface CauseInput {
  readonly kind: string
  /** Class of the error, `skip` for a skip, or null where nothing was thrown. */
  readonly errorClass: string | null
  /** The error's message; for a skip its code. */
  readonly message: string | null
  readonly stack: string | null
  /** Why the job died: stands for the class where nothing was thrown. */
  readonly reason: string
}

/** What dead jobs are grouped by, inside their queue. */
export interface Cause {
  /** 16 hex digits. */
  readonly cause: string
  readonly errorClass: string
  /** One line for lists, at most 300 characters. */
  readonly title: string
}

/** Answers already worked out, for a caller that meets the same error again and again. */
export type CauseMemo = Map<string, Cause>

const MEMO_SIZE = 500

/** What a dead row says about its cause, in columns. */
export interface DeathCause {
  readonly cause: string
  /** `skip` for a skip; null where nothing was thrown. */
  readonly errorClass: string | null
  /** At most 500 characters. */
  readonly errorMessage: string | null
  readonly title: string
}

/** The cause of a death, from the entry that was written for it. */
export function causeOfDeath(kind: string, reason: string, entry: HistoryEntry, memo?: CauseMemo): DeathCause {
  const failed = 'name' in entry ? entry : null
  const skipped = entry.type === 'skipped' ? entry : null
  const errorClass = failed?.name ?? (skipped && 'skip')
  const message = failed?.message ?? skipped?.code ?? null
  const { cause, title } = causeOf({ kind, errorClass, message, stack: failed?.stack ?? null, reason }, memo)
  return { cause, errorClass, errorMessage: message === null ? null : storable(message.slice(0, 500)), title }
}

/**
 * The cause of a death: equal for errors of one class, thrown at the same place of the user's code, whose messages
 * differ only in numbers, ids, quoted texts, addresses, paths and times. Line numbers do not count, so that an
 * unrelated edit of the file leaves the group together.
 *
 * @param memo - Kept by the caller; it is emptied when it holds 500 answers.
 */
export function causeOf(input: CauseInput, memo?: CauseMemo): Cause {
  if (memo === undefined) return workOut(input)
  const { kind, errorClass, message, stack, reason } = input
  const key = `${kind}\n${errorClass}\n${reason}\n${message}\n${stack}`
  const known = memo.get(key)
  if (known !== undefined) return known

  if (memo.size >= MEMO_SIZE) memo.clear()
  const cause = workOut(input)
  memo.set(key, cause)
  return cause
}

/**
 * `message` with what differs from one job to the next replaced: `<n> <id> <hex> <text> <email> <url> <path> <date>`.
 * Reads the first 2,000 characters; the answer has at most 500.
 */
export function normaliseMessage(message: string): string {
  const head = message.length > 2000 ? message.slice(0, 2000) : message
  return head.replace(VARIABLE, placeholder).replace(/\s+/g, ' ').trim().slice(0, 500)
}

/**
 * The innermost frames of the user's own code, as `file.js:function`, without line numbers: not those of Node or of
 * packages. Empty where there are none.
 */
export function ownFrames(stack: string | null, max = 3): string[] {
  const frames: string[] = []
  if (stack === null) return frames
  let at = stack.indexOf('\n    at ')
  for (let looked = 0; at >= 0 && frames.length < max && looked < 100; looked++) {
    const end = stack.indexOf('\n', at + 1)
    const line = stack.slice(at + 8, end < 0 ? undefined : end)
    if (!FOREIGN.test(line)) frames.push(frameName(line))
    at = end < 0 ? -1 : stack.indexOf('\n    at ', end)
  }
  return frames
}

const FOREIGN =
  /node_modules|[\\/](?:dist|src)[\\/]worker[\\/](?:executor|worker)\.[jt]s|[( ]node:|^node:|^native|<anonymous>\)?$|\((?:native|index \d)/

/** `async Mailer.send (file:///app/src/mail.js:3:1)` → `mail.js:Mailer.send` */
function frameName(line: string): string {
  const open = line.lastIndexOf(' (')
  const place = open < 0 ? line : line.slice(open + 2, -1)
  const name = open < 0 ? '' : line.slice(0, open).replace(/^(?:async |new )+/, '')
  const file = place.replace(/(?::\d+){1,2}$/, '').replace(/[?#].*$/, '')
  return `${file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1)}:${name}`
}

function workOut({ kind, errorClass, message, stack, reason }: CauseInput): Cause {
  const name = errorClass ?? (RUNTIME_REASONS.has(reason) ? reason : 'operator')
  const said = normaliseMessage(cutSecrets(message ?? (name === 'operator' ? reason : '')))
  const parts = JSON.stringify([kind, name, said, ...ownFrames(stack)])
  return {
    cause: createHash('sha256').update(parts).digest('hex').slice(0, 16),
    errorClass: name,
    title: (said === '' ? name : `${name}: ${said}`).slice(0, 300),
  }
}

const RUNTIME_REASONS: ReadonlySet<string> = new Set([
  'attempts_exhausted',
  'skipped',
  'deadline_exceeded',
  'callback_timeout',
  'no_handler',
])

/** Every repetition is bounded, so the time is a small multiple of the length. The first alternative that fits wins. */
const VARIABLE = new RegExp(
  [
    String.raw`(?<url>\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>)]{1,500})`,
    String.raw`(?<text>"[^"\n]{0,500}"|\u0060[^\u0060\n]{0,500}\u0060|(?<!\w)'[^'\n]{0,500}'(?!\w))`,
    String.raw`(?<email>\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5})`,
    String.raw`(?<id>\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b)`,
    String.raw`(?<date>\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?)`,
    String.raw`(?<path>(?<![\w.])(?:[a-z]:)?(?:[\\/][\w.@~-]{1,200}){2,50}|(?<![\w.])\.{1,2}(?:\/[\w.@~-]{1,200}){1,50})`,
    String.raw`(?<hex>\b0x[0-9a-f]{1,64}\b|\b(?=[a-f]{0,63}\d)[0-9a-f]{8,64}\b(?<!\b\d{8,64}))`,
    String.raw`(?<token>\b(?=[a-z_]{0,63}\d)\w{16,128}\b(?<!\b\d{16,128}))`,
    String.raw`(?<n>\d{1,400}(?:\.\d{1,400})?)`,
  ].join('|'),
  'gi',
)

function placeholder(...found: unknown[]): string {
  const groups = found.at(-1) as Readonly<Record<string, string | undefined>>
  for (const name in groups) if (groups[name] !== undefined) return name === 'token' ? '<id>' : `<${name}>`
  return ''
}
