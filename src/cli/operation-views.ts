import type { Operation, OperationPreview, OperationRow } from '../store/store.js'
import type { Cell, Output } from './output.js'
import { json, oneLine, span } from './shown.js'

const DID: Readonly<Record<Operation['action'], string>> = {
  retry: 'retried',
  discard: 'discarded',
  purge: 'purged',
  move: 'moved',
  undo: 'took back',
}

/** What an operation did, in one sentence. */
export function sentenceOf(operation: Operation): string {
  const { id, action, state, succeeded, matched, failed, vanished, newerLeftAlone, startedAt, finishedAt } = operation
  const took = startedAt && finishedAt ? ` in ${span(finishedAt.getTime() - startedAt.getTime())}` : ''
  const skipped = operation.skipped - vanished
  const counts = [
    skipped > 0 && `${skipped} skipped`,
    vanished > 0 && `${vanished} moved by others before their turn`,
    failed > 0 && `${failed} refused`,
    newerLeftAlone > 0 && `${newerLeftAlone} that died later left alone`,
  ].filter(Boolean)
  const rest = counts.length === 0 ? '' : `; ${counts.join(', ')}`
  return `operation ${id} is ${state}: ${DID[action]} ${succeeded} of ${matched}${took}${rest}`
}

/** Everything about one operation. */
export function showOperation(out: Output, operation: Operation): void {
  if (out.isJson) {
    out.document(operation)
    return
  }
  out.pairs([
    ['operation', operation.id],
    ['action', operation.dryRun ? `${operation.action}, as a dry run` : operation.action],
    ['selector', oneLine(json(operation.selector), 200)],
    ['state', out.colors.bold(operation.state)],
    ['because', oneLine(operation.stateReason ?? '')],
    ['phase', operation.phase],
    ['matched', operation.matched],
    ['succeeded', operation.succeeded],
    ['skipped', operation.skipped],
    ['of these moved by others', operation.vanished || null],
    ['refused', operation.failed],
    ['died later, left alone', operation.newerLeftAlone || null],
    ['rate', operation.rate === null ? null : `${operation.rate} rows/s`],
    ['waiting at most', operation.action === 'retry' ? operation.maxWaiting || 'no limit' : null],
    ['canaries', operation.canary],
    ['undoes', operation.undoOf],
    ['undone by', operation.undoneBy],
    ['by', oneLine(operation.createdBy)],
    ['reason', oneLine(operation.reason ?? '')],
    ['created', out.longTime(operation.createdAt)],
    ['started', out.longTime(operation.startedAt)],
    ['ended', out.longTime(operation.finishedAt)],
  ])
  if (operation.preview !== null) showPreview(out, operation.preview)
}

/** What a dry run found. */
export function showPreview(out: Output, { lookedAt, samples, causes, wouldRefuse }: OperationPreview): void {
  const of = (what: string) => `\n${out.colors.bold(what)}${lookedAt >= 20_000 ? ` (of the first ${lookedAt})` : ''}`
  if (causes.length > 0) {
    out.line(of('by cause'))
    const rows = causes.map(({ cause, count, title }) => [count, cause ?? '-', oneLine(title ?? '', out.room(60))])
    out.table(['JOBS', 'CAUSE', 'ERROR'], rows, '')
  }
  if (wouldRefuse.length > 0) {
    out.line(of('would refuse'))
    out.table(
      ['JOBS', 'CODE'],
      wouldRefuse.map(({ count, code }) => [count, code]),
      '',
    )
  }
  if (samples.length === 0) return
  out.line(`\n${out.colors.bold('samples')}`)
  const rows = samples.map((it): Cell[] => {
    const error = [it.errorClass, it.errorMessage].filter(Boolean).join(': ')
    return [it.id, oneLine(it.queue, 24), oneLine(it.kind, 30), out.time(it.diedAt), oneLine(error, out.room(80))]
  })
  out.table(['ID', 'QUEUE', 'KIND', 'DIED', 'ERROR'], rows, '')
}

/** Rows an operation did not do, and why. */
export function showRows(out: Output, rows: readonly Omit<OperationRow, 'outcome'>[], empty: string): void {
  const cells = rows.map(({ id, code, message }) => [id, code, oneLine(message, out.room(50))])
  out.table(['ID', 'CODE', 'WHY'], cells, empty)
}
