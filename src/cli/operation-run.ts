import type { OperationHandle } from '../client/operations.js'
import { isSpillwayError } from '../job/errors.js'
import type { Operation } from '../store/store.js'
import type { Session } from './command.js'
import { sentenceOf, showPreview, showRows } from './operation-views.js'
import { Progress } from './progress.js'
import { otherCommand } from './same-command.js'
import { stopSignal } from './stop-signal.js'
import { Unserved } from './unserved.js'

/** Refused rows that are listed at the end; the command for all of them stands below. */
const LISTED = 20
const REFUSED = 4

export interface RunHere {
  readonly detach?: boolean | undefined
  /** The queue the rows go to, where it is known. */
  readonly queue?: string | undefined
  /** Of a dry run: the command that does to exactly these rows what the dry run looked at. */
  readonly commandFor?: (preview: string) => string
}

type Running = Pick<Session<object>, 'client' | 'out'>

/**
 * Runs an operation to its end and says what it did. Left alone, by `--detach`, a signal, or because nobody works on the
 * queue it waits for, it goes on elsewhere, and what is said is how to follow, cancel and undo it.
 *
 * Sets the exit code: 4 where rows were refused or it paused by itself, 1 where it failed, 130 and 143 after a signal.
 */
export async function runHere({ client, out }: Running, handle: OperationHandle, how: RunHere): Promise<void> {
  if (how.detach) return left(out, handle.started)
  const progress = new Progress()
  const controller = new AbortController()
  let isUnserved = false
  const unserved = new Unserved(
    {
      workers: () => client.workers.list(),
      waitingQueues: async () =>
        (await client.queues.list()).filter(({ counts }) => (counts?.available ?? 0) > 0).map(({ queue }) => queue),
    },
    how.queue,
    () => {
      isUnserved = true
      controller.abort()
    },
  )
  const onProgress = (operation: Operation) => {
    if (!out.isJson) progress.update(operation)
    unserved.update(operation)
  }
  const running = handle.done({ onProgress, signal: controller.signal })
  const signal = stopSignal(running.catch(() => undefined))
  void signal.then((name) => name && controller.abort())
  let operation: Operation
  try {
    operation = await running
  } catch (error) {
    // It is on record and nothing of it is lost; the person has to know under which number.
    if (isSpillwayError(error) && error.code === 'store_unavailable') hints(out, handle.started)
    throw error
  } finally {
    progress.end()
  }
  if (operation.state !== 'running') return ended({ client, out }, operation, how)
  if (isUnserved) {
    const where = how.queue === undefined ? 'the queues it feeds' : `queue ${how.queue}`
    out.note(`no live worker takes from ${where}, so operation ${operation.id} waits; start one, and it goes on there`)
    return left(out, operation)
  }
  process.exitCode = (await signal) === 'SIGTERM' ? 143 : 130
  left(out, operation)
}

/** On stdout the id and nothing else, for scripts; on stderr how to go on with it. */
function left(out: Running['out'], operation: Operation): void {
  if (out.isJson) out.document(operation)
  else out.line(operation.id)
  hints(out, operation)
}

function hints(out: Running['out'], { id, action }: Operation): void {
  if (out.isJson) return
  const command = (...words: string[]) => otherCommand(process.argv.slice(2), ...words)
  out.note(`operation ${id} goes on in any worker; follow it: ${command('operations', 'watch', id)}`)
  out.note(`cancel it: ${command('operations', 'cancel', id)}`)
  if (isUndoable(action)) out.note(`undo it: ${command('dlq', 'undo', id)}`)
}

async function ended({ client, out }: Running, operation: Operation, how: RunHere): Promise<void> {
  const { id, action, state, stateReason, dryRun } = operation
  // A row that an undo skips was not taken back; a retry skips what it was told to.
  const refused = operation.failed + (action === 'undo' ? operation.skipped : 0)
  if (state === 'failed') process.exitCode = 1
  else if (state !== 'done' || refused > 0) process.exitCode = REFUSED
  const page = refused > 0 ? await client.operations.rows(id, { limit: LISTED }) : { items: [], cursor: null }
  if (out.isJson) {
    out.document(refused > 0 ? { ...operation, rows: page.items } : operation)
    return
  }
  const command = (...words: string[]) => otherCommand(process.argv.slice(2), ...words)
  if (dryRun) {
    out.line(`${out.colors.bold(String(operation.matched))} match; nothing was changed`)
    if (operation.preview !== null) showPreview(out, operation.preview)
    if (how.commandFor && state === 'done') out.line(`\nto ${action} exactly these: ${how.commandFor(id)}`)
    return
  }
  out.line(sentenceOf(operation))
  if (stateReason !== null) out.line(`because ${stateReason}`)
  if (refused > 0) {
    showRows(out, page.items, '')
    if (page.cursor !== null) out.line(`all of them: ${command('operations', 'rows', id)}`)
  }
  if (state === 'paused') out.line(`go on: ${command('operations', 'resume', id)}`)
  if (isUndoable(action) && operation.succeeded > 0) out.line(`undo it: ${command('dlq', 'undo', id)}`)
}

function isUndoable(action: Operation['action']): boolean {
  return action === 'retry' || action === 'discard'
}
